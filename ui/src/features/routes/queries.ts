import { queryOptions } from "@tanstack/react-query";
import { api, ifMatch, withETag } from "../../api/client";
import { keys } from "../../api/query";
import { inputOf, type Route, type RouteValues } from "./routeModel";

export const routeQuery = (name: string) =>
  queryOptions({ queryKey: keys.object("routes", name), queryFn: () => withETag(api.GET("/routes/{name}", { params: { path: { name } } })) });

export type Before = { value: Route; etag: string };

// writeRoute creates a route, or replaces the one that was loaded.
export async function writeRoute(values: RouteValues, before: Before | undefined, dryRun: boolean): Promise<unknown> {
  const query = dryRun ? { dryRun } : {};
  if (!before) return (await api.POST("/routes", { params: { query }, body: inputOf(values) })).data;
  const { value, etag } = before;
  return (await api.PUT("/routes/{name}", { params: { path: { name: value.name }, query, header: ifMatch(etag) }, body: inputOf(values, value) })).data;
}
