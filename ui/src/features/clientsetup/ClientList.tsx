import { Box, NativeSelect, Stack, Text } from "@mantine/core";
import { useStrings } from "../../i18n";
import { clients } from "./clients";
import { strings } from "./strings";

const groups = ["agents", "editors", "sdks"] as const;

// ClientList chooses a client: beside the settings, or above them on a phone.
export function ClientList({ chosen, onChoose }: { chosen: string; onChoose: (id: string) => void }) {
  const t = useStrings(strings);
  return (
    <>
      <Box component="nav" aria-label={t.client} visibleFrom="sm">
        <Stack gap="md">
          {groups.map((group) => (
            <Box key={group}>
              <Text size="xs" c="dimmed" px={9} mb={4}>
                {t.groups[group]}
              </Text>
              {clients
                .filter((c) => c.group === group)
                .map((c) => (
                  <button key={c.id} type="button" className="il-navlink il-navbutton" aria-current={c.id === chosen ? "page" : undefined} onClick={() => onChoose(c.id)}>
                    {c.name}
                  </button>
                ))}
            </Box>
          ))}
        </Stack>
      </Box>
      <NativeSelect
        hiddenFrom="sm"
        label={t.client}
        value={chosen}
        onChange={(e) => onChoose(e.currentTarget.value)}
        data={groups.map((group) => ({ group: t.groups[group], items: clients.filter((c) => c.group === group).map((c) => ({ value: c.id, label: c.name })) }))}
      />
    </>
  );
}
