import { screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { show } from "../../test/render";
import { common } from "../i18n/common";
import { ChangeList } from "./ChangeList";
import { lines } from "./changes";

describe("ChangeList", () => {
  it("says in words what a save does", () => {
    show(
      <ChangeList
        labels={{ team: "Team", allowedProviders: "Providers" }}
        changes={{
          revision: 7,
          warnings: ["x has no effect"],
          changes: [{ kind: "Key", name: "ci", action: "update", fields: [{ path: "team", before: "a", after: "b" }, { path: "allowedProviders[0]", after: "eu" }, { path: "labels.x", before: "1" }] }],
        }}
      />,
    );
    expect(screen.getByRole("heading", { name: "Key ci changes" })).toBeVisible();
    expect(screen.getByText("Team: a becomes b")).toBeVisible();
    expect(screen.getByText("Providers: adds eu")).toBeVisible();
    expect(screen.getByText("labels.x: removes 1")).toBeVisible();
    expect(screen.getByText("x has no effect")).toBeVisible();
    expect(screen.getByText(/configuration version 7/)).toBeVisible();
  });
  it("says when there is nothing to save", () => {
    show(<ChangeList changes={{ revision: 1, changes: [] }} />);
    expect(screen.getByText(/Nothing changes/)).toBeVisible();
  });
});

describe("lines", () => {
  const t = common.en;
  const route = (action: "create" | "update", fields: { path: string; before?: unknown; after?: unknown }[]) => lines({ kind: "Route", name: "gpt", action, fields }, { modelPatterns: "Models", "aliases.wireModels": "Model at" }, t);
  it("is one line for a list that is new, and has words for codes", () => {
    expect(route("create", [{ path: "modelPatterns[0]", after: "a" }, { path: "modelPatterns[1]", after: "b" }, { path: "strategy.type", after: "round-robin" }])).toEqual(["Models: a, b", "strategy.type: Round robin"]);
  });
  it("names what lies below a field by the field", () => {
    expect(route("update", [{ path: "aliases[0].wireModels.eu.west", before: "x", after: "y" }])).toEqual(["Model at eu.west: x becomes y"]);
  });
});
