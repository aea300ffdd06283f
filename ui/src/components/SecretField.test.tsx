import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { describe, expect, it, vi } from "vitest";
import { show } from "../../test/render";
import { SecretField, type SecretValue } from "./SecretField";

function Field({ stored, onChange }: { stored: boolean; onChange: (v: SecretValue) => void }) {
  const [value, setValue] = useState<SecretValue>(undefined);
  return (
    <SecretField
      label="API key" stored={stored} last4="a1b2" value={value}
      onChange={(v) => {
        setValue(v);
        onChange(v);
      }}
    />
  );
}

describe("SecretField", () => {
  it("never shows what is stored, and says nothing if it is not touched", () => {
    const onChange = vi.fn();
    show(<Field stored onChange={onChange} />);
    expect(screen.getByText(/ends with a1b2/)).toBeVisible();
    expect(screen.queryByLabelText("API key", { selector: "input" })).toBeNull();
    expect(onChange).not.toHaveBeenCalled();
  });
  it("sends what is typed, and nothing again if the stored one is kept", async () => {
    const onChange = vi.fn();
    show(<Field stored onChange={onChange} />);
    await userEvent.click(screen.getByRole("button", { name: "Replace" }));
    await userEvent.type(screen.getByLabelText("API key", { selector: "input" }), "env:KEY");
    expect(onChange).toHaveBeenLastCalledWith("env:KEY");
    await userEvent.click(screen.getByRole("button", { name: "Keep the stored one" }));
    expect(onChange).toHaveBeenLastCalledWith(undefined);
  });
  it("removes with null", async () => {
    const onChange = vi.fn();
    show(<Field stored onChange={onChange} />);
    await userEvent.click(screen.getByRole("button", { name: "Remove" }));
    expect(onChange).toHaveBeenLastCalledWith(null);
    expect(screen.getByText("Will be removed when you save")).toBeVisible();
  });
});
