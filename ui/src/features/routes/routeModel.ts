import type { Schemas } from "../../api/client";
import type { Tone } from "../../components/StatusBadge";
import { toneOfState, wordOf } from "../../i18n/words";
import { collection } from "../../objects/collection";
import { defineForm } from "../../objects/form";
import type { strings } from "./strings";

export type Route = Schemas["Route"];
export type RouteInput = Schemas["RouteInput"];

export const routesOf = collection("/routes");

export const strategies = ["failover", "weighted", "round-robin", "lowest-cost", "lowest-latency", "least-loaded"] as const;

export type MemberValues = { id: string; provider: string; weight: number | string; priority: number | string; fallbackOnly: boolean };
export type AliasValues = { id: string; name: string; wireModels: Record<string, string> };
export type RouteValues = {
  name: string;
  description: string;
  enabled: boolean;
  modelPatterns: string[];
  members: MemberValues[];
  aliases: AliasValues[];
  strategy: { type: string; windowMinutes: number | string; minRequests: number | string; explorationShare: number | string };
  allowCrossProvider: boolean;
  switchFamilyOnQuota: boolean;
  orgKeyFallbackForCallerCredentials: boolean;
};

let last = 0;
// newId names a row of the form while it is moved about; the server never sees it.
export const newId = () => `row-${++last}`;

export const newMember = (provider = ""): MemberValues => ({ id: newId(), provider, weight: 1, priority: 0, fallbackOnly: false });

export function valuesOf(r?: Route): RouteValues {
  const s = r?.strategy;
  return {
    name: r?.name ?? "",
    description: r?.description ?? "",
    enabled: r?.enabled ?? true,
    modelPatterns: r?.modelPatterns ?? [],
    members: (r?.members ?? []).map((m) => ({ id: newId(), provider: m.provider, weight: m.weight ?? 1, priority: m.priority ?? 0, fallbackOnly: m.fallbackOnly ?? false })),
    aliases: (r?.aliases ?? []).map((a) => ({ id: newId(), name: a.name, wireModels: { ...a.wireModels } })),
    strategy: { type: s?.type ?? "failover", windowMinutes: s?.windowMinutes ?? "", minRequests: s?.minRequests ?? "", explorationShare: s?.explorationShare ?? "" },
    allowCrossProvider: r?.allowCrossProvider ?? false,
    switchFamilyOnQuota: r?.switchFamilyOnQuota ?? true,
    orgKeyFallbackForCallerCredentials: r?.orgKeyFallbackForCallerCredentials ?? false,
  };
}

const number = (v: number | string) => (v === "" ? undefined : Number(v));

// inputOf puts the form's values over what the server has. What has its default
// is left out, so that a save of nothing changes nothing.
export function inputOf(v: RouteValues, before?: Route): RouteInput {
  const latency = v.strategy.type === "lowest-latency";
  const strategy = {
    type: v.strategy.type,
    ...(latency && number(v.strategy.windowMinutes) !== undefined ? { windowMinutes: number(v.strategy.windowMinutes) } : {}),
    ...(latency && number(v.strategy.minRequests) !== undefined ? { minRequests: number(v.strategy.minRequests) } : {}),
    ...(latency && number(v.strategy.explorationShare) !== undefined ? { explorationShare: number(v.strategy.explorationShare) } : {}),
  };
  return {
    ...before,
    kind: "Route",
    name: v.name.trim(),
    description: v.description || undefined,
    enabled: switched(v.enabled, before?.enabled),
    modelPatterns: v.modelPatterns,
    members: v.members.map((m) => {
      const old = before?.members.find((o) => o.provider === m.provider);
      return {
        provider: m.provider,
        weight: Number(m.weight) === 1 && old?.weight === undefined ? undefined : number(m.weight),
        priority: Number(m.priority) === 0 && old?.priority === undefined ? undefined : number(m.priority),
        fallbackOnly: m.fallbackOnly || (old?.fallbackOnly === undefined ? undefined : false),
      };
    }),
    aliases: v.aliases.length > 0 ? v.aliases.map((a) => ({ name: a.name.trim(), wireModels: wireModels(a, v.members) })) : undefined,
    strategy: strategy.type === "failover" && !before?.strategy ? undefined : strategy,
    allowCrossProvider: v.allowCrossProvider || (before?.allowCrossProvider === undefined ? undefined : false),
    switchFamilyOnQuota: switched(v.switchFamilyOnQuota, before?.switchFamilyOnQuota),
    orgKeyFallbackForCallerCredentials: v.orgKeyFallbackForCallerCredentials || (before?.orgKeyFallbackForCallerCredentials === undefined ? undefined : false),
  };
}

// switched is a switch that is on by default: on is left out where the server
// had nothing.
const switched = (on: boolean, before?: boolean) => (on && before === undefined ? undefined : on);

// wireModels are those of members that there are; an empty one is none.
function wireModels(a: AliasValues, members: MemberValues[]): Record<string, string> {
  return Object.fromEntries(members.flatMap((m) => (a.wireModels[m.provider]?.trim() ? [[m.provider, a.wireModels[m.provider]!.trim()]] : [])));
}

export const routeForm = defineForm({ of: routesOf, values: valuesOf, input: inputOf, shows: /^members$/ });

// startOf is the form of a new route: it needs a member.
export const startOf = (): RouteValues => ({ ...valuesOf(), members: [newMember()] });

// stateOf says whether a route has members that can serve.
export function stateOf(r: Route, t: (typeof strings)["en"]): { tone: Tone; text: string } {
  if (r.enabled === false) return { tone: "paused", text: t.off };
  const well = r.members.filter((m) => toneOfState(m.state) === "good").length;
  if (r.members.length === 0) return { tone: "neutral", text: t.noMember };
  if (well === r.members.length) return { tone: "good", text: wordOf("state", "healthy") };
  return { tone: well === 0 ? "bad" : "warning", text: t.healthy(well, r.members.length) };
}

// inOrder is what each member is sent, in the order of the members.
export function inOrder(wireModels: Record<string, string>, members: { provider: string }[]): [string, string][] {
  const place = (provider: string) => members.findIndex((m) => m.provider === provider);
  return Object.entries(wireModels).sort(([a], [b]) => place(a) - place(b));
}

// moved is the list with one item at another place.
export function moved<T>(list: T[], from: number, to: number): T[] {
  if (from === to || from < 0 || to < 0 || from >= list.length || to >= list.length) return list;
  const next = [...list];
  const [item] = next.splice(from, 1);
  next.splice(to, 0, item!);
  return next;
}
