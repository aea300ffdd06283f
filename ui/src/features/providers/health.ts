// What the state of a provider means, in words.
import type { Schemas } from "../../api/client";
import type { Tone } from "../../components/StatusBadge";
import { formatClock } from "../../i18n/format";
import { wordOf } from "../../i18n/words";
import type { strings } from "./strings";

export type ProviderHealth = Schemas["ProviderHealth"];
type Texts = (typeof strings)["en"];
export type State = { tone: Tone; text: string; why?: string; canRetry: boolean };

export function stateOf(h: ProviderHealth | undefined, enabled: boolean | undefined, drained: boolean | undefined, t: Texts): State {
  const rest = { canRetry: false };
  if (enabled === false) return { tone: "neutral", text: wordOf("state", "disabled"), ...rest };
  if (drained || h?.drained) return { tone: "paused", text: wordOf("state", "drained"), ...rest };
  if (!h) return { tone: "neutral", text: t.stateUnknown, ...rest };
  if (h.noKey) return { tone: "bad", text: wordOf("state", "no_key"), why: h.noKey, ...rest };
  const until = (time?: string) => (time ? ` ${t.until(formatClock(time, false))}` : "");
  if (h.park) {
    return { tone: "bad", text: (h.park.category ? wordOf("category", h.park.category) : wordOf("state", "parked")) + until(h.park.until), why: h.park.by ? t.parkedBy(h.park.by) : h.park.category === "quota_exhausted" ? t.parkText : t.category(wordOf("category", h.park.category)), canRetry: true };
  }
  if (h.breaker.state === "open") {
    return { tone: "bad", text: wordOf("breaker", "open") + until(h.breaker.until), why: join(t.openText(h.breaker.failures), h.breaker.category && t.category(wordOf("category", h.breaker.category))), canRetry: true };
  }
  if (h.breaker.state === "half_open" || h.probing) return { tone: "warning", text: wordOf("breaker", "half_open"), canRetry: true };
  const cooling = h.cooldowns[0];
  if (cooling) return { tone: "warning", text: wordOf("state", "cooling") + until(cooling.until), why: h.cooldowns.map((c) => t.coolText(c.wireModel)).join(" "), canRetry: true };
  if (h.recovering) return { tone: "warning", text: wordOf("state", "recovering"), why: h.limit ? t.limited(h.limit) : undefined, canRetry: true };
  return h.requests === 0 ? { tone: "neutral", text: t.stateIdle, ...rest } : { tone: "good", text: wordOf("state", "healthy"), ...rest };
}

function join(...parts: (string | undefined)[]): string {
  return parts.filter(Boolean).join(" ");
}

// losses says, route by route, what happens without this provider.
export function losses(name: string, routes: Schemas["RouteHealth"][], t: Texts): string[] {
  const lines = routes
    .filter((r) => r.members.some((m) => m.provider === name))
    .map((r) => {
      const others = r.members.filter((m) => m.provider !== name && m.healthy).map((m) => m.provider);
      return others.length === 0 ? t.losesAll(r.name) : t.losesOne(r.name, others.join(", "));
    });
  return lines.length > 0 ? lines : [t.losesNone];
}
