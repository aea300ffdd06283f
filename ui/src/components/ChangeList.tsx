import { Alert, Box, List, Stack, Text, Title } from "@mantine/core";
import { IconInfoCircle } from "@tabler/icons-react";
import type { ChangeSet } from "../api/client";
import { common } from "../i18n/common";
import { useStrings } from "../i18n";
import { heading, lines } from "./changes";
import { useLabels } from "./labels";

type Props = {
  changes: ChangeSet;
  // Of the kind that is changed; without them those of all kinds are loaded.
  labels?: Record<string, string>;
  // The changes are between two versions, not to come.
  compared?: boolean;
};

// ChangeList is what a dry run answered, or what a version changed, in words.
export function ChangeList({ changes, labels, compared }: Props) {
  const t = useStrings(common);
  const of = useLabels(labels === undefined);
  return (
    <Stack gap="md">
      {changes.changes.length === 0 ? <Text size="sm">{t.reviewNothing}</Text> : null}
      {changes.changes.map((diff) => (
        <Box key={`${diff.kind}/${diff.name}`}>
          <Title order={3} mb={4}>
            {heading(diff, t)}
          </Title>
          <List size="sm" spacing={3}>
            {lines(diff, labels ?? of(diff.kind), t).map((line) => (
              <List.Item key={line} style={{ overflowWrap: "anywhere" }}>
                {line}
              </List.Item>
            ))}
          </List>
        </Box>
      ))}
      {changes.warnings?.length ? (
        <Alert color="yellow" title={t.reviewWarnings} icon={<IconInfoCircle size={18} aria-hidden />}>
          <List size="sm" spacing={3}>
            {changes.warnings.map((w) => (
              <List.Item key={w}>{w}</List.Item>
            ))}
          </List>
        </Alert>
      ) : null}
      {changes.changes.length > 0 && !compared ? (
        <Text size="xs" c="dimmed">
          {t.reviewVersion(changes.revision)}
        </Text>
      ) : null}
    </Stack>
  );
}
