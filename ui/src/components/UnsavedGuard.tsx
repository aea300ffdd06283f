import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useBlocker } from "@tanstack/react-router";
import { common } from "../i18n/common";
import { useStrings } from "../i18n";

// UnsavedGuard asks before what was typed gets lost, inside the console and
// when the tab is closed. saved is a ref that a save sets before it leaves.
export function UnsavedGuard({ dirty, saved }: { dirty: boolean; saved?: { current: boolean } }) {
  const t = useStrings(common);
  const unsaved = () => dirty && !saved?.current;
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => unsaved() && current.pathname !== next.pathname,
    enableBeforeUnload: unsaved,
    withResolver: true,
  });
  const blocked = blocker.status === "blocked";
  return (
    <Modal opened={blocked} onClose={() => blocker.reset?.()} title={<Text fw={600}>{t.unsavedTitle}</Text>} size="sm" closeButtonProps={{ "aria-label": t.close }}>
      <Stack gap="md">
        <Text size="sm">{t.unsavedText}</Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" data-autofocus onClick={() => blocker.reset?.()}>
            {t.unsavedStay}
          </Button>
          <Button color="red" onClick={() => blocker.proceed?.()}>
            {t.unsavedLeave}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
