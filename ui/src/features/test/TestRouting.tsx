import { Alert, Box, Button, Group, List, Stack, Text, Title } from "@mantine/core";
import { IconInfoCircle, IconRouteSquare } from "@tabler/icons-react";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Schemas } from "../../api/client";
import { useModelNames } from "../../api/names";
import { asProblem } from "../../api/problem";
import { PagePending } from "../../app/Fallbacks";
import { CodeBlock } from "../../components/CodeBlock";
import { CopyButton } from "../../components/CopyButton";
import { EmptyState } from "../../components/EmptyState";
import { ErrorState } from "../../components/ErrorState";
import { PageHeader } from "../../components/PageHeader";
import { useStrings } from "../../i18n";
import { useWord } from "../../i18n/words";
import { PlanView } from "../../plan/PlanView";
import { commandOf, fromSearch, requestOf, toSearch, type Question } from "./question";
import { QuestionForm } from "./QuestionForm";
import { useDecision } from "./queries";
import { strings } from "./strings";
import "./test.css";

export default function TestRouting() {
  const t = useStrings(strings);
  const search = useSearch({ strict: false }) as Record<string, string | undefined>;
  const navigate = useNavigate();
  const address = JSON.stringify(search);
  const question = useMemo(() => fromSearch(JSON.parse(address) as Record<string, string>), [address]);
  const decision = useDecision(question);
  const fields = decision.isError ? Object.fromEntries(asProblem(decision.error).fields.map((f) => [f.path, f.message])) : {};
  const ask = (q: Question) => {
    // The same question again is asked again; another one is asked by its address.
    if (JSON.stringify(q) === JSON.stringify(question)) void decision.refetch();
    else void navigate({ to: "/test" as string, search: toSearch(q) as never, replace: question.model === "" });
  };
  return (
    <>
      <PageHeader title={t.title} intro={t.intro} />
      <div className="il-test">
        <QuestionForm key={address} question={question} busy={decision.isFetching} serverErrors={fields} onAsk={ask} />
        <Box component="section" aria-label={t.result} aria-busy={decision.isFetching} className="il-test-result">
          {question.model === "" ? <EmptyState icon={IconRouteSquare} title={t.emptyTitle} text={t.emptyText} actions={<Examples />} /> : null}
          {question.model !== "" && decision.isPending ? <PagePending /> : null}
          {decision.isError ? <ErrorState error={decision.error} retry={() => void decision.refetch()} /> : null}
          {decision.data && question.model !== "" && !decision.isError ? <Answer answer={decision.data} question={question} /> : null}
        </Box>
      </div>
    </>
  );
}

// Examples are models that there are: one click is a first answer.
function Examples() {
  const names = useModelNames().slice(0, 4);
  return names.map((name) => (
    <Button key={name} component={Link} to={`/test?model=${encodeURIComponent(name)}` as string} variant="default" className="mono">
      {name}
    </Button>
  ));
}

function Answer({ answer, question }: { answer: Schemas["DryRun"]; question: Question }) {
  const t = useStrings(strings);
  const curl = `curl ${window.location.origin}/api/v1/routing/resolve \\\n  -H "Authorization: Bearer $INTERLOCK_TOKEN" -H 'content-type: application/json' -d '${JSON.stringify(requestOf(question)).replaceAll("'", "'\\''")}'`;
  return (
    <Stack gap="lg">
      {answer.warnings.length > 0 ? (
        <Alert color="yellow" variant="light" icon={<IconInfoCircle size={18} aria-hidden />} title={t.warnings}>
          <List size="sm">{answer.warnings.map((w) => <List.Item key={w}>{w}</List.Item>)}</List>
        </Alert>
      ) : null}
      <div aria-live="polite">
        <PlanView plan={answer.plan} excluded={answer.excluded} />
      </div>
      {answer.next && answer.next.length > 0 ? <Failures next={answer.next} /> : null}
      <Box>
        <Group gap="xs" mb={6}>
          <Text size="xs" c="dimmed">{t.share}</Text>
          <CopyButton value={window.location.href} what={t.copyLink} />
        </Group>
        <Text size="xs" c="dimmed" mb={4}>{t.asCommand}</Text>
        <CodeBlock code={`export INTERLOCK_SERVER=${window.location.origin} INTERLOCK_TOKEN=…   # ${t.adminToken}\n${commandOf(question)}`} label={t.asCommand} />
        <Text size="xs" c="dimmed" mt="sm" mb={4}>{t.asCurl}</Text>
        <CodeBlock code={curl} label={t.asCurl} />
      </Box>
    </Stack>
  );
}

function Failures({ next }: { next: Schemas["DryRunAfter"][] }) {
  const t = useStrings(strings);
  const word = useWord();
  return (
    <Box component="section">
      <Title order={2} mb="xs">{t.next}</Title>
      <List type="ordered" size="sm" spacing={6}>
        {next.map((n, i) => (
          <List.Item key={i}>
            {t.after(n.provider, word("category", n.category))}
            {n.retry ? ` (${t.mayRetry})` : ""}: {t.action[n.action]?.(n.next ?? "") ?? n.action}
          </List.Item>
        ))}
      </List>
    </Box>
  );
}
