import { expect, test } from "vitest";
import { callerOf, filtersOf, matches } from "./look";

const row = { id: "1.0", time: "", kind: "request", outcome: "allow" as const, provider: "a", routeName: "r", requestedModel: "m", caller: { key: "k" } };

test("filters are those of the address, by the names of the API", () => {
  expect(filtersOf({ outcome: "deny", q: "x", provider: "" })).toEqual({ outcome: "deny" });
});

test("a live row belongs into the list if it satisfies every filter", () => {
  expect(matches(row, {})).toBe(true);
  expect(matches(row, { provider: "a", route: "r", key: "k", model: "m", outcome: "allow" })).toBe(true);
  for (const f of [{ provider: "b" }, { route: "x" }, { key: "x" }, { model: "x" }, { outcome: "deny" }]) expect(matches(row, f)).toBe(false);
  expect(matches({ ...row, kind: "event" }, {})).toBe(false);
});

test("who called, by the most telling name", () => {
  expect(callerOf({ user: "anna", source: "github" })).toBe("anna");
  expect(callerOf({ source: "passthrough" })).toBe("passthrough");
  expect(callerOf(undefined)).toBe("–");
});
