import { queryOptions } from "@tanstack/react-query";
import { listActivity } from "../../api/activity";
import { api, withETag } from "../../api/client";
import { keys } from "../../api/query";

export const keyQuery = (name: string) =>
  queryOptions({ queryKey: keys.object("keys", name), queryFn: () => withETag(api.GET("/keys/{name}", { params: { path: { name } } })) });

// lastUseQuery is when the newest request with the key was, null if there is
// none in the records.
export const lastUseQuery = (name: string) =>
  queryOptions({
    queryKey: keys.activity({ key: name, newest: true }),
    queryFn: async () => (await listActivity({ key: name, kind: "request", limit: 1 })).items[0]?.time ?? null,
  });
