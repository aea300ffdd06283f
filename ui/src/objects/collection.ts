// What every collection of the admin API has in common: it is listed, its
// objects have a name and a version, and are created, replaced and deleted.
import { queryOptions } from "@tanstack/react-query";
import type { Found } from "../app/pages";
import { api, data, ifMatch, withETag } from "../api/client";
import { keys } from "../api/query";
import type { paths } from "../api/schema";
import type { ListParams, Page } from "../components/ResourceTable";

export type Named = { name: string; managedBy: "api" | "file" | "interlock"; managedIn?: string; warnings?: string[]; updatedAt?: string };
export type Loaded<T> = { value: T; etag: string };

type Json<R> = R extends { content: { "application/json": infer B } } ? B : never;
// The paths of the API document that are such collections.
export type CollectionPath = {
  [P in keyof paths]: `${P}/{name}` extends keyof paths ? (paths[`${P}/{name}`] extends { put: object; delete: object } ? P : never) : never;
}[keyof paths];
type One<P extends CollectionPath> = `${P}/{name}` extends keyof paths ? paths[`${P}/{name}`] : never;
export type ObjectOf<P extends CollectionPath> = One<P> extends { get: { responses: { 200: infer R } } } ? Extract<Json<R>, Named> : never;
export type InputOf<P extends CollectionPath> = One<P> extends { put: { requestBody: infer R } } ? Json<R> : never;

export type Collection<T extends Named, I> = {
  path: string;
  href: (name: string) => string;
  page: (params: ListParams) => Promise<Page<T>>;
  query: (name: string) => ReturnType<typeof objectQuery<T>>;
  // Creates an object, or replaces the one that was loaded. A dry run answers
  // with what would change.
  write: (input: I, before: Loaded<T> | undefined, dryRun: boolean) => Promise<unknown>;
  remove: (loaded: Loaded<T>) => Promise<void>;
  // For the command palette.
  find: (q: string) => Promise<Found[]>;
};

// The calls are the same for each path, which the types of the client can't
// say: collection, below, holds path and types together.
type Call = (path: string, init?: object) => Promise<{ data?: unknown; response: Response }>;
const plain = api as unknown as { GET: Call; POST: Call; PUT: Call; DELETE: Call };

const objectQuery = <T>(path: string, name: string) =>
  queryOptions({ queryKey: keys.object(path.slice(1), name), queryFn: () => withETag(plain.GET(`${path}/{name}`, { params: { path: { name } } })) as Promise<Loaded<T>> });

function bind<T extends Named, I>(path: string): Collection<T, I> {
  const href = (name: string) => `${path}/${encodeURIComponent(name)}`;
  const page = (query: object) => data(plain.GET(path, { params: { query } })) as Promise<Page<T>>;
  return {
    path,
    href,
    page,
    query: (name) => objectQuery<T>(path, name),
    write: async (body, before, dryRun) => {
      const query = dryRun ? { dryRun } : {};
      if (!before) return data(plain.POST(path, { params: { query }, body }));
      return data(plain.PUT(`${path}/{name}`, { params: { path: { name: before.value.name }, query, header: ifMatch(before.etag) }, body }));
    },
    remove: async ({ value, etag }) => {
      await plain.DELETE(`${path}/{name}`, { params: { path: { name: value.name }, header: ifMatch(etag) } });
    },
    find: async (q) => (await page({ q, limit: 6 })).items.map(({ name }) => ({ label: name, path: href(name) })),
  };
}

// collection binds a path of the API document to the types of its objects.
export const collection = <P extends CollectionPath>(path: P): Collection<ObjectOf<P>, InputOf<P>> => bind(path);
