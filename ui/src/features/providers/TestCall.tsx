import { Alert, Autocomplete, Box, Button, Group, Stack, Text, Title } from "@mantine/core";
import { IconCircleCheck, IconCircleX, IconSend } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "../../api/client";
import { Definitions } from "../../components/Definitions";
import { ErrorState } from "../../components/ErrorState";
import { formatMs } from "../../i18n/format";
import { useStrings } from "../../i18n";
import { useWord } from "../../i18n/words";
import { strings } from "./strings";

// TestCall asks the provider for one token, for real, and says what came of it
// and what to do.
export function TestCall({ name, models }: { name: string; models: string[] }) {
  const t = useStrings(strings);
  const word = useWord();
  const [model, setModel] = useState("");
  const test = useMutation({
    mutationFn: () => data(api.POST("/providers/{name}/test", { params: { path: { name } }, body: model.trim() ? { model: model.trim() } : {} })),
  });
  const result = test.data;
  return (
    <Box component="section" aria-label={t.test}>
      <Title order={2}>{t.test}</Title>
      <Text size="xs" c="dimmed" mt={2} mb="sm">
        {t.testText}
      </Text>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          test.mutate();
        }}
      >
        <Group align="flex-end" gap="xs">
          <Autocomplete size="xs" w={240} label={t.testModel} placeholder={t.testModelHint} data={models} value={model} onChange={setModel} />
          <Button type="submit" variant="default" loading={test.isPending} leftSection={<IconSend size={14} aria-hidden />}>
            {result ? t.testAgain : t.testRun}
          </Button>
        </Group>
      </form>
      <Box mt="sm" aria-live="polite">
        {test.isError ? <ErrorState error={test.error} title={t.testFailed} /> : null}
        {result?.ok ? (
          <Alert color="green" title={t.testOk} icon={<IconCircleCheck size={18} aria-hidden />}>
            {t.testDetail(result.model, formatMs(result.latencyMs))}
          </Alert>
        ) : null}
        {result && !result.ok ? (
          <Alert color="red" title={t.testFailed} icon={<IconCircleX size={18} aria-hidden />}>
            <Stack gap="sm">
              {result.category && t.testHelp[result.category] ? <Text size="sm">{t.testHelp[result.category]}</Text> : null}
              <Definitions
                items={[
                  [t.testStatus, result.status === 0 ? t.testNoAnswer : String(result.status)],
                  [t.testCategory, word("category", result.category)],
                  [t.testCode, result.code],
                  [t.testMessage, result.message],
                  [t.testModel, result.model],
                  [t.testLatency, formatMs(result.latencyMs)],
                ]}
              />
            </Stack>
          </Alert>
        ) : null}
      </Box>
    </Box>
  );
}
