import { Alert, Anchor, Box, Button, Group, Text, Title } from "@mantine/core";
import { IconInfoCircle, IconRouteSquare } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { api, data, type Schemas } from "../../api/client";
import { asProblem } from "../../api/problem";
import { keys } from "../../api/query";
import { PagePending } from "../../app/Fallbacks";
import { CopyText } from "../../components/CopyButton";
import { Definitions } from "../../components/Definitions";
import { ErrorState } from "../../components/ErrorState";
import { PageHeader } from "../../components/PageHeader";
import { StatusBadge } from "../../components/StatusBadge";
import { formatClock, formatDate, formatMs } from "../../i18n/format";
import { useStrings } from "../../i18n";
import { toneOfOutcome, useWord } from "../../i18n/words";
import { PlanView } from "../../plan/PlanView";
import { Attempts } from "./Attempts";
import { callerOf } from "./look";
import { strings } from "./strings";

export default function RequestDetail() {
  const t = useStrings(strings);
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useQuery({
    queryKey: keys.activity({ decision: id }),
    queryFn: () => data(api.GET("/decisions/{requestId}", { params: { path: { requestId: id } } })) as Promise<Schemas["Decision"]>,
    staleTime: 60_000,
    // A request that just ended may not be in the store yet.
    retry: (failures, error) => failures < 3 && asProblem(error).status === 404,
    retryDelay: 700,
  });
  if (query.isError) {
    const gone = asProblem(query.error).status === 404;
    return (
      <>
        <PageHeader title={id} back={{ to: "/requests", label: t.title }} />
        {gone ? <Text size="sm" c="dimmed">{t.notKept}</Text> : <ErrorState error={query.error} retry={() => void query.refetch()} />}
      </>
    );
  }
  if (!query.isSuccess) return <PagePending />;
  return <Detail decision={query.data} />;
}

function Detail({ decision }: { decision: Schemas["Decision"] }) {
  const t = useStrings(strings);
  const word = useWord();
  const r = decision.record;
  const u = r.usage;
  const ask = new URLSearchParams({ model: r.requestedModel ?? "", ...(r.endpoint ? { endpoint: r.endpoint } : {}), ...(r.caller?.key ? { key: r.caller.key } : {}), ...(r.stream ? { stream: "1" } : {}) });
  return (
    <>
      <PageHeader
        documentTitle={`${t.title} ${decision.requestId}`}
        title={
          <Group gap="sm" component="span">
            <span className="mono">{r.requestedModel || t.whenWho}</span>
            <StatusBadge tone={toneOfOutcome(r.outcome)}>{`${word("outcome", r.outcome)} ${r.status ?? ""}`}</StatusBadge>
          </Group>
        }
        back={{ to: "/requests", label: t.title }}
        actions={<Button component={Link} to={`/test?${ask.toString()}` as string} variant="default" leftSection={<IconRouteSquare size={15} aria-hidden />}>{t.ask}</Button>}
      />
      <Definitions
        items={[
          [t.id, <CopyText key="id" value={decision.requestId} what={t.id} />],
          [t.at, `${formatDate(r.time)}, ${formatClock(r.time)}`],
          [t.caller, <Caller key="c" caller={r.caller} />],
          [t.endpoint, r.endpoint ? <><span className="mono">{r.endpoint}</span>{r.stream ? `, ${t.streamed}` : ""}</> : ""],
          [t.served, r.provider ? <Anchor key="p" component={Link} to={`/providers/${encodeURIComponent(r.provider)}`} size="sm">{r.provider}</Anchor> : ""],
          [t.asModel, r.wireModel && r.wireModel !== r.requestedModel ? <span className="mono" key="w">{r.wireModel}</span> : ""],
          [t.route, r.routeName ? <Anchor key="r" component={Link} to={`/routes/${encodeURIComponent(r.routeName)}`} size="sm">{r.routeName}</Anchor> : ""],
          [t.residency, r.residency],
          [t.credential, r.credential ? `${word("credential", r.credential)}${r.credentialFallback ? ` (${t.fallbackKey})` : ""}` : ""],
          [t.usage, u ? `${t.usageText(u.input ?? 0, u.output ?? 0, u.cachedRead ?? 0, u.cachedWrite ?? 0)}${r.estimated ? ` (${t.estimated})` : ""}` : ""],
          [t.ttft, r.ttftMs ? formatMs(r.ttftMs) : ""],
          [t.total, r.durationMs === undefined ? "" : formatMs(r.durationMs)],
          [t.code, r.code ? <span className="mono" key="k">{r.code}</span> : ""],
          [t.policy, r.policy],
          [t.category, word("category", r.category)],
          [t.message, r.message],
          [t.tags, r.tags?.join(", ")],
          [t.session, r.sessionHash ? <span className="mono" key="s">{r.sessionHash}</span> : ""],
          [t.version, r.configVersion],
        ]}
      />
      {(r.attempts?.length ?? 0) > 0 ? <Attempts record={r} /> : null}
      <Box mt="xl">
        {decision.plan ? (
          <PlanView plan={decision.plan} attempts={r.attempts ?? []} skips={r.skips ?? []} />
        ) : (
          <>
            <Title order={2} mb="xs">{t.decision}</Title>
            <Alert variant="light" color="gray" icon={<IconInfoCircle size={18} aria-hidden />} title={t.noPlan}>{decision.planError}</Alert>
          </>
        )}
      </Box>
    </>
  );
}

function Caller({ caller }: { caller?: Schemas["Caller"] }) {
  const t = useStrings(strings);
  if (!caller) return <>–</>;
  const rest = [caller.user, caller.team, caller.department, caller.workload].filter((x) => x && x !== callerOf(caller)).join(", ");
  return (
    <>
      {caller.key ? <Anchor component={Link} to={`/keys/${encodeURIComponent(caller.key)}`} size="sm" underline="always">{caller.key}</Anchor> : callerOf(caller)}
      {rest ? `, ${rest}` : ""}
      {caller.source ? <Text span size="xs" c="dimmed"> · {t.source} {caller.source}</Text> : null}
    </>
  );
}
