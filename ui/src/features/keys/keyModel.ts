import type { Schemas } from "../../api/client";
import type { SecretValue } from "../../components/SecretField";
import { formatRelative } from "../../i18n/format";
import { collection } from "../../objects/collection";
import { defineForm } from "../../objects/form";
import type { Tone } from "../../components/StatusBadge";
import type { strings } from "./strings";

export type Key = Schemas["Key"];
export type KeyInput = Schemas["KeyInput"];
type Texts = (typeof strings)["en"];

export const keysOf = collection("/keys");

export const ownerKinds = ["user", "team", "department"] as const;
export type OwnerKind = (typeof ownerKinds)[number] | "none";

export type KeyValues = {
  name: string;
  type: Key["type"];
  enabled: boolean;
  ownerKind: OwnerKind;
  owner: { user: string; team: string; department: string };
  team: string;
  expiresAt: string;
  allowedProviders: string[];
  allowedResidencies: string[];
  dataHandling: { zeroDataRetention: boolean; noPromptTraining: boolean; jurisdiction: string };
  providerCredential: { provider: string; apiKey: SecretValue };
};

export function valuesOf(key?: Key): KeyValues {
  return {
    name: key?.name ?? "",
    type: key?.type ?? "service",
    enabled: key?.enabled ?? true,
    ownerKind: ownerKinds.find((k) => key?.owner?.[k]) ?? "none",
    owner: { user: key?.owner?.user ?? "", team: key?.owner?.team ?? "", department: key?.owner?.department ?? "" },
    team: key?.team ?? "",
    expiresAt: key?.expiresAt ? localInput(key.expiresAt) : "",
    allowedProviders: key?.allowedProviders ?? [],
    allowedResidencies: key?.allowedResidencies ?? [],
    dataHandling: {
      zeroDataRetention: key?.dataHandling?.zeroDataRetention ?? false,
      noPromptTraining: key?.dataHandling?.noPromptTraining ?? false,
      jurisdiction: key?.dataHandling?.jurisdiction ?? "",
    },
    providerCredential: { provider: key?.providerCredential?.provider ?? "", apiKey: undefined },
  };
}

// localInput is a time as the field datetime-local has it.
function localInput(time: string): string {
  const d = new Date(time);
  return new Date(d.getTime() - d.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

// inputOf puts the form's values over what the server has, so that fields that
// the form does not know stay as they are.
export function inputOf(values: KeyValues, before?: Key): KeyInput {
  const { dataHandling: h, providerCredential: c } = values;
  const handling = {
    ...(h.zeroDataRetention ? { zeroDataRetention: true } : {}),
    ...(h.noPromptTraining ? { noPromptTraining: true } : {}),
    ...(h.jurisdiction ? { jurisdiction: h.jurisdiction } : {}),
  };
  const credential = values.type === "virtual" && c.provider ? { provider: c.provider, ...(c.apiKey ? { apiKey: c.apiKey } : {}) } : undefined;
  return {
    ...before,
    name: values.name.trim(),
    type: values.type,
    enabled: values.enabled,
    owner: values.ownerKind === "none" ? undefined : { [values.ownerKind]: values.owner[values.ownerKind] },
    team: values.team || undefined,
    expiresAt: values.expiresAt ? new Date(values.expiresAt).toISOString() : undefined,
    allowedProviders: values.allowedProviders.length > 0 ? values.allowedProviders : undefined,
    allowedResidencies: values.allowedResidencies.length > 0 ? values.allowedResidencies : undefined,
    dataHandling: Object.keys(handling).length > 0 ? handling : undefined,
    providerCredential: credential as KeyInput["providerCredential"],
  };
}

export const keyForm = defineForm({ of: keysOf, values: valuesOf, input: inputOf, shows: /^providerCredential/ });

// stateOf says what becomes of a request with the key now.
export function stateOf(key: Key, t: Texts, now = Date.now()): { tone: Tone; text: string } {
  const past = (time?: string) => time !== undefined && new Date(time).getTime() <= now;
  if (past(key.endsAt)) return { tone: "neutral", text: t.ended };
  if (past(key.expiresAt)) return { tone: "bad", text: t.expired };
  if (key.enabled === false) return { tone: "paused", text: t.off };
  if (key.active === false) return { tone: "bad", text: t.inert };
  if (key.endsAt) return { tone: "warning", text: t.endsSoon(formatRelative(key.endsAt, now)) };
  return { tone: "good", text: t.active };
}

export function ownerOf(key: Key): string {
  return key.owner?.user ?? key.owner?.team ?? key.owner?.department ?? key.owner?.workload ?? "";
}
