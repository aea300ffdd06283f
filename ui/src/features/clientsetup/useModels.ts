import { useQuery } from "@tanstack/react-query";
import { useModelNames } from "../../api/names";

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
  const listed = useModelNames();
  if (ofKey.data?.length) return { models: ofKey.data, ofKey: true };
  return { models: listed, ofKey: false };
}
