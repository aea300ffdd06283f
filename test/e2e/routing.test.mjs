// UI, BY-1: what a person comes for, page by page.
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { accessible, ask, fake, launch, open, startServer } from "./harness.mjs";

let browser, server, page;
before(async () => {
  [browser, server] = await Promise.all([launch(), startServer()]);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});
beforeEach(async () => {
  page = await open(browser, server);
});
afterEach(async () => {
  await page.context().close();
  assert.deepEqual(page.problems, []);
});

// chat is a request, and who served it.
async function chat(model) {
  const answer = await ask(server, model);
  await answer.text();
  return { status: answer.status, id: answer.headers.get("x-interlock-request-id"), provider: answer.headers.get("x-interlock-provider") };
}

// failed asks while the external provider answers 503.
async function failed(model) {
  await fake(server.fakes[0], "rules", [{ path: "chat/completions", action: "status", status: 503 }]);
  const made = await chat(model);
  await fake(server.fakes[0], "reset");
  return made;
}

const go = (path) => page.goto(`/console${path}`);
const heading = (name) => page.getByRole("heading", { level: 1, name }).waitFor();

test("UI: routes: a conflict is said while typing; members are ordered by keyboard; saved in words; deleted", async () => {
  await go("/routes/new");
  await page.getByRole("textbox", { name: /^Name/ }).fill("mini");
  const patterns = page.getByLabel("Models", { exact: false }).and(page.locator("input"));
  await patterns.fill("gpt-*");
  await patterns.press("Enter");
  await page.getByText(/gpt-\*.*(route|already|conflict)/i).first().waitFor(); // route gpt has it
  await page.getByRole("button", { name: /gpt-\*/ }).or(page.locator(".mantine-Pill-remove")).first().click();
  await patterns.fill("mini-*");
  await patterns.press("Enter");
  await page.getByText(/gpt-\*.*(route|already|conflict)/i).first().waitFor({ state: "detached" });
  const choose = async (n, name) => {
    await page.getByLabel("Provider", { exact: true }).and(page.locator("input:visible")).nth(n).click();
    await page.getByRole("option", { name, exact: true }).click();
  };
  await choose(0, "external");
  await page.getByRole("button", { name: "Add a member" }).click();
  await choose(1, "eu");
  await page.getByRole("button", { name: "Move eu up" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("eu is now 1 of 2").waitFor({ state: "attached" });
  await page.getByText("No conflict with other routes").waitFor();
  await accessible(page, "a new route");
  await page.getByRole("button", { name: "Review and save" }).click();
  await page.getByRole("dialog").getByText("Route mini is created").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Create route" }).click();
  await page.waitForURL(/\/routes\/mini$/);
  await heading(/mini/);
  assert.equal((await chat("mini-1")).provider, "eu");

  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "Weight" }).first().fill("-5");
  await page.getByRole("textbox", { name: "Description" }).fill("small models");
  await page.getByRole("textbox", { name: "Weight" }).first().fill("7");
  await page.getByRole("button", { name: "Review and save" }).click();
  await page.getByRole("dialog").getByText(/Weight.*7/).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.waitForURL(/\/routes\/mini$/);

  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByText(/mini-\*/).waitFor(); // it says what it breaks
  await page.getByRole("dialog").getByRole("button", { name: "Delete the route" }).click();
  await page.waitForURL(/\/routes$/);
  assert.equal((await chat("mini-1")).status, 503);
});

