// The console in a real browser, against the real program.
import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { api, ask, axe, fake, launch, open, startServer } from "./harness.mjs";

let server;
let browser;
let page;
before(async () => {
  server = await startServer();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});
afterEach(async () => {
  const problems = page?.problems ?? [];
  await page?.context().close();
  page = undefined;
  assert.deepEqual(problems, []);
});

const heading = (name) => page.getByRole("heading", { level: 1, name });
const button = (name) => page.getByRole("button", { name, exact: true });
const visible = (locator) => locator.waitFor({ state: "visible" });
const dialog = () => page.getByRole("dialog");

describe("UI, OP-10: signing in", () => {
  test("a wrong password is said, the right one leads to the page that was asked for, and out again", async () => {
    page = await open(browser, server, { signedIn: false });
    await page.goto("/console/keys?q=ci");
    await visible(heading("Sign in to Interlock"));
    assert.deepEqual(await axe(page), []);
    await page.getByLabel("User name").fill(server.name);
    await page.getByLabel("Password", { exact: true }).fill("not this one");
    await button("Sign in").click();
    await visible(page.getByRole("alert").getByText("The name or the password is wrong."));
    await page.getByLabel("Password", { exact: true }).fill(server.password);
    await button("Sign in").click();
    await visible(heading("Keys"));
    assert.match(page.url(), /\/console\/keys\?q=ci$/);
    await page.reload();
    await visible(heading("Keys"));
    await button("Account and appearance").click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await visible(heading("Sign in to Interlock"));
    await page.goto("/console/");
    await visible(heading("Sign in to Interlock"));
  });
  test("a session that ended leads to the sign-in, and back", async () => {
    page = await open(browser, server);
    await page.goto("/console/providers");
    await visible(heading("Providers"));
    await page.context().clearCookies();
    await page.getByRole("link", { name: "Keys" }).click();
    await visible(heading("Sign in to Interlock"));
  });
  test("nobody is led out of the console by a link", async () => {
    page = await open(browser, server, { signedIn: false });
    await page.goto("/console/sign-in?returnTo=//evil.example/");
    await page.getByLabel("User name").fill(server.name);
    await page.getByLabel("Password", { exact: true }).fill(server.password);
    await button("Sign in").click();
    await visible(heading("Overview"));
    assert.ok(page.url().startsWith(server.url));
  });
});

describe("the shell", () => {
  test("keyboard alone: palette, shortcuts, skip link, and the focus at the heading", async () => {
    page = await open(browser, server);
    await page.goto("/console/");
    await visible(heading("Overview"));
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Skip to the content");
    await page.keyboard.press("g");
    await page.keyboard.press("p");
    await visible(heading("Providers"));
    await page.waitForFunction(() => document.activeElement?.tagName === "H1");
    assert.equal(await page.title(), "Providers · Interlock");
    await page.keyboard.press("/");
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "Search providers");
    await page.keyboard.press("Control+k");
    await page.getByRole("textbox", { name: "Search or jump to…" }).fill("create a key");
    await page.keyboard.press("Enter");
    await visible(heading("Create a key"));
    await dialog().waitFor({ state: "hidden" });
    await page.keyboard.press("Control+k");
    await page.getByRole("textbox", { name: "Search or jump to…" }).fill("external-cl");
    await visible(page.getByRole("dialog").getByText("Providers"));
    await page.keyboard.press("Enter");
    await visible(heading(/^external-claude/));
    await page.getByRole("heading", { level: 1 }).focus();
    await page.keyboard.press("?");
    await visible(dialog().getByText("Go to Providers"));
    await page.keyboard.press("Escape");
  });
  test("theme and language stay after a reload", async () => {
    page = await open(browser, server);
    await page.addInitScript(() => localStorage.setItem("interlock-language", localStorage.getItem("kept") ?? "en"));
    await page.goto("/console/keys");
    await button("Account and appearance").click();
    await page.getByRole("menuitemradio", { name: "Dark" }).click();
    await page.getByRole("menuitemradio", { name: "Svenska" }).click();
    await visible(heading("Nycklar"));
    assert.equal(await page.evaluate(() => document.documentElement.lang), "sv");
    await page.evaluate(() => localStorage.setItem("kept", "sv"));
    await page.reload();
    await visible(heading("Nycklar"));
    assert.equal(await page.evaluate(() => document.documentElement.dataset.mantineColorScheme), "dark");
  });
  test("a page that is not there, and an object that is not there", async () => {
    page = await open(browser, server);
    await page.goto("/console/nothing");
    await visible(heading("There is no such page"));
    await page.goto("/console/keys/nobody");
    await visible(page.getByRole("alert"));
  });
});

