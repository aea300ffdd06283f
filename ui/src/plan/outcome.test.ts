import { expect, test } from "vitest";
import { outcomeOf, type Attempt } from "./outcome";

const candidate = (provider: string, credential: Attempt["credential"] = "own") => ({ provider, credential: credential!, route: "r", wireModel: "m", residency: "eu", state: "healthy" as const, strategy: "failover" as const, why: "" });
const attempt = (provider: string, outcome: Attempt["outcome"], credential: Attempt["credential"] = "own"): Attempt => ({ provider, outcome, credential, wireModel: "m", startMs: 0, durationMs: 1 });

test("an attempt that answered, one that failed, a skip, and who was not reached", () => {
  const attempts = [attempt("a", "error"), attempt("b", "allow")];
  const skips = [{ provider: "c", wireModel: "m", skipReason: "parked" as const }];
  expect(outcomeOf(candidate("a"), attempts, skips).kind).toBe("failed");
  expect(outcomeOf(candidate("b"), attempts, skips)).toEqual({ kind: "answered", attempts: [{ number: 2, attempt: attempts[1] }] });
  expect(outcomeOf(candidate("c"), attempts, skips).kind).toBe("skipped");
  expect(outcomeOf(candidate("d"), attempts, skips).kind).toBe("not-reached");
});

test("the organisation's key after the caller's is another candidate", () => {
  const attempts = [attempt("a", "error", "caller"), attempt("a", "allow", "own")];
  expect(outcomeOf(candidate("a", "caller"), attempts, []).kind).toBe("failed");
  expect(outcomeOf(candidate("a", "own"), attempts, []).kind).toBe("answered");
});
