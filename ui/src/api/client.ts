import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "./schema";
import { asProblem, problemOf } from "./problem";

export type Schemas = components["schemas"];

const whenSignedOut = new Set<() => void>();

// onSignedOut calls back when the server no longer knows who calls.
export function onSignedOut(callback: () => void): () => void {
  whenSignedOut.add(callback);
  return () => whenSignedOut.delete(callback);
}

const conventions: Middleware = {
  onRequest({ request }) {
    if (request.method !== "GET" && request.method !== "HEAD") request.headers.set("X-Interlock-Csrf", "1");
    return request;
  },
  async onResponse({ request, response }) {
    if (response.ok) return undefined;
    if (response.status === 401 && !new URL(request.url).pathname.includes("/auth/")) whenSignedOut.forEach((f) => f());
    throw await problemOf(response);
  },
  onError({ error }) {
    return asProblem(error);
  },
};

export const api = createClient<paths>({ baseUrl: new URL("/api/v1", window.location.origin).href, credentials: "same-origin" });
api.use(conventions);

// data is the body of an answer; an answer that is an error was thrown before.
export async function data<T>(call: Promise<{ data?: T; response: Response }>): Promise<T> {
  const { data } = await call;
  return data as T;
}

// withETag is data with the version to send back as If-Match.
export async function withETag<T>(call: Promise<{ data?: T; response: Response }>): Promise<{ value: T; etag: string }> {
  const { data, response } = await call;
  return { value: data as T, etag: response.headers.get("etag") ?? "" };
}

export const ifMatch = (etag?: string) => (etag ? { "If-Match": etag } : {});

export type ChangeSet = Schemas["ChangeSet"];

// asChangeSet is the answer of a dry run, whose type the document leaves open.
export function asChangeSet(answer: unknown): ChangeSet {
  const set = answer as Partial<ChangeSet> | undefined;
  return { changes: set?.changes ?? [], revision: set?.revision ?? 0, warnings: set?.warnings ?? [] };
}