describe("keys", () => {
  test("UI, BY-16, BY-17: a key: made, its secret shown once, used from the client set-up, edited, rotated, revoked", async () => {
    page = await open(browser, server);
    await page.goto("/console/keys/new");
    await page.getByRole("textbox", { name: "Name" }).fill("e2e-key");
    await button("Review and save").click();
    await visible(dialog().getByText("Key e2e-key is created"));
    await dialog().getByRole("button", { name: "Create key" }).click();
    await visible(heading("e2e-key is ready"));
    const secret = (await page.getByTestId("secret").textContent()).trim();
    assert.match(secret, /^ilk_/);
    // It is not left by accident.
    await page.getByRole("link", { name: "Overview" }).click();
    await dialog().getByRole("button", { name: "Stay" }).click();
    await button("I have copied it").click();
    await page.getByRole("link", { name: "Set up a client with it" }).click();
    await visible(heading("Client set-up"));
    await visible(page.getByText("Filled in: e2e-key, which you made a moment ago."));
    await page.getByRole("button", { name: "curl" }).click();
    await page.getByRole("combobox", { name: "Model" }).fill("gpt-5.4-nano");
    await button("Send").click();
    await visible(page.getByText("It works", { exact: true }));
    assert.match(await page.getByTestId("answer").textContent(), /Hello/);
    await page.goto("/console/keys/e2e-key/edit");
    await page.getByRole("combobox", { name: "Providers" }).click();
    await page.getByRole("option", { name: "eu", exact: true }).click();
    await page.keyboard.press("Escape");
    await button("Review and save").click();
    await visible(dialog().getByText("Providers: adds eu"));
    await dialog().getByRole("button", { name: "Save" }).click();
    await visible(heading(/^e2e-key/));
    assert.deepEqual((await api(server, "GET", "/keys/e2e-key")).body.allowedProviders, ["eu"]);
    await button("Rotate").click();
    await dialog().getByRole("button", { name: "Make a new secret" }).click();
    await visible(heading("e2e-key-r2 is ready"));
    await button("I have copied it").click();
    await page.getByRole("link", { name: "Go to e2e-key-r2" }).click();
    await page.goto("/console/keys/e2e-key");
    await button("Revoke").click();
    await visible(dialog().getByText(/It is in use/));
    await dialog().getByLabel("Type e2e-key to confirm").fill("e2e-key");
    await dialog().getByRole("button", { name: "Revoke for ever" }).click();
    await visible(heading("Keys"));
    assert.equal((await api(server, "GET", "/keys/e2e-key")).status, 404);
    assert.equal((await ask(server, "gpt-5.4-nano", secret)).status, 401);
  });
  test("what the server refuses is at its field, which gets the focus", async () => {
    page = await open(browser, server);
    await page.goto("/console/keys/new");
    await page.getByRole("textbox", { name: "Name" }).fill("ci");
    await button("Review and save").click();
    await page.locator("[aria-invalid=true], [role=alert]").first().waitFor();
    await page.getByRole("textbox", { name: "Name" }).fill("no spaces here");
    await button("Review and save").click();
    await page.waitForFunction(() => document.activeElement?.getAttribute("aria-invalid") === "true");
  });
  test("a change of somebody else is not overwritten", async () => {
    page = await open(browser, server);
    await page.goto("/console/keys/research/edit");
    await page.getByLabel("Jurisdiction").fill("EU");
    const other = (await api(server, "GET", "/keys/research")).body;
    await api(server, "PUT", "/keys/research", { ...other, expiresAt: "2099-01-01T00:00:00Z" });
    await button("Review and save").click();
    await visible(page.getByRole("alert").getByText(/Somebody changed this meanwhile/));
    await button("Load the new version").click();
    await page.waitForFunction(() => document.querySelector("input[type=datetime-local]")?.value.startsWith("20"));
  });
});

