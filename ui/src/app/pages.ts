// The registry of pages. Each folder of features has a page.ts that default
// exports definePage({...}): that one line puts it into the navigation, the
// command palette, the shortcuts and the router.
import type { ComponentType } from "react";
import type { Language, Strings } from "../i18n";

export type Group = "observe" | "routing" | "connect" | "manage";
export const groups: Group[] = ["observe", "routing", "connect", "manage"];

type Text = Record<Language, string>;

export type Found = { label: string; path: string };

export type PageDef = {
  id: string;
  group: Group;
  // The place in its group.
  order: number;
  icon: ComponentType<{ size?: number | string; stroke?: number | string }>;
  title: Text;
  // Other words that the command palette finds it by.
  keywords?: string;
  // The letter after g.
  shortcut?: string;
  // Where the navigation leads; without it the page is not in it.
  path?: string;
  routes: { path: string; load: () => Promise<{ default: ComponentType }> }[];
  // The kind of the objects that have their pages below path, and the names of
  // their fields.
  kind?: string;
  labels?: () => Promise<Strings<{ fields: Record<string, string> }>>;
  // Objects of this page with q in their text, for the command palette.
  find?: (q: string) => Promise<Found[]>;
  // What else the command palette offers, such as making a new one.
  commands?: { title: Text; path: string; admin?: boolean }[];
};

export function definePage(page: PageDef): PageDef {
  return page;
}

const found = import.meta.glob<{ default: PageDef }>("../features/*/page.ts", { eager: true });

export const pages: PageDef[] = Object.values(found)
  .map((m) => m.default)
  .sort((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group) || a.order - b.order);

// hasPage says if a page is part of this build: pages link to each other, and
// do not depend on each other.
export function hasPage(id: string): boolean {
  return pages.some((p) => p.id === id);
}

// hrefOf is the page of an object, if its kind has one.
export function hrefOf(kind: string, name: string): string | undefined {
  const page = pages.find((p) => p.kind === kind);
  return page?.path && `${page.path}/${encodeURIComponent(name)}`;
}
