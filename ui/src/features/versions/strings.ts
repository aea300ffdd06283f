import { defineStrings } from "../../i18n";

export const strings = defineStrings({
  en: {
    title: "Versions", intro: "Each change of the configuration makes a version that stays. Look at one, compare it, or go back to it.", label: "Configuration versions, newest first",
    version: "Version", time: "Time", actor: "By", summary: "What changed", inUse: "in use", number: (n: number) => `Version ${n}`,
    emptyTitle: "No versions yet", emptyText: "The first change makes version 1.",
    changed: "What it changed", against: "Compared with", compare: "Compare", newest: "the newest", previous: "the one before", sameAs: "There is no difference.",
    fromTo: (a: number, b: number) => `From version ${a} to version ${b}`,
    restore: "Restore this version", restoreTitle: (n: number) => `Restore version ${n}?`, restoreNew: (n: number) => `A new version, ${n}, is made that is like this one. This one, and those between, stay.`,
    restoreKeeps: "What a file owns, and keys that were revoked, stay as they are.", restoreNothing: "The configuration is like this version already.", restoreKey: (k: string) => `The key ${k} stops working.`, restoreAction: "Restore",
    restored: (n: number) => `Restored as version ${n}`, willChange: "What changes now", checking: "Checking…", holds: "Holds", objects: (n: number) => (n === 1 ? "1 object" : `${n} objects`),
  },
  sv: {
    title: "Versioner", intro: "Varje ändring av konfigurationen gör en version som finns kvar. Titta på en, jämför den, eller gå tillbaka till den.", label: "Konfigurationsversioner, nyaste först",
    version: "Version", time: "Tid", actor: "Av", summary: "Vad som ändrades", inUse: "används", number: (n) => `Version ${n}`,
    emptyTitle: "Inga versioner än", emptyText: "Den första ändringen gör version 1.",
    changed: "Vad den ändrade", against: "Jämförd med", compare: "Jämför", newest: "den nyaste", previous: "den före", sameAs: "Det finns ingen skillnad.",
    fromTo: (a, b) => `Från version ${a} till version ${b}`,
    restore: "Återställ den här versionen", restoreTitle: (n) => `Återställ version ${n}?`, restoreNew: (n) => `En ny version, ${n}, görs som är lik den här. Den här, och de däremellan, finns kvar.`,
    restoreKeeps: "Det som en fil äger, och nycklar som återkallats, förblir som de är.", restoreNothing: "Konfigurationen är redan som den här versionen.", restoreKey: (k) => `Nyckeln ${k} slutar fungera.`, restoreAction: "Återställ",
    restored: (n) => `Återställd som version ${n}`, willChange: "Vad som ändras nu", checking: "Kontrollerar…", holds: "Innehåller", objects: (n) => (n === 1 ? "1 objekt" : `${n} objekt`),
  },
});
