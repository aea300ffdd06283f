import { useQuery } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";
import { requestOf, type Question } from "./question";

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
