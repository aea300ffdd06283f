// UI, OP-10: the first administrator of a gateway that has none.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessible, launch, open, startEmpty } from "./harness.mjs";

let browser, server;
before(async () => {
  [browser, server] = await Promise.all([launch(), startEmpty()]);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test("UI, OP-10: a new gateway: from the printed link to the console in one form", async () => {
  const page = await open(browser, server, { signedIn: false });
  await page.goto("/console/");
  await page.waitForURL(/\/console\/setup/); // without the token it says where to find it
  await accessible(page, "setup without a link");
  await page.goto("about:blank");
  await page.goto(server.link);
  await accessible(page, "setup");
  assert.ok(!page.url().includes("token="), "the token stays in the address");
  await page.getByLabel("User name").fill("ada");
  await page.getByLabel("Password", { exact: true }).fill("a long enough password");
  await page.getByLabel("Password again").fill("a long enough password");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  await accessible(page, "overview of a new gateway");
  for (const path of ["/providers", "/routes", "/keys", "/requests", "/versions", "/test", "/client-setup"]) {
    await page.goto(`/console${path}`);
    await accessible(page, `empty ${path}`);
  }
  await page.context().clearCookies();
  await page.goto("about:blank");
  await page.goto(server.link); // it is used up
  await page.getByText("There is an administrator already.").or(page.getByRole("heading", { name: "Sign in to Interlock" })).first().waitFor();
  assert.deepEqual(page.problems, []);
  await page.context().close();
});
