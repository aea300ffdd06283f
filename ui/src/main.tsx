import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "./app.css";
import { localStorageColorSchemeManager, MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { onSignedOut } from "./api/client";
import { keys, queryClient } from "./api/query";
import { router } from "./router";
import { cssVariables, theme } from "./theme";

// The server puts a nonce into the page: style elements need it.
const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
Object.assign(globalThis, { __webpack_nonce__: nonce });

const scheme = localStorageColorSchemeManager({ key: "interlock-scheme" });

onSignedOut(() => {
  if (router.state.location.pathname === "/sign-in") return;
  queryClient.removeQueries({ queryKey: keys.auth });
  void router.invalidate();
});

// After an upgrade of the gateway the pages of the version before are gone:
// load the new ones, but not for ever.
window.addEventListener("vite:preloadError", (event) => {
  const last = Number(sessionStorage.getItem("interlock-reload") ?? 0);
  if (Date.now() - last < 20_000) return;
  event.preventDefault();
  sessionStorage.setItem("interlock-reload", String(Date.now()));
  window.location.reload();
});

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto" colorSchemeManager={scheme} getStyleNonce={() => nonce} deduplicateInlineStyles>
        <Notifications position="bottom-right" limit={4} />
        <RouterProvider router={router} />
      </MantineProvider>
    </QueryClientProvider>
  </StrictMode>,
);