test("a form that was not saved is not left by accident", async () => {
  await go("/routes/gpt/edit");
  await page.getByRole("textbox", { name: "Description" }).fill("something");
  await page.getByRole("link", { name: "Keys" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Stay" }).click();
  assert.match(page.url(), /routes\/gpt\/edit/);
  await page.getByRole("link", { name: "Keys" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
  await heading("Keys");
});

test("UI, BY-1: test routing: the decision as a diagram and in words, with a provider out, and by a link", async () => {
  await go("/test");
  await page.getByRole("combobox", { name: "Model" }).fill("gpt-5.4-nano");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Ask" }).click();
  const result = page.getByRole("region", { name: "The answer" });
  await result.getByText("first in order").first().waitFor();
  assert.match(await result.innerText(), /external[\s\S]*eu/);
  await page.getByLabel("These providers are broken").and(page.locator("input:visible")).click();
  await page.getByRole("option", { name: "external", exact: true }).click();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Ask" }).click();
  await result.getByText("circuit_open").first().waitFor();
  await accessible(page, "an answer with a provider out");
  const link = page.url();
  assert.match(link, /down=external/);
  await go("/keys");
  await page.goto(link);
  await page.getByRole("region", { name: "The answer" }).getByText("circuit_open").first().waitFor();
  await go("/test?model=nobody-serves-this");
  await page.getByText("NO_ROUTE").first().waitFor();
});

test("UI, BY-1: requests: one that is made now appears by itself, and says why it went where it went", async () => {
  await go("/requests");
  await page.getByRole("table").waitFor();
  const made = await failed("gpt-5.4-nano");
  assert.equal(made.provider, "eu");
  const row = page.locator(`a[href$="/requests/${made.id}"]`);
  await row.waitFor();
  await row.click();
  await heading(/gpt-5.4-nano/);
  const main = page.locator("main");
  await main.getByText("Tried 1: failed: server_error").or(main.getByText(/Tried 1: failed/)).first().waitFor();
  await main.getByText(/Tried 2: answered/).waitFor();
  await page.getByRole("link", { name: "Ask the same now" }).click();
  await heading("Test routing");
  await page.getByRole("region", { name: "The answer" }).getByText("first in order").first().waitFor();
});

test("requests: refused ones by filter, with the code that the client saw", async () => {
  await chat("nobody-serves-this");
  await go("/requests?outcome=deny&model=nobody-serves-this");
  await page.getByText("NO_ROUTE").first().waitFor();
});

test("UI: versions: what a version changed, and a restore that says what it changes", async () => {
  await go("/routes/gpt/edit");
  await page.getByRole("textbox", { name: "Description" }).fill("a change to take back");
  await page.getByRole("button", { name: "Review and save" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.waitForURL(/\/routes\/gpt$/);
  await go("/versions");
  await page.getByText("in use").waitFor();
  await page.getByRole("table").getByRole("link").nth(1).click(); // the one before
  await page.getByRole("button", { name: "Restore this version" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(/a change to take back/).waitFor();
  await accessible(page, "restore of a version");
  await dialog.getByRole("button", { name: "Restore", exact: true }).click();
  await page.getByText("in use").waitFor();
  await go("/routes/gpt");
  await heading(/gpt/);
  assert.ok(!(await page.locator("main").innerText()).includes("a change to take back"));
});

test("with the keyboard alone: to an explained decision", async () => {
  await go("/");
  await heading("Overview");
  await page.keyboard.press("Control+k");
  const search = page.getByRole("textbox", { name: "Search or jump to…" });
  await search.waitFor();
  await search.pressSequentially("Test routing");
  await page.keyboard.press("Enter");
  await heading("Test routing");
  const focused = () => page.evaluate(() => (document.activeElement?.tagName === "INPUT" ? document.activeElement.labels?.[0]?.textContent : ""));
  for (let i = 0; i < 30 && !/^Model/.test(await focused()); i++) await page.keyboard.press("Tab");
  await page.keyboard.type("gpt-5.4-nano");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "The answer" }).getByText("first in order").first().waitFor();
  await heading("Test routing");
  await page.getByRole("heading", { level: 1 }).focus();
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await heading("Routes");
});

test("requests: from an object to its own, with the filter in sight; and on to a model to ask about", async () => {
  await chat("gpt-5.4-nano");
  await go("/routes/gpt");
  await page.locator("main").getByRole("link", { name: "Requests" }).click();
  await heading("Requests");
  assert.match(page.url(), /\/requests\?route=gpt$/);
  assert.equal(await page.getByLabel("Route", { exact: true }).and(page.locator("input:visible")).inputValue(), "gpt");
  await page.getByRole("link", { name: "Test routing" }).click();
  await page.locator("main").getByRole("link", { name: "gpt-5.4-nano" }).click();
  await page.getByRole("region", { name: "The answer" }).getByText("first in order").first().waitFor();
});
