import type { Schemas } from "../../api/client";
import type { SecretValue } from "../../components/SecretField";
import { collection } from "../../objects/collection";
import { defineForm } from "../../objects/form";
import type { Vendor } from "./vendors";

export type Provider = Schemas["Provider"];
export type ProviderInput = Schemas["ProviderInput"];
export const providersOf = collection("/providers");

type Pair = { key: string; value: string };
const times = ["connectMs", "responseHeaderMs", "streamIdleMs", "totalMs"] as const;
export type TimeName = (typeof times)[number];
export const timeNames: readonly TimeName[] = times;

export type ProviderValues = {
  name: string;
  type: Provider["type"];
  vendor: string;
  wireFormat: Provider["wireFormat"] | "";
  baseUrl: string;
  apiKey: SecretValue;
  residency: string;
  enabled: boolean;
  modelPatterns: string[];
  staticModels: string[];
  modelAliases: Pair[];
  contextWindows: Pair[];
  headers: Pair[];
  dataHandling: { zeroDataRetention: boolean; noPromptTraining: boolean; jurisdiction: string };
  timeouts: Record<TimeName, number | "">;
  openai: { organization: string; project: string };
  proxyUrl: string;
  caFile: string;
  http2: boolean;
  allowInsecure: boolean;
};

const pairs = (map?: Record<string, string | number>): Pair[] => Object.entries(map ?? {}).map(([key, value]) => ({ key, value: String(value) }));

export function valuesOf(p: Partial<Provider> = {}): ProviderValues {
  const h = p.dataHandling;
  return {
    name: p.name ?? "",
    type: p.type ?? "openai-compatible",
    vendor: p.vendor ?? "",
    wireFormat: p.wireFormat ?? "",
    baseUrl: p.baseUrl ?? "",
    apiKey: undefined,
    residency: p.residency ?? "global",
    enabled: p.enabled ?? true,
    modelPatterns: p.modelPatterns ?? [],
    staticModels: p.staticModels ?? [],
    modelAliases: pairs(p.modelAliases),
    contextWindows: pairs(p.contextWindows),
    headers: pairs(p.headers),
    dataHandling: { zeroDataRetention: h?.zeroDataRetention ?? false, noPromptTraining: h?.noPromptTraining ?? false, jurisdiction: h?.jurisdiction ?? "" },
    timeouts: Object.fromEntries(times.map((n) => [n, p.timeouts?.[n] ?? ""])) as Record<TimeName, number | "">,
    openai: { organization: p.openai?.organization ?? "", project: p.openai?.project ?? "" },
    proxyUrl: p.proxyUrl ?? "",
    caFile: p.caFile ?? "",
    http2: p.http2 ?? false,
    allowInsecure: p.allowInsecure ?? false,
  };
}

// startOf is the form of a new provider of a vendor.
export function startOf(v: Vendor): ProviderValues {
  return valuesOf({ name: v.id === "compatible" ? "" : v.id, type: v.type, vendor: v.vendor, baseUrl: v.needsUrl ? (v.baseUrl ?? "") : "", residency: v.residency ?? "global" });
}

const some = <T extends object>(o: T): T | undefined => (Object.keys(o).length > 0 ? o : undefined);
const list = (items: string[]) => (items.length > 0 ? items : undefined);
const map = (items: Pair[]) => some(Object.fromEntries(items.filter((i) => i.key.trim() !== "").map((i) => [i.key.trim(), i.value])));
const numbers = (items: Pair[]) => some(Object.fromEntries(items.filter((i) => i.key.trim() !== "").map((i) => [i.key.trim(), Number(i.value)])));

export function inputOf(v: ProviderValues, before?: Provider): ProviderInput {
  const { dataHandling: h, openai: o } = v;
  return {
    ...before,
    name: v.name.trim(),
    type: v.type,
    vendor: v.vendor || undefined,
    wireFormat: v.wireFormat || undefined,
    baseUrl: v.baseUrl.trim() || undefined,
    ...(v.apiKey === undefined ? {} : { apiKey: v.apiKey }),
    residency: v.residency || undefined,
    enabled: v.enabled,
    modelPatterns: list(v.modelPatterns),
    staticModels: list(v.staticModels),
    modelAliases: map(v.modelAliases),
    contextWindows: numbers(v.contextWindows),
    headers: map(v.headers),
    dataHandling: some({
      ...(h.zeroDataRetention ? { zeroDataRetention: true } : {}),
      ...(h.noPromptTraining ? { noPromptTraining: true } : {}),
      ...(h.jurisdiction ? { jurisdiction: h.jurisdiction } : {}),
    }),
    timeouts: some(Object.fromEntries(times.filter((n) => v.timeouts[n] !== "").map((n) => [n, v.timeouts[n] as number]))),
    openai: v.type === "openai" ? some({ ...(o.organization ? { organization: o.organization } : {}), ...(o.project ? { project: o.project } : {}) }) : before?.openai,
    proxyUrl: v.proxyUrl || undefined,
    caFile: v.caFile || undefined,
    http2: v.http2 || undefined,
    allowInsecure: v.allowInsecure || undefined,
  };
}

export const providerForm = defineForm({ of: providersOf, values: valuesOf, input: inputOf, shows: /^(apiKey|modelAliases|headers|contextWindows|wireFormat)$/ });
