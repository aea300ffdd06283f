import { Alert, Anchor, Box, Button, Group, Text, TextInput, Title } from "@mantine/core";
import { IconCircleCheck, IconCircleX, IconSend } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { hasPage } from "../../app/pages";
import { Definitions } from "../../components/Definitions";
import { formatMs } from "../../i18n/format";
import { useStrings } from "../../i18n";
import { testRequest, textOf, type Api } from "./clients";
import { strings } from "./strings";

type Result = { ok: boolean; status: number; text: string; ms: number; header: (name: string) => string | undefined };

async function send(api: Api, secret: string, model: string, prompt: string): Promise<Result> {
  const { path, body } = testRequest(api, model, prompt);
  const begun = performance.now();
  const answer = await fetch(path, {
    method: "POST",
    // The key speaks, not the person who is signed in to the console.
    credentials: "omit",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json", "anthropic-version": "2023-06-01" },
    body: JSON.stringify(body),
  });
  const raw = await answer.text();
  let text = raw.slice(0, 2000);
  try {
    const json = JSON.parse(raw) as { error?: { message?: string } };
    text = answer.ok ? textOf(json) : (json.error?.message ?? text);
  } catch {
    // Shown as it is.
  }
  return { ok: answer.ok, status: answer.status, text, ms: performance.now() - begun, header: (name) => answer.headers.get(`x-interlock-${name}`) ?? undefined };
}

// TestRequest sends a real request to the data plane of the gateway, and shows
// the answer and where it went.
export function TestRequest({ api, base, secret, model }: { api: Api; base: string; secret: string; model: string }) {
  const t = useStrings(strings);
  const [prompt, setPrompt] = useState(t.promptDefault);
  const test = useMutation({ mutationFn: () => send(api, secret, model, prompt) });
  const here = base === window.location.origin;
  const missing = !here ? t.otherHost(window.location.origin) : secret === "" ? t.needKey : model === "" ? t.needModel : "";
  return (
    <Box component="section" aria-label={t.test} pt="lg" style={{ borderTop: "1px solid var(--il-line)" }}>
      <Title order={2}>{t.test}</Title>
      <Text size="xs" c="dimmed" mt={2} mb="sm">
        {t.testText}
      </Text>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          if (missing === "") test.mutate();
        }}
      >
        <Group align="flex-end" gap="xs">
          <TextInput size="xs" style={{ flex: "1 1 240px" }} maw={420} label={t.prompt} value={prompt} onChange={(e) => setPrompt(e.currentTarget.value)} />
          <Button type="submit" loading={test.isPending} disabled={missing !== ""} leftSection={<IconSend size={14} aria-hidden />}>
            {t.send}
          </Button>
        </Group>
        {missing ? (
          <Text size="xs" c="dimmed" mt={6}>
            {missing}
          </Text>
        ) : null}
      </form>
      <Box mt="md" aria-live="polite">
        {test.isError ? (
          <Alert color="red" title={t.failed} icon={<IconCircleX size={18} aria-hidden />}>
            {t.unreachable}
          </Alert>
        ) : null}
        {test.data ? <Outcome result={test.data} /> : null}
      </Box>
    </Box>
  );
}

function Outcome({ result: r }: { result: Result }) {
  const t = useStrings(strings);
  const id = r.header("request-id");
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.scrollIntoView({ block: "nearest" }), [r]);
  return (
    <Alert ref={box} color={r.ok ? "green" : "red"} title={r.ok ? t.answered : t.refused} icon={r.ok ? <IconCircleCheck size={18} aria-hidden /> : <IconCircleX size={18} aria-hidden />}>
      <Text size="sm" mb="sm" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }} data-testid="answer">
        {r.text || t.noText}
      </Text>
      <Definitions
        items={[
          [t.status, String(r.status)],
          [t.provider, r.header("provider")],
          [t.route, r.header("route")],
          [t.wireModel, r.header("model")],
          [t.region, r.header("residency")],
          [t.attempts, r.header("attempts")],
          [t.time, formatMs(r.ms)],
        ]}
      />
      {id && hasPage("requests") ? (
        <Anchor component={Link} to={`/requests/${encodeURIComponent(id)}`} size="sm" mt="sm" display="inline-block">
          {t.decision} →
        </Anchor>
      ) : null}
    </Alert>
  );
}
