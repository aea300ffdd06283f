import { describe, expect, it } from "vitest";
import type { Schemas } from "../../api/client";
import { losses, stateOf, type ProviderHealth } from "./health";
import { inputOf, startOf, valuesOf, type Provider } from "./providerModel";
import { strings } from "./strings";
import { vendors } from "./vendors";

const t = strings.en;
const provider: Provider = {
  kind: "Provider", name: "eu", type: "openai", version: 2, managedBy: "api", hasApiKey: true, residency: "eu", enabled: true,
  modelAliases: { gpt: "gpt-5.4" }, droppedParams: ["x"], timeouts: { connectMs: 5000 },
};
const health: ProviderHealth = {
  name: "eu", provider: "eu", breaker: { state: "closed", failures: 0 }, cooldowns: [], credentialMode: "org-key", drained: false, enabled: true, errors: 0, inFlight: 0, p50Ms: 1, p95Ms: 2,
  probing: false, recovering: false, requests: 3, residency: "eu", wholeP50Ms: 1, wholeP95Ms: 2,
};

describe("a provider's form", () => {
  it("keeps what it does not know, and the key that nobody touched", () => {
    const input = inputOf(valuesOf(provider), provider);
    expect(input).toMatchObject({ droppedParams: ["x"], modelAliases: { gpt: "gpt-5.4" }, timeouts: { connectMs: 5000 } });
    expect(input).not.toHaveProperty("apiKey");
  });
  it("removes the key with null, and rows that were taken out", () => {
    const input = inputOf({ ...valuesOf(provider), apiKey: null, modelAliases: [] }, provider);
    expect(input.apiKey).toBeNull();
    expect(input.modelAliases).toBeUndefined();
  });
  it("starts from any vendor of the gallery", () => {
    for (const v of vendors) expect(inputOf({ ...startOf(v), name: "x" })).toMatchObject({ name: "x", type: v.type });
  });
});

describe("a provider's state", () => {
  it("says why it gets no requests", () => {
    expect(stateOf(health, true, false, t)).toMatchObject({ tone: "good", text: "Healthy" });
    expect(stateOf({ ...health, requests: 0 }, true, false, t).text).toBe("No traffic yet");
    expect(stateOf(health, true, true, t).text).toBe("Drained");
    expect(stateOf(undefined, false, false, t).text).toBe("Not in use");
    const open = stateOf({ ...health, breaker: { state: "open", failures: 5, category: "server_error" } }, true, false, t);
    expect(open).toMatchObject({ tone: "bad", canRetry: true });
    expect(open.why).toContain("5 failures in a row");
  });
  it("says which routes would have nobody left", () => {
    const route = (name: string, ...members: [string, boolean][]) =>
      ({ name, tag: "stored", healthyMembers: 1, members: members.map(([provider, healthy]) => ({ provider, healthy })) }) as unknown as Schemas["RouteHealth"];
    expect(losses("eu", [route("a", ["eu", true], ["us", true]), route("b", ["eu", true], ["us", false]), route("c", ["us", true])], t)).toEqual([
      "Route a goes on with us.",
      "Route b has no other healthy member: its requests will be refused.",
    ]);
  });
});
