// UI, OP-10: the first administrator, and signing in and out.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessible, browser, demo, open, signIn, start } from "./harness.mjs";

let chrome, gateway;
before(async () => {
  [chrome, gateway] = await Promise.all([browser(), demo()]);
});
after(async () => {
  await chrome?.close();
  await gateway?.stop();
});

test("a new gateway: from the printed link to the console in one form", async () => {
  const fresh = await start(["serve", "--listen", "127.0.0.1:0", "--data", "./data"], /setup#token=\S+\s/);
  const { page, close } = await open(chrome);
  try {
    const link = fresh.find(/(http:\/\/\S+\/console\/setup#token=\S+)/);
    await page.goto(new URL(link).origin + "/console/");
    await page.waitForURL(/\/console\/setup/); // without the token it says where to find it
    await accessible(page, "setup without a link");
    await page.goto("about:blank");
    await page.goto(link);
    await accessible(page, "setup");
    assert.ok(!page.url().includes("token="), "the token stays in the address");
    await page.getByLabel(/^User name/).fill("ada");
    const passwords = page.getByLabel(/password/i).and(page.locator("input"));
    for (const field of await passwords.all()) await field.fill("a long enough password");
    await page.keyboard.press("Enter");
    await page.locator("nav").first().waitFor();
    await accessible(page, "overview of a new gateway");
    await page.goto("about:blank");
    await page.goto(link);
    await page.waitForFunction(() => !location.pathname.endsWith("/setup") || document.body.innerText.includes("already"));
  } finally {
    await close();
    await fresh.stop();
  }
});

test("a wrong password is refused in words, the right one leads to where one wanted to go", async () => {
  const { page, close } = await open(chrome);
  await page.goto(`${gateway.base}/console/keys`);
  await page.getByLabel(/^User name/).fill("anna");
  await page.getByLabel(/^Password/).fill("not this one at all");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  await accessible(page, "sign-in refused");
  await page.getByLabel(/^Password/).fill(gateway.password);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/console\/keys/);
  await page.getByRole("heading", { level: 1, name: "Keys" }).waitFor();
  await close();
});

test("signing out ends the session on the server", async () => {
  const { page, close } = await open(chrome);
  await signIn(page, gateway.base, "anna", gateway.password);
  const cookies = await page.context().cookies();
  const session = cookies.find((c) => c.name.endsWith("interlock_session"));
  assert.ok(session?.httpOnly && session.sameSite === "Lax", JSON.stringify(session));
  await page.getByRole("button", { name: /Account/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.waitForURL(/sign-in/);
  const answer = await fetch(`${gateway.base}/api/v1/auth/me`, { headers: { cookie: `${session.name}=${session.value}` } });
  assert.equal(answer.status, 401);
  await close();
});
