import { Anchor, Group, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../api/client";
import { StatusBadge, type Tone } from "../components/StatusBadge";
import { formatClock, formatMs } from "../i18n/format";
import { useStrings } from "../i18n";
import { outcomeOf, type Attempt, type Outcome, type Skip } from "./outcome";
import { strings } from "./strings";

type Props = { candidate: Schemas["PlanCandidate"]; place: number; attempts?: Attempt[]; skips?: Skip[] };

export const toneOfState = (state: string): Tone => (state === "healthy" ? "good" : state === "parked" ? "paused" : state === "circuit_open" ? "bad" : "warning");

export function Candidate({ candidate: c, place, attempts, skips }: Props) {
  const t = useStrings(strings);
  const outcome = attempts ? outcomeOf(c, attempts, skips ?? []) : undefined;
  return (
    <li className="il-plan-member" data-outcome={outcome?.kind}>
      <span className="il-plan-place" aria-hidden>{place}</span>
      <div className="il-plan-body">
        <Group gap={8} justify="space-between" wrap="wrap">
          <Anchor component={Link} to={`/providers/${encodeURIComponent(c.provider)}`} size="sm" fw={600} c="var(--mantine-color-text)">{c.provider}</Anchor>
          {outcome ? <Result outcome={outcome} /> : (
            <StatusBadge tone={toneOfState(c.state)}>
              {t.state[c.state] ?? c.state}
              {c.until ? ` ${t.until(formatClock(c.until, false))}` : ""}
            </StatusBadge>
          )}
        </Group>
        <Text size="xs" c="dimmed">
          <span className="mono">{c.wireModel}</span> · {c.residency} · {c.credentialFallback ? t.fallbackKey : (t.credential[c.credential] ?? c.credential)}
        </Text>
        <Text size="xs" c="dimmed">
          {c.strategy}: {c.why}
          {outcome && c.state !== "healthy" ? ` · ${t.state[c.state] ?? c.state}` : ""}
        </Text>
        {outcome && "attempts" in outcome ? outcome.attempts.map(({ number, attempt: a }) => (
          <Text key={number} size="xs" mt={4} className="num">
            {t.tried(number)}: {a.outcome === "allow" ? t.answered : t.failed(a.category ?? a.outcome)}
            {a.status ? ` (${a.status}${a.code ? ` ${a.code}` : ""})` : ""} · {formatMs(a.durationMs)}
          </Text>
        )) : null}
      </div>
    </li>
  );
}

function Result({ outcome }: { outcome: Outcome }) {
  const t = useStrings(strings);
  switch (outcome.kind) {
    case "answered":
      return <StatusBadge tone="good">{t.answered}</StatusBadge>;
    case "failed":
      return <StatusBadge tone="bad">{t.failed(outcome.attempts.at(-1)?.attempt.category ?? "")}</StatusBadge>;
    case "skipped":
      return <StatusBadge tone="warning">{`${t.wasSkipped}: ${t.state[outcome.skip.skipReason] ?? outcome.skip.skipReason}`}</StatusBadge>;
    case "not-reached":
      return <StatusBadge tone="neutral">{t.notReached}</StatusBadge>;
  }
}
