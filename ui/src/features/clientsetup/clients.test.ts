import { describe, expect, it } from "vitest";
import { clients, suits, testRequest, textOf } from "./clients";

const values = { base: "https://llm.example.com", key: "ilk_abc", model: "it's-a-model" };

describe("client set-up", () => {
  it.each(clients.map((c) => [c.name, c] as const))("%s has the address, the key and the model", (_, client) => {
    const all = client.snippets.map((s) => s.code(values)).join("\n");
    expect(all).toContain(values.base);
    expect(all).toContain(values.key);
    if (client.note !== "env" || client.snippets.length > 1) expect(all.replaceAll(`'\\''`, "'")).toContain(values.model);
  });
  it("keeps a quote inside what a shell is given", () => {
    const curl = clients.find((c) => c.id === "curl")!.snippets[0]!.code(values);
    expect(curl).toContain(`'{"model":"it'\\''s-a-model"`);
  });
  it("reads the answers of all three interfaces", () => {
    expect(textOf({ choices: [{ message: { content: "a" } }] })).toBe("a");
    expect(textOf({ content: [{ type: "text", text: "b" }] })).toBe("b");
    expect(textOf({ output: [{ type: "reasoning" }, { content: [{ text: "c" }] }] })).toBe("c");
    expect(textOf({})).toBe("");
  });
  it("asks for little", () => {
    expect(testRequest("messages", "m", "p")).toMatchObject({ path: "/v1/messages", body: { max_tokens: 64 } });
    expect(suits("messages", "claude-haiku-4-5")).toBe(true);
    expect(suits("messages", "gpt-5")).toBe(false);
  });
});
