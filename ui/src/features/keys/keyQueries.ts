import { queryOptions } from "@tanstack/react-query";
import { listActivity } from "../../api/activity";
import { keys } from "../../api/query";

// lastUseQuery is when the newest request with the key was, null if there is
// none in the records.
export const lastUseQuery = (name: string) =>
  queryOptions({
    queryKey: keys.activity({ key: name, newest: true }),
    queryFn: async () => (await listActivity({ key: name, kind: "request", limit: 1 })).items[0]?.time ?? null,
  });
