import { expect, test } from "vitest";
import { commandOf, empty, fromSearch, headersOf, paramsOf, requestOf, toSearch } from "./question";

const full = {
  ...empty, model: "gpt-5", endpoint: "messages", key: "ci", session: "s", tokens: "100", stream: true, callerCredential: true, noFallback: true,
  headers: "x-tier: premium", params: '{"user":"a"}', down: ["a", "b"], parked: ["c"], failures: ["rate_limit"],
};

test("a question comes back from its link", () => {
  const text = Object.fromEntries(Object.entries(toSearch(full)).filter(([, v]) => v !== undefined));
  expect(fromSearch(text)).toEqual(full);
  expect(fromSearch({})).toEqual(empty);
});

test("the request has what was asked and nothing else", () => {
  expect(requestOf({ ...empty, model: "m" })).toEqual({ model: "m" });
  expect(requestOf(full)).toEqual({
    model: "gpt-5", endpoint: "messages", key: "ci", session: "s", promptTokens: 100, stream: true, callerCredential: true,
    headers: { "x-tier": "premium", "x-interlock-no-fallback": "true" }, params: { user: "a" }, assume: { down: ["a", "b"], parked: ["c"] }, failures: ["rate_limit"],
  });
});

test("what is no header or no object is said", () => {
  expect(headersOf("a: b\nnonsense").wrong).toBe("nonsense");
  expect(paramsOf("[1]").wrong).toBe(true);
  expect(paramsOf("{").wrong).toBe(true);
});

test("a name can't leave its quotes", () => {
  expect(commandOf({ ...empty, model: "it's; rm" })).toBe(`interlock explain --model 'it'\\''s; rm'`);
});
