// The words for the codes of the API: states, categories of failures, findings
// of a decision, and so on. words.test.ts fails when the API document has a code
// that is not here.
import type { Schemas } from "../api/client";
import type { Tone } from "../components/StatusBadge";
import { defineStrings, language, useLanguage } from "./index";

type Code<S extends keyof Schemas, F extends keyof Schemas[S]> = Extract<NonNullable<Schemas[S][F]>, string>;
type Words<E extends string> = Record<E, string>;

const en = {
  kind: { Department: "Department", Key: "Key", Model: "Model", Provider: "Provider", Route: "Route", Settings: "Settings", Team: "Team", User: "User" },
  state: {
    healthy: "Healthy", recovering: "Recovering", cooling: "Rate limited", circuit_open: "Kept out after failures", parked: "Parked", no_key: "Key can't be read", drained: "Drained", disabled: "Not in use",
  } satisfies Words<Code<"Member", "state">>,
  breaker: { closed: "Healthy", open: "Kept out after failures", half_open: "Being probed" } satisfies Words<Code<"BreakerState", "state">>,
  // Also causes of a state: an operator is no failure.
  category: {
    connection: "Not reachable", timeout: "Too slow", server_error: "Server error", overloaded: "Overloaded", rate_limit: "Rate limit", quota_exhausted: "Quota used up",
    auth: "Credential refused", model_unavailable: "Model not available", request_error: "Request refused", content_filter: "Content filter", canceled: "Client left", operator: "An operator",
  } satisfies Words<Code<"MemberHealth", "cause">>,
  outcome: { allow: "Answered", deny: "Refused", error: "Failed", canceled: "Client left" } satisfies Words<Code<"AuditEvent", "outcome">>,
  credential: { own: "Organisation's key", caller: "Caller's own credential", virtual: "Virtual key's credential" } satisfies Words<Code<"PlanCandidate", "credential">>,
  credentialMode: { "org-key": "Organisation's key", passthrough: "Caller's own credential" } satisfies Words<Code<"Provider", "credentialMode">>,
  strategy: {
    failover: "Failover", weighted: "Weighted", "round-robin": "Round robin", "lowest-cost": "Lowest cost", "lowest-latency": "Lowest latency", "least-loaded": "Least loaded",
  } satisfies Words<Code<"PlanCandidate", "strategy">>,
  stage: { route: "Route", member: "Member", state: "Health", strategy: "Order", refusal: "Refusal" } satisfies Words<Code<"PlanStep", "stage">>,
  tag: { stored: "Stored", implicit: "Implicit", reserved: "Reserved" } satisfies Words<Code<"Route", "tag">>,
  keyType: { pat: "Personal", service: "Service", virtual: "Virtual", session: "Session" } satisfies Words<Code<"Key", "type">>,
  providerType: {
    anthropic: "Anthropic", openai: "OpenAI", "azure-openai": "Azure OpenAI", "azure-foundry": "Azure AI Foundry", vertex: "Google Vertex AI", gemini: "Google Gemini", bedrock: "Amazon Bedrock",
    "openai-compatible": "OpenAI-compatible", chatgpt: "ChatGPT", "github-copilot": "GitHub Copilot",
  } satisfies Words<Code<"Provider", "type">>,
  wireFormat: { "openai-chat": "Chat Completions", "openai-responses": "Responses", "anthropic-messages": "Anthropic Messages" } satisfies Words<Code<"Provider", "wireFormat">>,
  role: { "gateway-admin": "Administrator", viewer: "Viewer" } satisfies Words<Code<"Me", "role">>,
  via: { password: "password", oidc: "single sign-on", token: "token" } satisfies Words<Code<"Me", "via">>,
};

