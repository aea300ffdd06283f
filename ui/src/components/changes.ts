// Says in words what a change set does.
import type { Schemas } from "../api/client";
import type { common } from "../i18n/common";

type Texts = (typeof common)["en"];
type Diff = Schemas["Diff"];

export function say(value: unknown): string {
  if (value === undefined || value === null || value === "") return "–";
  if (typeof value === "string") return value;
  if (typeof value === "boolean" || typeof value === "number") return String(value);
  return JSON.stringify(value);
}

// lines says each field of one object. labels are the names that a form gives
// its fields, by path without positions; others show their path.
export function lines(diff: Diff, labels: Record<string, string>, t: Texts): string[] {
  return (diff.fields ?? []).map((f) => {
    const list = /\[\d+\]$/.test(f.path);
    const label = labels[f.path.replace(/\[\d+\]/g, "")] ?? f.path;
    const before = f.before !== undefined && f.before !== null;
    const after = f.after !== undefined && f.after !== null;
    if (before && after) return t.isChanged(label, say(f.before), say(f.after));
    if (after) return list || diff.action === "update" ? t.isAdded(label, say(f.after)) : t.isSet(label, say(f.after));
    return t.isRemoved(label, say(f.before));
  });
}

export function heading(diff: Diff, t: Texts): string {
  const what = `${diff.kind} ${diff.name}`;
  return diff.action === "create" ? t.actionCreate(what) : diff.action === "delete" ? t.actionDelete(what) : t.actionUpdate(what);
}
