import { describe, expect, it } from "vitest";
import { inputOf, stateOf, valuesOf, type Key } from "./keyModel";
import { strings } from "./strings";

const key: Key = { kind: "Key", name: "ci", type: "virtual", version: 3, managedBy: "api", team: "platform", labels: { a: "b" }, providerCredential: { provider: "eu", apiKey: "" } };
const now = Date.parse("2026-12-01T00:00:00Z");

describe("keys", () => {
  it("are sent back as they were, without the secret that nobody touched", () => {
    const input = inputOf(valuesOf(key), key);
    expect(input).toMatchObject({ name: "ci", team: "platform", labels: { a: "b" }, providerCredential: { provider: "eu" } });
    expect(input.providerCredential).not.toHaveProperty("apiKey");
  });
  it("lose what was emptied", () => {
    expect(inputOf({ ...valuesOf(key), team: "" }, key).team).toBeUndefined();
  });
  it("say their state", () => {
    const t = strings.en;
    expect(stateOf({ ...key, active: true }, t, now)).toEqual({ tone: "good", text: "Active" });
    expect(stateOf({ ...key, expiresAt: "2026-11-01T00:00:00Z" }, t, now).text).toBe("Expired");
    expect(stateOf({ ...key, endsAt: "2026-12-02T00:00:00Z" }, t, now)).toEqual({ tone: "warning", text: "Replaced, works until tomorrow" });
    expect(stateOf({ ...key, enabled: false, active: false }, t, now).text).toBe("Switched off");
  });
});