describe("UI: providers", () => {
  test("added from the gallery, tested for real, drained with what that breaks, deleted", async () => {
    page = await open(browser, server);
    await page.goto("/console/providers/new");
    await page.getByLabel("Find a vendor").fill("compatible");
    await page.getByRole("link", { name: /^OpenAI-compatible/ }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("e2e-provider");
    await page.getByLabel("Base URL").fill(`${server.fakes[0]}/v1`);
    await page.getByLabel("API key").fill("sk-fake-e2e");
    await page.getByRole("combobox", { name: "Listed models" }).fill("e2e-model");
    await page.keyboard.press("Enter");
    await page.getByRole("combobox", { name: "Serves models" }).fill("e2e-*");
    await page.keyboard.press("Enter");
    await button("Review and save").click();
    await visible(dialog().getByText("Provider e2e-provider is created"));
    assert.ok(!(await dialog().textContent()).includes("sk-fake-e2e"), "the review shows the secret");
    await dialog().getByRole("button", { name: "Add provider" }).click();
    await visible(heading(/^e2e-provider/));
    await button("Send test call").click();
    await visible(page.getByText("It works", { exact: true }));
    await fake(server.fakes[0], "rules", [{ path: "chat/completions", action: "status", status: 401, times: 1 }]);
    await button("Send again").click();
    await visible(page.getByText("It does not work"));
    await visible(page.getByText(/The key is wrong, expired/));
    await fake(server.fakes[0], "reset");
    await page.getByRole("link", { name: "Edit" }).click();
    await visible(page.getByText(/•••• Stored/));
    await page.getByLabel("Jurisdiction").fill("EU");
    await button("Review and save").click();
    await dialog().getByRole("button", { name: "Save" }).click();
    await visible(heading(/^e2e-provider/));
    assert.equal((await api(server, "GET", "/providers/e2e-provider")).body.hasApiKey, true, "an edit lost the key");
    await button("Drain").click();
    await visible(dialog().getByText(/New requests go to other members/));
    await dialog().getByRole("button", { name: "Drain" }).click();
    await button("Take back in").click();
    await button("Drain").waitFor();
    await button("Delete").click();
    await dialog().getByRole("button", { name: "Delete" }).click();
    await visible(heading("Providers"));
    assert.equal((await api(server, "GET", "/providers/e2e-provider")).status, 404);
  });
  test("one in use says who uses it, and stays; one that is kept out can be tried again", async () => {
    page = await open(browser, server);
    await page.goto("/console/providers/on-premises");
    await visible(heading(/Kept out after failures/));
    await button("Delete").click();
    await visible(dialog().getByText(/Route llama uses it/));
    await dialog().getByRole("button", { name: "Delete" }).click();
    await visible(dialog().getByRole("alert"));
    await dialog().getByRole("button", { name: "Cancel" }).click();
    await button("Drain").click();
    await visible(dialog().getByText("Route llama goes on with eu-llama."));
    await dialog().getByRole("button", { name: "Cancel" }).click();
    await button("Try it again now").click();
    await visible(heading(/Healthy/));
  });
});

test("a viewer sees everything, and no button that the server would refuse", async () => {
  const password = "a viewer looks at things";
  assert.equal((await api(server, "POST", "/users", { name: "vera", role: "viewer" })).status, 201);
  assert.ok((await api(server, "PUT", "/users/vera/password", { password })).status < 300);
  page = await open(browser, { ...server, name: "vera", password });
  for (const [path, title] of [["/keys", "Keys"], ["/providers", "Providers"], ["/keys/ci", /^ci/], ["/providers/eu", /^eu/]]) {
    await page.goto(`/console${path}`);
    await visible(heading(title));
    await page.waitForTimeout(200);
    for (const name of ["Create key", "Add provider", "Edit", "Rotate", "Revoke", "Drain", "Delete", "Send test call"]) {
      assert.equal(await page.getByText(name, { exact: true }).count(), 0, `${path} offers ${name}`);
    }
  }
});

test("the overview follows requests and the configuration by itself", async () => {
  page = await open(browser, server);
  await page.goto("/console/");
  await visible(page.getByRole("status").getByText("Live"));
  await ask(server, "model-of-this-test");
  const latest = page.getByRole("region", { name: "Latest requests" });
  await visible(latest.getByText("model-of-this-test"));
  await visible(latest.getByRole("row", { name: /model-of-this-test/ }).getByText(/Refused/));
  await page.goto("/console/keys");
  await visible(heading("Keys"));
  await visible(page.getByRole("status").getByText("Live"));
  await api(server, "POST", "/keys", { type: "service", name: "made-elsewhere" });
  await visible(page.getByRole("link", { name: "made-elsewhere" }));
});
