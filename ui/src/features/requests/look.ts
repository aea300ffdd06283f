import type { Activity } from "../../api/activity";

export const callerOf = (c?: Activity["caller"]): string => c?.key || c?.user || c?.workload || c?.source || "–";

export const tokensOf = (u?: Activity["usage"]): number => (u?.input ?? 0) + (u?.output ?? 0) + (u?.cachedRead ?? 0) + (u?.cachedWrite ?? 0);

// filters of the list that stand in its address, under the API's own names.
export const filterNames = ["outcome", "provider", "route", "key", "model"] as const;
export type Filters = Partial<Record<(typeof filterNames)[number], string>>;

export function filtersOf(search: Record<string, string | undefined>): Filters {
  return Object.fromEntries(filterNames.flatMap((n) => (search[n] ? [[n, search[n]]] : [])));
}

// matches tells whether a row that came in live belongs into the list.
export function matches(row: Activity, f: Filters): boolean {
  return (
    row.kind === "request" &&
    (!f.outcome || row.outcome === f.outcome) &&
    (!f.provider || row.provider === f.provider) &&
    (!f.route || row.routeName === f.route) &&
    (!f.key || row.caller?.key === f.key) &&
    (!f.model || row.requestedModel === f.model)
  );
}
