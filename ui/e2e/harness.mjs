// Starts the real program and a real browser for the tests of this folder.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const root = new URL("../../", import.meta.url).pathname;
const axe = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const browserPath = process.env.CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
const pictures = process.env.E2E_PICTURES; // a folder for screenshots of every page that axe looked at

// start runs interlock and waits for a line of its output.
export async function start(args, until, env = {}) {
  const dir = mkdtempSync(join(tmpdir(), "interlock-e2e-"));
  const child = spawn(join(root, "bin/interlock"), args, { cwd: dir, env: { PATH: process.env.PATH, HOME: dir, ...env } });
  let text = "";
  const ended = new Promise((resolve) => child.once("exit", resolve));
  await new Promise((resolve, reject) => {
    const read = (chunk) => {
      text += chunk;
      if (until.test(text)) resolve();
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    ended.then(() => reject(new Error(`interlock ended:\n${text}`)));
  });
  return {
    dir,
    text: () => text,
    find: (pattern) => {
      const m = pattern.exec(text);
      assert.ok(m, `${pattern} is not in what interlock printed:\n${text}`);
      return m[1];
    },
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

// demo is a gateway with fake providers, people, routes and some traffic.
export async function demo() {
  const app = await start(["demo", "--listen", "127.0.0.1:0"], /Ctrl-C ends it/);
  const base = app.find(/(http:\/\/127\.0\.0\.1:\d+)\/console\//);
  return {
    ...app,
    base,
    password: app.find(/sign in as anna with the password (\S+)/),
    key: app.find(/Bearer (ilk_\S+)'/),
    external: app.find(/curl (http:\/\/127\.0\.0\.1:\d+)\/__fake\/rules/),
  };
}

export async function browser() {
  assert.ok(browserPath, "no Chromium: install it (Debian: apt-get install chromium), or set CHROMIUM to its path");
  return chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync", "--no-first-run", "--disable-component-update"] });
}

// open makes a page in a context of its own. What the browser complains about,
// the Content-Security-Policy included, fails the test in which it is closed.
export async function open(chrome, { dark = false, language = "en", phone = false } = {}) {
  const context = await chrome.newContext({
    viewport: phone ? { width: 390, height: 844 } : { width: 1280, height: 800 }, colorScheme: dark ? "dark" : "light", reducedMotion: "reduce", locale: "en-GB",
  });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await context.addInitScript((l) => location.protocol.startsWith("http") && localStorage.setItem("interlock-language", l), language);
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const complaints = [];
  const expected = [];
  page.on("pageerror", (e) => complaints.push(String(e)));
  page.on("console", (m) => {
    // An answer that is an error is said in the console as well; those that a
    // test provokes are not complaints.
    if (m.type() === "error" && !/Failed to load resource/.test(m.text())) complaints.push(m.text());
  });
  page.on("response", (r) => {
    if (r.status() >= 500 && !expected.includes(r.status())) complaints.push(`${r.status()} ${r.url()}`);
  });
  return {
    page,
    expect: (status) => expected.push(status),
    close: async () => {
      await context.close();
      assert.deepEqual(complaints, []);
    },
  };
}

export async function signIn(page, base, name, password, path = "/") {
  await page.goto(`${base}/console${path}`);
  await page.getByLabel(/^(User name|Användarnamn)/).fill(name);
  await page.getByLabel(/^(Password|Lösenord)/).fill(password);
  await page.keyboard.press("Enter");
  await page.locator("nav").first().waitFor();
}

// accessible asserts that axe finds nothing on the page as it is.
export async function accessible(page, name) {
  await page.locator("h1").first().waitFor();
  await page.waitForLoadState("networkidle", { timeout: 2_000 }).catch(() => undefined); // the event stream never ends
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Runtime.evaluate", { expression: axe }); // the debugger's way in is not the page's
  const { violations } = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
  if (pictures) {
    mkdirSync(pictures, { recursive: true });
    await page.screenshot({ path: join(pictures, `${name.replaceAll(/[^a-z0-9]+/gi, "-")}.png`) });
  }
  const short = violations.map((v) => `${v.id}: ${v.nodes.map((n) => `${n.html.slice(0, 160)} ${n.any[0]?.message ?? ""}`).join("; ")}`);
  assert.deepEqual(short, [], `axe on ${name}`);
  const sideways = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
  assert.equal(sideways, false, `${name} scrolls sideways`);
}

// chat sends a request to the gateway as a client would.
export async function chat(base, key, model, headers = {}) {
  const response = await fetch(`${base}/v1/chat/completions`, {
    method: "POST", headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] }),
  });
  await response.text();
  return { status: response.status, id: response.headers.get("x-interlock-request-id"), provider: response.headers.get("x-interlock-provider") };
}