const sv: typeof en = {
  // With its article: what follows is a name.
  kind: { Department: "Avdelningen", Key: "Nyckeln", Model: "Modellen", Provider: "Leverantören", Route: "Rutten", Settings: "Inställningarna", Team: "Teamet", User: "Användaren" },
  state: {
    healthy: "Frisk", recovering: "Återhämtar sig", cooling: "Hastighetsgräns", circuit_open: "Utestängd efter fel", parked: "Parkerad", no_key: "Nyckeln går inte att läsa", drained: "Tömd", disabled: "Inte i bruk",
  },
  breaker: { closed: "Frisk", open: "Utestängd efter fel", half_open: "Prövas" },
  category: {
    connection: "Går inte att nå", timeout: "För långsam", server_error: "Serverfel", overloaded: "Överbelastad", rate_limit: "Hastighetsgräns", quota_exhausted: "Kvoten slut",
    auth: "Nyckeln nekades", model_unavailable: "Modellen finns inte där", request_error: "Anropet nekades", content_filter: "Innehållsfilter", canceled: "Klienten gick", operator: "En administratör",
  },
  outcome: { allow: "Besvarat", deny: "Nekat", error: "Misslyckat", canceled: "Klienten gick" },
  credential: { own: "Organisationens nyckel", caller: "Anroparens egen nyckel", virtual: "Den virtuella nyckelns" },
  credentialMode: { "org-key": "Organisationens nyckel", passthrough: "Anroparens egen nyckel" },
  strategy: {
    failover: "I ordning", weighted: "Viktad", "round-robin": "I tur", "lowest-cost": "Lägst kostnad", "lowest-latency": "Kortast svarstid", "least-loaded": "Minst belastad",
  },
  stage: { route: "Rutt", member: "Medlem", state: "Hälsa", strategy: "Ordning", refusal: "Nekande" },
  tag: { stored: "Sparad", implicit: "Underförstådd", reserved: "Reserverad" },
  keyType: { pat: "Personlig", service: "Tjänst", virtual: "Virtuell", session: "Session" },
  providerType: { ...en.providerType, "openai-compatible": "OpenAI-kompatibel" },
  wireFormat: en.wireFormat,
  role: { "gateway-admin": "Administratör", viewer: "Läsare" },
  via: { password: "lösenord", oidc: "enkel inloggning", token: "token" },
};

// What a step of a decision found: how the route was picked, why a member can't
// serve, a state, what ordered the members, or the code that the client gets.
type Own = Exclude<Code<"PlanStep", "code">, Code<"Member", "state"> | Code<"PlanCandidate", "strategy">> | "drained";
const found = {
  en: {
    picked: "Its pattern fits best", "picked-by-alias": "The name is an alias", "picked-by-family": "The model's family decides", "picked-family": "The family's own route", "picked-implicit": "The provider's own route",
    "credential-mode": "Other credential", "no-key": "Key can't be read", "wire-format": "Other interface", family: "Other family", "no-wire-model": "Not in the alias", "provider-not-allowed": "Not allowed by the key",
    residency: "Region not allowed", "data-handling": "Lacks a promise", drained: "Drained", "context-window": "Prompt too long", "other-model": "Serves another model", "global-passthrough": "Takes the caller's credential",
    NO_ROUTE: "No route", NO_UPSTREAM_KEY: "No key for a provider", UPSTREAM_AMBIGUOUS: "Two routes fit alike", context_length_exceeded: "Prompt too long for all", model_not_found: "No such model",
    model_not_supported: "Not served like this", no_eligible_provider: "No member may serve it",
  } satisfies Words<Own>,
  sv: {
    picked: "Dess mönster passar bäst", "picked-by-alias": "Namnet är ett alias", "picked-by-family": "Modellens familj avgör", "picked-family": "Familjens egen rutt", "picked-implicit": "Leverantörens egen rutt",
    "credential-mode": "Annan behörighet", "no-key": "Nyckeln kan inte läsas", "wire-format": "Annat gränssnitt", family: "Annan familj", "no-wire-model": "Saknas i aliaset", "provider-not-allowed": "Inte tillåten av nyckeln",
    residency: "Regionen är inte tillåten", "data-handling": "Saknar ett löfte", drained: "Tömd", "context-window": "För lång prompt", "other-model": "Har en annan modell", "global-passthrough": "Tar anroparens nyckel",
    NO_ROUTE: "Ingen rutt", NO_UPSTREAM_KEY: "Ingen nyckel till en leverantör", UPSTREAM_AMBIGUOUS: "Två rutter passar lika bra", context_length_exceeded: "För lång prompt för alla", model_not_found: "Ingen sådan modell",
    model_not_supported: "Serveras inte så här", no_eligible_provider: "Ingen medlem får ta det",
  } satisfies Words<Own>,
};

export const words = defineStrings({
  en: { ...en, finding: { ...en.state, ...en.strategy, ...found.en } },
  sv: { ...sv, finding: { ...sv.state, ...sv.strategy, ...found.sv } },
});

export type Table = keyof (typeof words)["en"];

// wordOf says a code. One that only a newer server knows is said as it is.
export function wordOf(table: Table, code?: string): string {
  return code === undefined ? "" : ((words[language()][table] as Record<string, string>)[code] ?? code);
}

// useWord is wordOf for a component, which is drawn again in another language.
export function useWord(): typeof wordOf {
  useLanguage();
  return wordOf;
}

// toneOfState goes with the words of states.
export function toneOfState(state: string | undefined): Tone {
  switch (state) {
    case "healthy":
    case undefined:
      return "good";
    case "circuit_open":
    case "no_key":
      return "bad";
    case "parked":
    case "drained":
    case "disabled":
      return "paused";
    default:
      return "warning";
  }
}

export const toneOfOutcome = (outcome?: string): Tone => (outcome === "allow" ? "good" : outcome === "deny" ? "warning" : outcome === "canceled" ? "neutral" : "bad");
