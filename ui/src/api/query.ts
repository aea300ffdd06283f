// Query keys in one place: whoever changes something knows what to refetch.
import { QueryClient } from "@tanstack/react-query";
import { asProblem } from "./problem";

export const keys = {
  auth: ["auth"] as const,
  // Everything that a change of the configuration may change begins with this.
  config: ["config"] as const,
  list: (kind: string, params: object = {}) => ["config", kind, "list", params] as const,
  object: (kind: string, name: string) => ["config", kind, "object", name] as const,
  health: ["health"] as const,
  stats: (window: string) => ["stats", window] as const,
  activity: (params: object = {}) => ["activity", params] as const,
};

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      retry: (failures, error) => {
        const { status } = asProblem(error);
        return failures < 2 && (status === 0 || status >= 500);
      },
      refetchOnWindowFocus: true,
    },
  },
});
