import { api, data, type Schemas } from "./client";
import type { paths } from "./schema";

export type Activity = Schemas["AuditEvent"];
export type ActivityQuery = NonNullable<paths["/audit-events"]["get"]["parameters"]["query"]>;

// listActivity is a page of the records, newest first. The document says that
// the answer may be text, since it can be asked for as CSV.
export async function listActivity(query: ActivityQuery): Promise<{ items: Activity[]; nextCursor?: string }> {
  const page = await data(api.GET("/audit-events", { params: { query } }));
  return typeof page === "string" ? { items: [] } : (page as { items: Activity[]; nextCursor?: string });
}
