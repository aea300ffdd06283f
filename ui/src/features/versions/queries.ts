import { queryOptions } from "@tanstack/react-query";
import { api, asChangeSet, data, type ChangeSet, type Schemas } from "../../api/client";
import { keys } from "../../api/query";

export const versionQuery = (version: number) =>
  queryOptions({ queryKey: keys.object("versions", String(version)), queryFn: () => data(api.GET("/config-versions/{version}", { params: { path: { version } } })) as Promise<Schemas["ConfigVersionDetail"]> });

export const newestQuery = queryOptions({
  queryKey: keys.list("versions", { newest: true }),
  queryFn: async () => ((await data(api.GET("/config-versions", { params: { query: { limit: 1 } } }))) as { items: Schemas["ConfigVersion"][] }).items[0]?.version ?? 0,
});

export const diffQuery = (version: number, to: number) =>
  queryOptions({ queryKey: keys.object("versions", `${version}-${to}`), queryFn: () => data(api.GET("/config-versions/{version}/diff", { params: { path: { version }, query: { to } } })) as Promise<Schemas["ConfigDiff"]> });

export async function restore(version: number, dryRun: boolean): Promise<ChangeSet> {
  return asChangeSet(await data(api.POST("/config-versions/{version}/restore", { params: { path: { version }, query: dryRun ? { dryRun } : {} } })));
}
