import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { Problem } from "../api/problem";
import { show } from "../../test/render";
import { ConfirmDialog } from "./ConfirmDialog";

const base = { opened: true, title: "Revoke ci?", consequences: ["Requests are refused."], action: "Revoke" };

describe("ConfirmDialog", () => {
  it("says what breaks, and asks for the name", async () => {
    const onConfirm = vi.fn().mockResolvedValue(undefined);
    const onClose = vi.fn();
    show(<ConfirmDialog {...base} typeName="ci" onConfirm={onConfirm} onClose={onClose} />);
    expect(screen.getByText("Requests are refused.")).toBeVisible();
    expect(screen.getByRole("button", { name: "Revoke" })).toBeDisabled();
    await userEvent.type(screen.getByLabelText("Type ci to confirm"), "ci{Enter}");
    expect(onConfirm).toHaveBeenCalledOnce();
    expect(onClose).toHaveBeenCalledOnce();
  });
  it("stays open with the server's words", async () => {
    const onClose = vi.fn();
    show(<ConfirmDialog {...base} onClose={onClose} onConfirm={() => Promise.reject(new Problem({ status: 409, code: "in_use", detail: "route gpt uses it" }))} />);
    await userEvent.click(screen.getByRole("button", { name: "Revoke" }));
    expect(await screen.findByRole("alert")).toHaveTextContent("route gpt uses it");
    expect(onClose).not.toHaveBeenCalled();
  });
});
