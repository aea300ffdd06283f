import { Anchor, Group, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../api/client";
import { StatusBadge } from "../components/StatusBadge";
import { formatClock, formatMs } from "../i18n/format";
import { useStrings } from "../i18n";
import { toneOfState, useWord } from "../i18n/words";
import { outcomeOf, type Attempt, type Outcome, type Skip } from "./outcome";
import { strings } from "./strings";

type Props = { candidate: Schemas["PlanCandidate"]; place: number; attempts?: Attempt[]; skips?: Skip[] };

export function Candidate({ candidate: c, place, attempts, skips }: Props) {
  const t = useStrings(strings);
  const word = useWord();
  const outcome = attempts ? outcomeOf(c, attempts, skips ?? []) : undefined;
  return (
    <li className="il-plan-member" data-outcome={outcome?.kind}>
      <span className="il-plan-place" aria-hidden>{place}</span>
      <div className="il-plan-body">
        <Group gap={8} justify="space-between" wrap="wrap">
          <Anchor component={Link} to={`/providers/${encodeURIComponent(c.provider)}`} size="sm" fw={600} c="var(--mantine-color-text)">{c.provider}</Anchor>
          {outcome ? <Result outcome={outcome} /> : (
            <StatusBadge tone={toneOfState(c.state)}>
              {word("state", c.state)}
              {c.until ? ` ${t.until(formatClock(c.until, false))}` : ""}
            </StatusBadge>
          )}
        </Group>
        <Text size="xs" c="dimmed">
          <span className="mono">{c.wireModel}</span> · {c.residency} · {c.credentialFallback ? t.fallbackKey : word("credential", c.credential)}
        </Text>
        <Text size="xs" c="dimmed">
          {word("strategy", c.strategy)}: {c.why}
          {outcome && c.state !== "healthy" ? ` · ${word("state", c.state)}` : ""}
        </Text>
        {outcome && "attempts" in outcome ? outcome.attempts.map(({ number, attempt: a }) => (
          <Text key={number} size="xs" mt={4} className="num">
            {t.tried(number)}: {a.outcome === "allow" ? t.answered : t.failed(a.category ? word("category", a.category) : word("outcome", a.outcome))}
            {a.status ? ` (${a.status}${a.code ? ` ${a.code}` : ""})` : ""} · {formatMs(a.durationMs)}
          </Text>
        )) : null}
      </div>
    </li>
  );
}

function Result({ outcome }: { outcome: Outcome }) {
  const t = useStrings(strings);
  const word = useWord();
  switch (outcome.kind) {
    case "answered":
      return <StatusBadge tone="good">{word("outcome", "allow")}</StatusBadge>;
    case "failed":
      return <StatusBadge tone="bad">{word("category", outcome.attempts.at(-1)?.attempt.category) || word("outcome", "error")}</StatusBadge>;
    case "skipped":
      return <StatusBadge tone="warning">{`${t.wasSkipped}: ${word("state", outcome.skip.skipReason)}`}</StatusBadge>;
    case "not-reached":
      return <StatusBadge tone="neutral">{t.notReached}</StatusBadge>;
  }
}
