import { Alert, Button, Code, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { asProblem } from "../api/problem";
import { common } from "../i18n/common";
import { useStrings } from "../i18n";

// ErrorState says what went wrong, in the words of the server, and offers to
// try again.
export function ErrorState({ error, retry, title }: { error: unknown; retry?: () => void; title?: string }) {
  const t = useStrings(common);
  const problem = asProblem(error);
  const text = problem.code === "unreachable" ? t.unreachable : problem.detail;
  return (
    <Alert color="red" variant="light" role="alert" icon={<IconAlertTriangle size={18} aria-hidden />} title={title ?? (problem.status === 403 ? t.forbidden : t.errorTitle)}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm" className="il-sentence">{text}</Text>
        {problem.fields.map((f) => (
          <Text size="sm" key={f.path + f.message}>
            <Code>{f.path}</Code> {f.message}
          </Text>
        ))}
        {problem.requestId ? (
          <Text size="xs" className="mono">
            {t.requestId(problem.requestId)}
          </Text>
        ) : null}
        {retry ? (
          <Button variant="default" onClick={retry}>
            {t.retry}
          </Button>
        ) : null}
      </Stack>
    </Alert>
  );
}
