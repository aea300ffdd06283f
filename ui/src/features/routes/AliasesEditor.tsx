import { ActionIcon, Box, Button, Group, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useStrings } from "../../i18n";
import { newId, type RouteValues } from "./routeModel";
import { strings } from "./strings";

// AliasesEditor gives a name of our own the model that each member gets.
export function AliasesEditor({ form }: { form: UseFormReturnType<RouteValues> }) {
  const t = useStrings(strings);
  const { aliases, members } = form.values;
  return (
    <>
      {aliases.map((a, i) => (
        <Box key={a.id} className="il-panel il-panel-row">
          <Group gap="xs" align="flex-end" wrap="nowrap">
            <TextInput size="xs" style={{ flex: 1 }} label={t.aliasName} spellCheck={false} {...form.getInputProps(`aliases.${i}.name`)} />
            <ActionIcon variant="subtle" color="gray" mb={3} aria-label={t.removeAlias(a.name || String(i + 1))} onClick={() => form.removeListItem("aliases", i)}>
              <IconTrash size={15} aria-hidden />
            </ActionIcon>
          </Group>
          {members.filter((m) => m.provider).map((m) => (
            <TextInput
              key={m.id}
              mt={8}
              size="xs"
              label={t.wireModel(m.provider)}
              spellCheck={false}
              classNames={{ input: "mono" }}
              value={a.wireModels[m.provider] ?? ""}
              onChange={(e) => form.setFieldValue(`aliases.${i}.wireModels`, { ...a.wireModels, [m.provider]: e.currentTarget.value })}
              error={form.errors[`aliases.${i}.wireModels.${m.provider}`] ?? (m === members[0] ? form.errors[`aliases.${i}.wireModels`] : undefined)}
              data-path={m === members[0] ? `aliases.${i}.wireModels` : undefined}
            />
          ))}
        </Box>
      ))}
      <Group>
        <Button variant="default" size="xs" leftSection={<IconPlus size={14} aria-hidden />} onClick={() => form.insertListItem("aliases", { id: newId(), name: "", wireModels: {} })}>{t.addAlias}</Button>
      </Group>
    </>
  );
}
