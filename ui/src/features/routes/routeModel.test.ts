import { expect, test } from "vitest";
import type { Member } from "./MemberSign";
import { inputOf, moved, newMember, stateOf, valuesOf, type Route } from "./routeModel";
import { strings } from "./strings";

const route: Route = {
  kind: "Route", name: "gpt", version: 3, managedBy: "api", tag: "stored", modelPatterns: ["gpt-*"],
  members: [{ provider: "a", state: "healthy" }, { provider: "b", weight: 3, fallbackOnly: true }],
  aliases: [{ name: "fast", wireModels: { a: "gpt-mini" } }],
};

test("a form that nobody touched sends what the server has", () => {
  const sent = JSON.parse(JSON.stringify(inputOf(valuesOf(route), route))) as Route;
  expect(sent.members).toEqual([{ provider: "a" }, { provider: "b", weight: 3, fallbackOnly: true }]);
  expect(sent.aliases).toEqual(route.aliases);
  for (const field of ["enabled", "strategy", "allowCrossProvider", "switchFamilyOnQuota", "description"]) expect(sent).not.toHaveProperty(field);
});

test("what a form takes away is gone", () => {
  const v = valuesOf(route);
  v.aliases = [];
  v.members = v.members.slice(0, 1);
  const sent = JSON.parse(JSON.stringify(inputOf(v, route))) as Route;
  expect(sent).not.toHaveProperty("aliases");
  expect(sent.members).toHaveLength(1);
});

test("an alias names wire models of members only", () => {
  const v = valuesOf(route);
  v.aliases[0]!.wireModels = { a: " x ", b: "", gone: "y" };
  expect(inputOf(v, route).aliases).toEqual([{ name: "fast", wireModels: { a: "x" } }]);
});

test("options of lowest-latency go with it only", () => {
  const v = { ...valuesOf(), members: [newMember("a")], strategy: { type: "lowest-latency", windowMinutes: 5, minRequests: "", explorationShare: "" } };
  expect(inputOf(v).strategy).toEqual({ type: "lowest-latency", windowMinutes: 5 });
  expect(inputOf({ ...v, strategy: { ...v.strategy, type: "weighted" } }).strategy).toEqual({ type: "weighted" });
});

test("moving", () => {
  expect(moved(["a", "b", "c"], 2, 0)).toEqual(["c", "a", "b"]);
  expect(moved(["a", "b", "c"], 0, 3)).toEqual(["a", "b", "c"]);
});

test("what was off can be switched on again, and off", () => {
  const off = { ...route, enabled: false, switchFamilyOnQuota: false };
  expect(inputOf({ ...valuesOf(off), enabled: true, switchFamilyOnQuota: true }, off)).toMatchObject({ enabled: true, switchFamilyOnQuota: true });
  expect(inputOf(valuesOf(off), off)).toMatchObject({ enabled: false, switchFamilyOnQuota: false });
  expect(inputOf({ ...valuesOf(route), enabled: false }, route)).toMatchObject({ enabled: false });
});

test("a route is as well as its members", () => {
  const t = strings.en;
  const of = (...states: Member["state"][]) => stateOf({ ...route, members: states.map((state, i) => ({ provider: `p${i}`, state })) }, t);
  expect(of("healthy", "healthy")).toEqual({ tone: "good", text: "Healthy" });
  expect(of("healthy", "circuit_open")).toEqual({ tone: "warning", text: "1 of 2 members healthy" });
  expect(of("parked")).toMatchObject({ tone: "bad" });
  expect(of()).toEqual({ tone: "neutral", text: "No member" });
  expect(stateOf({ ...route, enabled: false }, t)).toMatchObject({ tone: "paused" });
});
