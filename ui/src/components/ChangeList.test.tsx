import { screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { show } from "../../test/render";
import { ChangeList } from "./ChangeList";

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
