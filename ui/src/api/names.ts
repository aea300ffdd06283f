// Names of objects, for fields that choose one.
import { useQuery } from "@tanstack/react-query";
import { api, data } from "./client";
import { keys } from "./query";

const load = {
  providers: () => data(api.GET("/providers", { params: { query: { limit: 500 } } })),
  teams: () => data(api.GET("/teams", { params: { query: { limit: 500 } } })),
  users: () => data(api.GET("/users", { params: { query: { limit: 500 } } })),
  departments: () => data(api.GET("/departments", { params: { query: { limit: 500 } } })),
  routes: () => data(api.GET("/routes", { params: { query: { limit: 500 } } })),
  keys: () => data(api.GET("/keys", { params: { query: { limit: 500 } } })),
};

export function useNames(kind: keyof typeof load): string[] {
  const query = useQuery({
    queryKey: keys.list(kind, { names: true }),
    queryFn: async () => (await load[kind]()).items.map((o: { name: string }) => o.name),
  });
  return query.data ?? [];
}

// useResidencies are those that come with Interlock and those of the settings.
export function useResidencies(): string[] {
  const query = useQuery({ queryKey: keys.object("settings", ""), queryFn: () => data(api.GET("/settings")) });
  const own = (query.data as { residencies?: string[] } | undefined)?.residencies ?? [];
  return [...new Set(["on-prem", "eu", "us", "global", ...own])];
}

// useModelNames are models to choose from: those that routes, their aliases and
// providers name without a pattern.
export function useModelNames(): string[] {
  const query = useQuery({
    queryKey: keys.list("models", { listed: true }),
    queryFn: async () => {
      const [routes, providers] = await Promise.all([load.routes(), load.providers()]);
      const names = [...routes.items.flatMap((r) => [...r.modelPatterns, ...(r.aliases ?? []).map((a) => a.name)]), ...providers.items.flatMap((p) => [...(p.staticModels ?? []), ...(p.modelPatterns ?? [])])];
      return [...new Set(names.filter((n) => n && !n.includes("*")))].sort();
    },
  });
  return query.data ?? [];
}
