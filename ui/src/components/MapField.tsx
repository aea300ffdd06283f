import { ActionIcon, Button, Group, Input, Stack, TextInput } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";

type Pair = { key: string; value: string };
type Props = {
  label: string;
  description?: string;
  keyLabel: string;
  valueLabel: string;
  addLabel: string;
  removeLabel: (row: number) => string;
  value: Pair[];
  onChange: (value: Pair[]) => void;
  number?: boolean;
  error?: string;
};

// MapField edits names with a value each.
export function MapField({ label, description, keyLabel, valueLabel, addLabel, removeLabel, value, onChange, number, error }: Props) {
  const set = (i: number, change: Partial<Pair>) => onChange(value.map((p, j) => (j === i ? { ...p, ...change } : p)));
  return (
    <Input.Wrapper label={label} labelElement="div" description={description} error={error} role="group" aria-label={label}>
      <Stack gap={6} mt={6}>
        {value.map((pair, i) => (
          <Group key={i} gap={6} wrap="nowrap">
            <TextInput flex={1} size="xs" aria-label={`${keyLabel} ${i + 1}`} placeholder={keyLabel} value={pair.key} onChange={(e) => set(i, { key: e.currentTarget.value })} />
            <TextInput flex={1} size="xs" aria-label={`${valueLabel} ${i + 1}`} placeholder={valueLabel} inputMode={number ? "numeric" : undefined} value={pair.value} onChange={(e) => set(i, { value: e.currentTarget.value })} />
            <ActionIcon aria-label={removeLabel(i + 1)} onClick={() => onChange(value.filter((_, j) => j !== i))}>
              <IconX size={15} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        <Button variant="default" size="compact-xs" w="fit-content" leftSection={<IconPlus size={13} aria-hidden />} onClick={() => onChange([...value, { key: "", value: "" }])}>
          {addLabel}
        </Button>
      </Stack>
    </Input.Wrapper>
  );
}
