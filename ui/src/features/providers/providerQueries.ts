import { queryOptions, useQuery } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { keys } from "../../api/query";

// healthQuery is what the process knows of all routes and providers. Its
// counters move all the time, its states are told by events.
export const healthQuery = queryOptions({ queryKey: keys.health, queryFn: () => data(api.GET("/health/upstreams")), refetchInterval: 10_000, staleTime: 2_000 });

export function useHealth(name: string) {
  const query = useQuery(healthQuery);
  return { provider: query.data?.providers.find((p) => p.name === name), routes: query.data?.routes ?? [] };
}
