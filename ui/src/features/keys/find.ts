import type { Found } from "../../app/pages";
import { api, data } from "../../api/client";

export async function find(q: string): Promise<Found[]> {
  const { items } = await data(api.GET("/keys", { params: { query: { q, limit: 6 } } }));
  return items.map(({ name }) => ({ label: name, path: `/keys/${encodeURIComponent(name)}` }));
}
