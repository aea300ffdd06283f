// Pictures of pages in both themes, at the width of a laptop and of a phone,
// and an axe check of each. Starts the preview server by itself.
//   node scripts/shots.mjs keys /keys keys-new /keys/new
import { readFileSync, mkdirSync } from "node:fs";
import { chromium } from "playwright-core";
import { preview } from "./preview.mjs";

const args = process.argv.slice(2);
const pages = args.length > 0 ? args.reduce((all, a, i) => (i % 2 ? all : [...all, [a, args[i + 1]]]), []) : [["overview", "/"], ["keys", "/keys"]];
const out = process.env.SHOTS ?? new URL("../shots/", import.meta.url).pathname;
mkdirSync(out, { recursive: true });
const http = await preview(0);
const base = process.env.CONSOLE ?? `http://127.0.0.1:${http.address().port}/console`;
const axe = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync", "--no-first-run"] });
let bad = 0;
for (const [scheme, language] of [["light", "en"], ["dark", "sv"]]) {
  for (const [size, viewport] of [["wide", { width: 1280, height: 800 }], ["phone", { width: 390, height: 844 }]]) {
    const context = await browser.newContext({ viewport, colorScheme: scheme, reducedMotion: "reduce", bypassCSP: false, deviceScaleFactor: size === "phone" ? 2 : 1 });
    await context.addInitScript((l) => localStorage.setItem("interlock-language", l), language);
    const page = await context.newPage();
    const errors = [];
    page.on("console", (m) => m.type() === "error" && errors.push(m.text()));
    page.on("pageerror", (e) => errors.push(String(e)));
    for (const [name, path] of pages) {
      const begun = Date.now();
      await page.goto(base + path, { waitUntil: "load" });
      await page.waitForSelector("h1");
      const took = Date.now() - begun;
      await page.waitForTimeout(Number(process.env.SETTLE ?? 700));
      await page.screenshot({ path: `${out}/${name}-${scheme}-${size}.png`, fullPage: size === "phone" });
      // The policy forbids inline scripts, the debugger's way in is not one.
      const cdp = await context.newCDPSession(page);
      await cdp.send("Runtime.evaluate", { expression: axe });
      const result = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
      const wide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
      bad += result.violations.length + errors.length;
      console.log(`${scheme} ${size} ${name} ${took} ms`, wide ? "SCROLLS SIDEWAYS" : "", result.violations.length === 0 ? "axe ok" : "");
      for (const v of result.violations) console.log(`  ${v.id} (${v.impact}) ${v.nodes.slice(0, 4).map((n) => `${n.html.slice(0, 140)} ${n.any[0]?.message ?? n.all[0]?.message ?? ""}`).join("\n    ")}`);
      for (const e of errors.splice(0)) console.log("  console:", e.slice(0, 400));
    }
    await context.close();
  }
}
await browser.close();
http.close();
process.exit(bad > 0 ? 1 : 0);
