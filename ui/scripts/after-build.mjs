// After vite build: holds the first page to its budget, and writes a .gz beside
// each file that gets smaller by it, so that the server need not compress.
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const budget = 350 * 1024;
const dist = new URL("../dist/", import.meta.url).pathname;

const walk = (dir) => readdirSync(dir).flatMap((n) => (statSync(join(dir, n)).isDirectory() ? walk(join(dir, n)) : [join(dir, n)]));
const manifest = JSON.parse(readFileSync(join(dist, "manifest.json"), "utf8"));
rmSync(join(dist, "manifest.json"));

const gzipped = new Map();
for (const file of walk(dist)) {
  const bytes = readFileSync(file);
  gzipped.set(file.slice(dist.length), bytes.length);
  if (/\.(woff2|png|gz)$/.test(file)) continue;
  const zip = gzipSync(bytes, { level: 9 });
  if (zip.length < bytes.length) {
    gzipped.set(file.slice(dist.length), zip.length);
    if (!file.endsWith("index.html")) writeFileSync(`${file}.gz`, zip);
  }
}

// What the overview loads: the shell, the page, and the Latin part of Inter.
function closure(entry, seen = new Set()) {
  const chunk = manifest[entry];
  if (!chunk || seen.has(chunk.file)) return seen;
  seen.add(chunk.file);
  (chunk.css ?? []).forEach((f) => seen.add(f));
  (chunk.imports ?? []).forEach((i) => closure(i, seen));
  return seen;
}
const first = closure("index.html");
const overview = Object.keys(manifest).find((k) => /features\/overview\/Overview\.tsx$/.test(k));
if (overview) closure(overview, first);
["theme.js", "index.html", ...[...gzipped.keys()].filter((f) => /inter-latin-wght/.test(f))].forEach((f) => first.add(f));

const kb = (n) => `${(n / 1024).toFixed(1)} kB`;
let total = 0;
for (const file of first) total += gzipped.get(file) ?? 0;
const all = [...gzipped.values()].reduce((a, b) => a + b, 0);
console.log(`first page ${kb(total)} of ${kb(budget)} gzip (${first.size} files); everything ${kb(all)}`);
if (total > budget) {
  for (const file of [...first].sort((a, b) => gzipped.get(b) - gzipped.get(a)).slice(0, 12)) console.log(`  ${kb(gzipped.get(file) ?? 0)}  ${file}`);
  console.error("the first page is over its budget: load what it does not need lazily");
  process.exit(1);
}
