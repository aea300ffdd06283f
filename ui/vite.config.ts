import { defineConfig } from "vitest/config";
import react from "@vitejs/plugin-react";

// The dev server sends API and data-plane requests to a running gateway, as an
// administrator: INTERLOCK_SERVER and INTERLOCK_TOKEN say which, and with what.
const server = process.env.INTERLOCK_SERVER ?? "http://127.0.0.1:8080";
const token = process.env.INTERLOCK_TOKEN ?? process.env.INTERLOCK_ADMIN_TOKEN;
const authorization = token ? { authorization: `Bearer ${token}` } : undefined;

export default defineConfig({
  base: "/console/",
  plugins: [react()],
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
