// What the state of a provider means, in words.
import type { Schemas } from "../../api/client";
import type { Tone } from "../../components/StatusBadge";
import { formatClock } from "../../i18n/format";
import type { strings } from "./strings";

export type ProviderHealth = Schemas["ProviderHealth"];
type Texts = (typeof strings)["en"];
export type State = { tone: Tone; text: string; why?: string; canRetry: boolean };

export function stateOf(h: ProviderHealth | undefined, enabled: boolean | undefined, drained: boolean | undefined, t: Texts): State {
  const s = t.states;
  const rest = { canRetry: false };
  if (enabled === false) return { tone: "neutral", text: s.disabled, ...rest };
  if (drained || h?.drained) return { tone: "paused", text: s.drained, ...rest };
  if (!h) return { tone: "neutral", text: s.unknown, ...rest };
  if (h.noKey) return { tone: "bad", text: s.noKey, why: h.noKey, ...rest };
  const until = (time?: string) => (time ? ` ${t.until(formatClock(time, false))}` : "");
  if (h.park) {
    return { tone: "bad", text: s.parked + until(h.park.until), why: h.park.by ? t.parkedBy(h.park.by) : join(t.parkText, h.park.category && t.category(h.park.category)), canRetry: true };
  }
  if (h.breaker.state === "open") {
    return { tone: "bad", text: s.open + until(h.breaker.until), why: join(t.openText(h.breaker.failures), h.breaker.category && t.category(h.breaker.category)), canRetry: true };
  }
  if (h.breaker.state === "half_open" || h.probing) return { tone: "warning", text: s.half, canRetry: true };
  const cooling = h.cooldowns[0];
  if (cooling) return { tone: "warning", text: s.cooling + until(cooling.until), why: h.cooldowns.map((c) => t.coolText(c.wireModel)).join(" "), canRetry: true };
  if (h.recovering) return { tone: "warning", text: s.recovering, why: h.limit ? t.limited(h.limit) : undefined, canRetry: true };
  return h.requests === 0 ? { tone: "neutral", text: s.idle, ...rest } : { tone: "good", text: s.healthy, ...rest };
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
