// Serves dist as the gateway does (same Content-Security-Policy, a nonce for
// each page), and passes API requests on to INTERLOCK_SERVER as INTERLOCK_TOKEN.
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { extname, join } from "node:path";

const server = new URL(process.env.INTERLOCK_SERVER ?? "http://127.0.0.1:8080");
const token = process.env.INTERLOCK_TOKEN ?? process.env.INTERLOCK_ADMIN_TOKEN ?? "";
const dist = new URL("../dist/", import.meta.url).pathname;
const types = { ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".woff2": "font/woff2", ".html": "text/html; charset=utf-8" };

function pass(req, res) {
  const admin = req.url.startsWith("/api/") && token;
  const headers = { ...req.headers, host: server.host, ...(admin ? { authorization: `Bearer ${token}` } : {}) };
  const up = request({ host: server.hostname, port: server.port, path: req.url, method: req.method, headers }, (answer) => {
    res.writeHead(answer.statusCode, answer.headers);
    answer.pipe(res);
  });
  up.on("error", () => (res.headersSent ? res.destroy() : res.writeHead(502).end()));
  // A stream that nobody reads any more ends at the gateway, too.
  res.on("close", () => up.destroy());
  req.pipe(up);
}

export function preview(port) {
  const http = createServer((req, res) => {
    const path = new URL(req.url, "http://x").pathname;
    if (!path.startsWith("/console")) return pass(req, res);
    const nonce = randomBytes(16).toString("base64url");
    res.setHeader(
      "Content-Security-Policy",
      `default-src 'self'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; font-src 'self'; connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
    );
    const file = join(dist, path.slice("/console/".length));
    if (path.length > "/console/".length && existsSync(file) && extname(file)) {
      res.setHeader("content-type", types[extname(file)] ?? "application/octet-stream");
      return res.end(readFileSync(file));
    }
    res.setHeader("content-type", types[".html"]);
    return res.end(readFileSync(join(dist, "index.html"), "utf8").replaceAll("__CSP_NONCE__", nonce));
  });
  return new Promise((done) => http.listen(port, "127.0.0.1", () => done(http)));
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const port = Number(process.env.PORT ?? 4173);
  await preview(port);
  console.log(`http://127.0.0.1:${port}/console/`);
}
