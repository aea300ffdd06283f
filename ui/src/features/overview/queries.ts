import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { listActivity } from "../../api/activity";
import { api, data } from "../../api/client";
import { useEvent } from "../../api/events";
import { keys } from "../../api/query";

export const windows = ["1h", "24h", "7d"] as const;
export type Window = (typeof windows)[number];

export const statsQuery = (window: Window) =>
  queryOptions({ queryKey: keys.stats(window), queryFn: () => data(api.GET("/stats", { params: { query: { window } } })), refetchInterval: 30_000, placeholderData: (before) => before });

export const latestQuery = queryOptions({ queryKey: keys.activity({ latest: true }), queryFn: () => listActivity({ kind: "request", limit: 8 }), staleTime: 5_000 });

// useLiveStats asks again while requests come in, at most every three seconds.
export function useLiveStats(window: Window) {
  const client = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEvent("request", () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      void client.invalidateQueries({ queryKey: keys.stats(window) });
    }, 3000);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  return useQuery(statsQuery(window));
}
