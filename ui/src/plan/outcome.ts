// What came of the candidates of a plan, for a request that was made.
import type { Schemas } from "../api/client";

export type Attempt = Schemas["AuditAttempt"];
export type Skip = Schemas["Skip"];
export type Outcome = { kind: "answered" | "failed"; attempts: { number: number; attempt: Attempt }[] } | { kind: "skipped"; skip: Skip } | { kind: "not-reached" };

// outcomes matches attempts and skips to providers. A provider is in a plan
// twice when its own key follows the caller's: attempts are told apart by
// their credential, as far as it was recorded.
export function outcomeOf(candidate: Schemas["PlanCandidate"], attempts: Attempt[], skips: Skip[]): Outcome {
  const mine = attempts
    .map((attempt, i) => ({ number: i + 1, attempt }))
    .filter(({ attempt: a }) => a.provider === candidate.provider && (a.credential === undefined || a.credential === candidate.credential));
  if (mine.length > 0) return { kind: mine.at(-1)!.attempt.outcome === "allow" ? "answered" : "failed", attempts: mine };
  const skip = skips.find((s) => s.provider === candidate.provider);
  return skip ? { kind: "skipped", skip } : { kind: "not-reached" };
}
