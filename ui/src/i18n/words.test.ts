import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { strings as overview } from "../features/overview/strings";
import { strings as test } from "../features/test/strings";
import type { Language } from "./index";
import { words, type Table } from "./words";

// enumsOf reads the fields of the document that have a fixed choice, by schema
// and field, from lines like these (the document is generated, its form fixed):
//     Member:
//       properties:
//         state:
//           enum:
//             - healthy
function enumsOf(yaml: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const schemas = yaml.slice(yaml.search(/^ {2}schemas:$/m));
  let schema = "";
  let field = "";
  let values: string[] | undefined;
  for (const line of schemas.split("\n").slice(1)) {
    if (/^ {0,2}\S/.test(line)) break;
    const item = /^ {12}- "?(.+?)"?$/.exec(line);
    if (values && item) values.push(item[1]!);
    else {
      values = undefined;
      schema = /^ {4}([\w-]+):$/.exec(line)?.[1] ?? schema;
      field = /^ {8}([\w-]+):$/.exec(line)?.[1] ?? field;
      if (/^ {10}enum:$/.test(line)) found.set(`${schema}.${field}`, (values = []));
    }
  }
  return found;
}

// Where the words of a field are: by its name, or by its schema and name.
const shownIn: Record<string, Table> = {
  kind: "kind", "Member.state": "state", "MemberHealth.state": "state", "PlanCandidate.state": "state", skipReason: "state", "BreakerState.state": "breaker",
  category: "category", cause: "category", outcome: "outcome", credential: "credential", credentialMode: "credentialMode", strategy: "strategy",
  stage: "stage", code: "finding", tag: "tag", "Key.type": "keyType", "KeyInput.type": "keyType", "NewKey.type": "keyType", "Provider.type": "providerType", "ProviderInput.type": "providerType",
  wireFormat: "wireFormat", role: "role", via: "via",
};
const elsewhere: Record<string, Record<Language, object>> = {
  "DryRunAfter.action": { en: test.en.action, sv: test.sv.action },
  "Stats.window": { en: overview.en.windows, sv: overview.sv.windows },
};
const notShown: Record<string, string> = {
  managedBy: "ObjectNotes says it in a sentence",
  "Diff.action": "ChangeList says it in a sentence",
  "LiveHealth.event": "an event makes pages ask again",
  "LiveHealth.breaker": "an event makes pages ask again",
  pii: "no page has it yet", piiDefault: "no page has it yet", onLoss: "no page has it yet", modality: "no page has it yet",
};

const enums = enumsOf(readFileSync(join(import.meta.dirname, "../../../api/openapi.yaml"), "utf8"));

describe("the words for codes", () => {
  it("are looked for in a document that has some", () => {
    expect(enums.get("Member.state")).toContain("circuit_open");
    expect(enums.size).toBeGreaterThan(40);
  });
  it.each([...enums])("%s has a word for each code, in both languages", (name, codes) => {
    const field = name.split(".")[1]!;
    if (name in notShown || field in notShown) return;
    const table = shownIn[name] ?? shownIn[field];
    const by = elsewhere[name] ?? (table && { en: words.en[table], sv: words.sv[table] });
    if (!by) throw new Error(`${name} is new in the API: say where its words are, or why it needs none (${codes.join(", ")})`);
    for (const language of ["en", "sv"] as const) expect(codes.filter((code) => !(code in by[language])), language).toEqual([]);
  });
  it("are not there for what the document no longer has", () => {
    for (const name of [...Object.keys(shownIn), ...Object.keys(notShown), ...Object.keys(elsewhere)]) {
      expect([...enums.keys()].some((k) => k === name || k.endsWith(`.${name}`)), name).toBe(true);
    }
  });
});
