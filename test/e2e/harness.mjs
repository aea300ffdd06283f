// Starts the real program with its demonstration (fake providers, made-up
// traffic) in a temporary folder, and a real Chromium.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRequire } from "node:module";
import assert from "node:assert/strict";

const fromUI = createRequire(new URL("../../ui/package.json", import.meta.url));
const { chromium } = fromUI("playwright-core");
const axeSource = readFileSync(fromUI.resolve("axe-core/axe.min.js"), "utf8");

const binary = process.env.INTERLOCK_BIN ?? new URL("../../bin/interlock", import.meta.url).pathname;
const browserPath = process.env.CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
// A folder for pictures of what axe looked at.
const pictures = process.env.E2E_PICTURES;
export const adminToken = "e2e-admin-token-0123456789abcdef";

// startServer resolves to what the demonstration printed.
export async function startServer() {
  const child = spawn(binary, ["demo", "--listen", "127.0.0.1:0"], { env: { ...process.env, INTERLOCK_ADMIN_TOKEN: adminToken }, stdio: ["ignore", "pipe", "pipe"] });
  let log = "";
  const printed = new Promise((done, fail) => {
    const read = (bytes) => {
      log += bytes;
      if (/sign in as .+ with the password/.test(log)) done();
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("exit", (code) => fail(new Error(`the program ended with ${code}:\n${log}`)));
  });
  await Promise.race([printed, new Promise((_, fail) => setTimeout(() => fail(new Error(`nothing to sign in with:\n${log}`)), 30_000).unref())]);
  const [, name, password] = /sign in as (\S+) with the password (\S+)/.exec(log);
  const fakes = /fakes in this program, at (\S+), (\S+) and (\S+)/.exec(log).slice(1);
  return {
    url: /listens on (http:\S+?)\.?\s/.exec(log)[1],
    key: /Bearer (ilk_[\w-]+)/.exec(log)[1],
    name,
    password,
    // External, EU, on-premises.
    fakes,
    stop: () => new Promise((done) => { child.removeAllListeners("exit"); child.once("exit", done); child.kill("SIGINT"); }),
  };
}

// startEmpty starts a gateway without a configuration in a folder of its own,
// and resolves to the link that it prints for the first administrator.
export async function startEmpty() {
  const dir = mkdtempSync(join(tmpdir(), "interlock-e2e-"));
  const child = spawn(binary, ["serve", "--listen", "127.0.0.1:0", "--data", dir], { env: { PATH: process.env.PATH, HOME: dir }, stdio: ["ignore", "pipe", "pipe"] });
  let log = "";
  const link = await new Promise((done, fail) => {
    const read = (bytes) => {
      log += bytes;
      const found = /(http:\S+\/console\/setup#token=\S+)\s/.exec(log);
      if (found) done(found[1]);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("exit", (code) => fail(new Error(`the program ended with ${code}:\n${log}`)));
  });
  const stop = async () => {
    child.removeAllListeners("exit");
    await new Promise((done) => { child.once("exit", done); child.kill("SIGINT"); });
    rmSync(dir, { recursive: true, force: true });
  };
  return { url: new URL(link).origin, link, stop };
}

// accessible asserts that axe finds nothing on the page as it is, and that a
// phone need not scroll sideways.
export async function accessible(page, name) {
  await page.locator("h1").first().waitFor();
  await page.waitForFunction(() => !document.querySelector(".mantine-Skeleton-root, .mantine-Loader-root, [aria-busy=true]"));
  if (pictures) {
    mkdirSync(pictures, { recursive: true });
    // The whole page, with the bars where they are at its end.
    const { width, height } = page.viewportSize();
    await page.setViewportSize({ width, height: Math.max(height, await page.evaluate(() => document.documentElement.scrollHeight)) });
    await page.screenshot({ path: join(pictures, `${name.replaceAll(/[^a-z0-9]+/gi, "-")}.png`) });
    await page.setViewportSize({ width, height });
  }
  assert.deepEqual(await axe(page), [], `axe on ${name}`);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth), false, `${name} scrolls sideways`);
}

export function launch() {
  assert.ok(browserPath, "there is no Chromium: install it (Debian: apt-get install chromium), or set CHROMIUM to its path");
  return chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync", "--no-first-run", "--disable-component-update"] });
}

// open is a new browser's page on the console. What its console complains of
// is in problems: the Content-Security-Policy speaks there.
export async function open(browser, server, { scheme = "light", language = "en", signedIn = true, width = 1280 } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme: scheme, reducedMotion: "reduce", baseURL: server.url });
  await context.addInitScript((l) => location.protocol.startsWith("http") && localStorage.setItem("interlock-language", l), language);
  if (signedIn) {
    const answer = await context.request.post("/api/v1/auth/sign-in", { data: { name: server.name, password: server.password }, headers: { "X-Interlock-Csrf": "1", origin: server.url } });
    assert.equal(answer.status(), 200, await answer.text());
  }
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const problems = [];
  page.on("pageerror", (e) => problems.push(String(e)));
  page.on("console", (m) => {
    // A refusal that a test asks for is in the browser's console, too.
    if (m.type() === "error" && !/the server responded with a status of 4\d\d/.test(m.text())) problems.push(m.text());
  });
  return Object.assign(page, { problems });
}

export async function axe(page) {
  // Through the debugger: the policy of the page forbids what is not its own.
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Runtime.evaluate", { expression: axeSource });
  const { violations } = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
  return violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 160)).join(" | ")}`);
}

// api speaks to the admin API as the bootstrap administrator.
export async function api(server, method, path, body, headers = {}) {
  const answer = await fetch(`${server.url}/api/v1${path}`, { method, headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json", ...headers }, body: body === undefined ? undefined : JSON.stringify(body) });
  const text = await answer.text();
  return { status: answer.status, body: text ? JSON.parse(text) : undefined };
}

export async function fake(url, path, body) {
  const answer = await fetch(`${url}/__fake/${path}`, { method: "POST", body: body === undefined ? undefined : JSON.stringify(body) });
  assert.ok(answer.ok, await answer.text());
}

export function ask(server, model, key = server.key) {
  return fetch(`${server.url}/v1/chat/completions`, { method: "POST", headers: { authorization: `Bearer ${key}`, "content-type": "application/json" }, body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] }) });
}
