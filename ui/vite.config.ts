import { defineConfig } from "vitest/config";
import type { Plugin } from "vite";
import react from "@vitejs/plugin-react";

// The dev server sends API and data-plane requests to a running gateway, as an
// administrator: INTERLOCK_SERVER and INTERLOCK_TOKEN say which, and with what.
const server = process.env.INTERLOCK_SERVER ?? "http://127.0.0.1:8080";
const token = process.env.INTERLOCK_TOKEN ?? process.env.INTERLOCK_ADMIN_TOKEN;
const authorization = token ? { authorization: `Bearer ${token}` } : undefined;

// A gateway without the console's sign-in: its admin token speaks for you.
const signedIn: Plugin = {
  name: "signed-in",
  configureServer(dev) {
    dev.middlewares.use("/api/v1/auth/state", (_, answer, next) => {
      fetch(`${server}/api/v1/auth/state`, { headers: authorization }).then((real) => {
        if (real.status !== 404) return next();
        const user = { name: "token:dev", role: "gateway-admin", via: "token" };
        answer.setHeader("content-type", "application/json");
        answer.end(JSON.stringify({ setupRequired: false, passwordSignIn: true, oidc: { enabled: false, name: "" }, version: "dev", user }));
      }, next);
    });
  },
};

export default defineConfig({
  base: "/console/",
  plugins: [react(), signedIn],
  build: {
    target: "es2022",
    sourcemap: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: "manifest.json",
    chunkSizeWarningLimit: 600,
  },
  server: {
    proxy: {
      "/api": { target: server, headers: authorization },
      "/v1": { target: server },
    },
  },
  test: {
    environment: "jsdom",
    setupFiles: ["./test/setup.ts"],
    include: ["src/**/*.test.{ts,tsx}", "test/**/*.test.{ts,tsx}"],
  },
});
