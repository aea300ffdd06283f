import { queryOptions, useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { api, data, type Schemas } from "./client";
import { keys, queryClient } from "./query";

export type AuthState = Schemas["AuthState"];

export const authState = queryOptions({
  queryKey: keys.auth,
  queryFn: () => data(api.GET("/auth/state")),
  staleTime: 60_000,
});

export function useAuth(): AuthState {
  return useSuspenseQuery(authState).data;
}

// useCanWrite says if the person may change things. The server decides; this
// only keeps buttons away that it would refuse.
export function useCanWrite(): boolean {
  return useQuery(authState).data?.user?.role === "gateway-admin";
}

export async function signIn(name: string, password: string): Promise<void> {
  await api.POST("/auth/sign-in", { body: { name, password } });
  await startOver();
}

export async function setUp(token: string, name: string, password: string): Promise<void> {
  await api.POST("/auth/setup", { body: { token, name, password } });
  await startOver();
}

export async function signOut(): Promise<void> {
  await api.POST("/auth/sign-out", { body: {} });
  await startOver();
}

// startOver forgets what the person before could see.
async function startOver(): Promise<void> {
  queryClient.removeQueries({ predicate: (q) => q.queryKey[0] !== "auth" });
  await queryClient.fetchQuery({ ...authState, staleTime: 0 });
}

export const oidcStart = (returnTo: string) => `/api/v1/auth/oidc/start?returnTo=${encodeURIComponent(returnTo)}`;
