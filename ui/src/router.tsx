import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet, redirect, type AnyRoute } from "@tanstack/react-router";
import { authState } from "./api/auth";
import { queryClient } from "./api/query";
import { NotFound, PageCrash, PagePending } from "./app/Fallbacks";
import { noteNavigation } from "./app/navigation";
import { pages } from "./app/pages";
import { Shell } from "./app/Shell";

const root = createRootRoute({ component: Outlet, errorComponent: PageCrash });

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  component: lazyRouteComponent(() => import("./features/auth/SignIn")),
  beforeLoad: async () => {
    const auth = await queryClient.ensureQueryData(authState);
    if (auth.user) throw redirect({ to: "/" as string });
    if (auth.setupRequired) throw redirect({ to: "/setup" as string });
  },
});

const setup = createRoute({
  getParentRoute: () => root,
  path: "/setup",
  component: lazyRouteComponent(() => import("./features/auth/SetUp")),
  loader: () => queryClient.ensureQueryData(authState),
});

const app = createRoute({
  getParentRoute: () => root,
  id: "app",
  component: Shell,
  beforeLoad: async ({ location }) => {
    const auth = await queryClient.ensureQueryData(authState);
    if (auth.setupRequired && !auth.user) throw redirect({ to: "/setup" as string });
    if (!auth.user) throw redirect({ to: "/sign-in" as string, search: { returnTo: location.href } as never });
  },
});

const children: AnyRoute[] = pages.flatMap((page) =>
  page.routes.map(({ path, load }) =>
    createRoute({ getParentRoute: () => app, path, component: lazyRouteComponent(load), errorComponent: PageCrash, notFoundComponent: NotFound }),
  ),
);

const missing = createRoute({ getParentRoute: () => app, path: "$", component: NotFound });

export const router = createRouter({
  routeTree: root.addChildren([signIn, setup, app.addChildren([...children, missing])]) as AnyRoute,
  basepath: "/console",
  defaultPreload: "intent",
  defaultPendingComponent: PagePending,
  defaultPendingMs: 150,
  defaultErrorComponent: PageCrash,
  scrollRestoration: true,
  defaultRemountDeps: ({ params }) => params,
  // Search parameters are text: a search for 5 is not a number.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const set = Object.entries(search as Record<string, unknown>).filter(([, v]) => v !== undefined && v !== "");
    const text = new URLSearchParams(set.map(([k, v]) => [k, String(v)])).toString();
    return text ? `?${text}` : "";
  },
});

router.subscribe("onBeforeNavigate", ({ pathChanged, fromLocation }) => {
  if (pathChanged && fromLocation) noteNavigation();
});
