import { useQuery } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";
import { keys } from "../../api/query";
import { requestOf, type Question } from "./question";

// useModelNames are names to choose from: those without a pattern, of routes,
// aliases and the catalogue of models.
export function useModelNames(): string[] {
  const routes = useQuery({ queryKey: keys.list("routes", { names: true }), queryFn: () => data(api.GET("/routes", { params: { query: { limit: 500 } } })) });
  const names = new Set<string>();
  for (const r of (routes.data?.items ?? []) as { aliases?: { name: string }[]; modelPatterns?: string[] }[]) {
    r.aliases?.forEach((a) => names.add(a.name));
    r.modelPatterns?.filter((p) => !p.includes("*")).forEach((p) => names.add(p));
  }
  return [...names].sort();
}

// useDecision asks when there is a model, and again when the configuration or
// the health of a provider changes.
export function useDecision(q: Question) {
  return useQuery({
    queryKey: ["config", "resolve", requestOf(q)],
    queryFn: () => data(api.POST("/routing/resolve", { body: requestOf(q) as never })) as Promise<Schemas["DryRun"]>,
    enabled: q.model !== "",
    staleTime: 0,
    placeholderData: (before) => before,
  });
}
