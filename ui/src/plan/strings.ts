import { defineStrings } from "../i18n";

export const strings = defineStrings({
  en: {
    diagram: "Where the request goes", diagramPast: "Where the request went", trace: "Why", traceLabel: "The steps of the decision",
    model: "Model", route: "Route", members: "Members, in the order they are tried", excluded: "Left out",
    noRoute: "No route", refused: "Refused", notBuilt: "The decision can't be shown again",
    servedAs: (wire: string) => `sent as ${wire}`, alias: "an alias of the route",
    stage: "Stage", code: "Finding", subject: "About", detail: "Detail",
    until: (t: string) => `until ${t}`,
    fallbackKey: "the organisation's key, after the caller's own failed",
    tried: (n: number) => `Tried ${n}`, answered: "answered", failed: (category: string) => `failed: ${category.toLowerCase()}`, notReached: "Not reached", wasSkipped: "Skipped",
    retry: "the client may repeat it", status: (s: number) => `HTTP ${s}`,
    revision: (n: number) => `configuration version ${n}`,
    asText: "The same as text",
    onlyOne: "No failover: only the first is tried",
  },
  sv: {
    diagram: "Vart anropet går", diagramPast: "Vart anropet gick", trace: "Varför", traceLabel: "Beslutets steg",
    model: "Modell", route: "Rutt", members: "Medlemmar, i den ordning de provas", excluded: "Utelämnade",
    noRoute: "Ingen rutt", refused: "Nekad", notBuilt: "Beslutet går inte att visa igen",
    servedAs: (wire) => `skickas som ${wire}`, alias: "ett alias för rutten",
    stage: "Steg", code: "Fynd", subject: "Om", detail: "Detalj",
    until: (t) => `till ${t}`,
    fallbackKey: "organisationens nyckel, efter att anroparens egen misslyckats",
    tried: (n) => `Försök ${n}`, answered: "svarade", failed: (category) => `misslyckades: ${category.toLowerCase()}`, notReached: "Nåddes inte", wasSkipped: "Hoppades över",
    retry: "klienten får försöka igen", status: (s) => `HTTP ${s}`,
    revision: (n) => `konfigurationsversion ${n}`,
    asText: "Samma sak som text",
    onlyOne: "Ingen omkoppling: bara den första provas",
  },
});
