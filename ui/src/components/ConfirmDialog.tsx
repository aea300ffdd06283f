import { Button, Group, List, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { asProblem } from "../api/problem";
import { common } from "../i18n/common";
import { useStrings } from "../i18n";

type Props = {
  opened: boolean;
  onClose: () => void;
  title: string;
  // What it will break, one sentence each.
  consequences: ReactNode[];
  children?: ReactNode;
  action: string;
  danger?: boolean;
  // A name that must be typed, for what can't be undone.
  typeName?: string;
  onConfirm: () => Promise<unknown>;
};

// ConfirmDialog asks before something that breaks something, and says what. It
// stays open with the server's words if the server refuses.
export function ConfirmDialog(props: Props) {
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={<Text fw={600}>{props.title}</Text>} closeButtonProps={{ "aria-label": useStrings(common).close }}>
      {props.opened ? <Body {...props} /> : null}
    </Modal>
  );
}

function Body({ onClose, consequences, children, action, danger = true, typeName, onConfirm }: Props) {
  const t = useStrings(common);
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState("");
  const confirm = async () => {
    setBusy(true);
    setFailure("");
    try {
      await onConfirm();
      onClose();
    } catch (error) {
      const problem = asProblem(error);
      setFailure(problem.code === "unreachable" ? t.unreachable : problem.detail);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        void confirm();
      }}
    >
      <Stack gap="sm">
        <List size="sm" spacing={6}>
          {consequences.map((c, i) => (
            <List.Item key={i}>{c}</List.Item>
          ))}
        </List>
        {children}
        {typeName ? <TextInput label={t.typeToConfirm(typeName)} value={typed} onChange={(e) => setTyped(e.currentTarget.value)} autoComplete="off" data-autofocus /> : null}
        {failure ? (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {failure}
          </Text>
        ) : null}
        <Group justify="flex-end" gap="xs" mt="xs">
          <Button variant="default" onClick={onClose} data-autofocus={typeName ? undefined : true}>
            {t.cancel}
          </Button>
          <Button type="submit" color={danger ? "red" : undefined} loading={busy} disabled={typeName !== undefined && typed !== typeName}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
