import { describe, expect, it } from "vitest";
import type { Language } from "./index";

type Tree = { [key: string]: Tree | string | ((...args: never[]) => string) };
const files = import.meta.glob<Record<string, Record<Language, Tree>>>(["../**/strings.ts", "./common.ts"], { eager: true });

const keys = (tree: Tree, at = ""): string[] =>
  Object.entries(tree).flatMap(([k, v]) => (typeof v === "object" ? keys(v, `${at}${k}.`) : [`${at}${k}${typeof v === "function" ? `(${v.length})` : ""}`]));

describe.each(Object.entries(files))("%s", (_, exports) => {
  it("has every text in both languages, and none is empty", () => {
    for (const strings of Object.values(exports)) {
      if (!strings?.en || !strings.sv) continue;
      expect(keys(strings.sv).sort()).toEqual(keys(strings.en).sort());
      expect(JSON.stringify(strings)).not.toContain(':""');
    }
  });
});
