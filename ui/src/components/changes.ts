// Says in words what a change set does.
import type { Schemas } from "../api/client";
import type { common } from "../i18n/common";
import { wordOf, type Table } from "../i18n/words";

type Texts = (typeof common)["en"];
type Diff = Schemas["Diff"];

export function say(value: unknown): string {
  if (value === undefined || value === null || value === "") return "–";
  if (typeof value === "string") return value;
  if (typeof value === "boolean" || typeof value === "number") return String(value);
  return JSON.stringify(value);
}

// Fields whose values are codes, and where their words are.
const coded: Record<string, Table> = { "Key.type": "keyType", "Provider.type": "providerType", "Provider.wireFormat": "wireFormat", "Route.strategy.type": "strategy", "User.role": "role" };

// lines says each field of one object. labels are the names that a form gives
// its fields, by path without positions; others show their path.
export function lines(diff: Diff, labels: Record<string, string>, t: Texts): string[] {
  const fields = diff.fields ?? [];
  const said = (path: string, value: unknown) => (coded[`${diff.kind}.${path}`] && typeof value === "string" ? wordOf(coded[`${diff.kind}.${path}`]!, value) : say(value));
  // What lies below a field that has a name, such as a key of a map, follows it.
  const label = (path: string) => {
    const plain = path.replace(/\[\d+\]/g, "");
    for (let at = plain.length; at > 0; at = plain.lastIndexOf(".", at - 1)) {
      const name = labels[plain.slice(0, at)];
      if (name) return `${name}${plain.slice(at).replace(".", " ")}`;
    }
    return path;
  };
  if (diff.action === "create") {
    // A list is one line: nothing of it was there before.
    const whole = new Map<string, string[]>();
    for (const f of fields) {
      const path = f.path.replace(/\[\d+\]$/, "");
      whole.set(path, [...(whole.get(path) ?? []), said(path, f.after)]);
    }
    return [...whole].map(([path, values]) => t.isSet(label(path), values.join(", ")));
  }
  return fields.map((f) => {
    const before = f.before !== undefined && f.before !== null;
    const after = f.after !== undefined && f.after !== null;
    if (before && after) return t.isChanged(label(f.path), said(f.path, f.before), said(f.path, f.after));
    if (after) return diff.action === "update" ? t.isAdded(label(f.path), said(f.path, f.after)) : t.isSet(label(f.path), said(f.path, f.after));
    return t.isRemoved(label(f.path), said(f.path, f.before));
  });
}

export function heading(diff: Diff, t: Texts): string {
  const what = `${wordOf("kind", diff.kind)} ${diff.name}`;
  return diff.action === "create" ? t.actionCreate(what) : diff.action === "delete" ? t.actionDelete(what) : t.actionUpdate(what);
}
