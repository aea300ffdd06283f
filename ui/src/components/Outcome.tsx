import { Text } from "@mantine/core";
import type { Activity } from "../api/activity";
import { common } from "../i18n/common";
import { useStrings } from "../i18n";
import { toneOfOutcome, useWord } from "../i18n/words";
import { StatusBadge } from "./StatusBadge";

// Outcome is quiet for what went well, so that the rest stands out.
export function Outcome({ row: r }: { row: Activity }) {
  const c = useStrings(common);
  const word = useWord();
  if (r.outcome === "allow") {
    if (r.failover) return <StatusBadge tone="info">{c.afterFailover}</StatusBadge>;
    return <Text span size="sm" c="dimmed" className="num">{word("outcome", r.outcome)} {r.status}</Text>;
  }
  const more = r.outcome === "error" && r.category ? word("category", r.category) : r.code || r.status;
  return (
    <>
      <StatusBadge tone={toneOfOutcome(r.outcome)} title={r.message}>{word("outcome", r.outcome)}</StatusBadge> <Text span size="xs" c="dimmed" className="num">{more}</Text>
    </>
  );
}
