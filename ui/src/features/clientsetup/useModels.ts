import { useQuery } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { keys } from "../../api/query";

const isKey = (key: string) => /^(ilk|sess)_\S{20,}$/.test(key);

// useModels are the names that the key can use, as the gateway tells its
// holder; without a key those that routes and providers list.
export function useModels(key: string): { models: string[]; ofKey: boolean } {
  const ofKey = useQuery({
    // The key itself is no part of what is kept.
    queryKey: ["models-of-key", key.slice(-6)],
    enabled: isKey(key),
    retry: false,
    gcTime: 0,
    queryFn: async () => {
      const answer = await fetch("/v1/models", { headers: { authorization: `Bearer ${key}` }, credentials: "omit" });
      if (!answer.ok) return [];
      const list = (await answer.json()) as { data?: { id: string }[] };
      return (list.data ?? []).map((m) => m.id);
    },
  });
  const listed = useQuery({
    queryKey: keys.list("models", { listed: true }),
    queryFn: async () => {
      const query = { params: { query: { limit: 500 } } };
      const [routes, providers] = await Promise.all([data(api.GET("/routes", query)), data(api.GET("/providers", query))]);
      const names = [...routes.items.flatMap((r) => [...(r.modelPatterns ?? []), ...(r.aliases ?? []).map((a) => a.name)]), ...providers.items.flatMap((p) => [...(p.staticModels ?? []), ...(p.modelPatterns ?? [])])];
      return [...new Set(names.filter((n) => n && !n.includes("*")))].sort();
    },
  });
  if (ofKey.data?.length) return { models: ofKey.data, ofKey: true };
  return { models: listed.data ?? [], ofKey: false };
}
