// Texts are plain objects, one file per folder, in both languages. The type of
// the English one is the type of the other: a missing key does not compile.
// A text with values in it is a function.
import { useSyncExternalStore } from "react";

export type Language = "en" | "sv";
export const languages: { value: Language; label: string }[] = [
  { value: "en", label: "English" },
  { value: "sv", label: "Svenska" },
];

type Texts<T> = {
  [K in keyof T]: T[K] extends string ? string : T[K] extends (...args: infer A) => string ? (...args: A) => string : Texts<T[K]>;
};
export type Strings<T> = Record<Language, Texts<T>>;

export function defineStrings<T extends object>(texts: { en: T; sv: Texts<T> }): Strings<T> {
  return texts as Strings<T>;
}

const key = "interlock-language";
const listeners = new Set<() => void>();
let current: Language = document.documentElement.lang === "sv" ? "sv" : "en";

export function language(): Language {
  return current;
}

export function setLanguage(next: Language): void {
  current = next;
  document.documentElement.lang = next;
  try {
    localStorage.setItem(key, next);
  } catch {
    // It holds for this page then.
  }
  listeners.forEach((l) => l());
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useLanguage(): Language {
  return useSyncExternalStore(subscribe, language);
}

export function useStrings<T>(strings: Strings<T>): Texts<T> {
  return strings[useLanguage()];
}
