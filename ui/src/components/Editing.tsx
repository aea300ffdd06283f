import { useQuery, type QueryKey, type UseQueryOptions } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { PagePending } from "../app/Fallbacks";
import { ErrorState } from "./ErrorState";

type Loaded<T> = { value: T; etag: string };

// Editing shows a form for what was loaded when editing began. It does not
// follow later changes: the server refuses a save over one, by the version.
export function Editing<T, K extends QueryKey>({ query, children }: { query: UseQueryOptions<Loaded<T>, Error, Loaded<T>, K>; children: (loaded: Loaded<T>, reload: () => void) => ReactNode }) {
  const [first, setFirst] = useState<Loaded<T>>();
  const result = useQuery({ ...query, staleTime: 0, refetchOnWindowFocus: false, enabled: first === undefined });
  if (first === undefined && result.isSuccess && !result.isFetching) setFirst(result.data);
  if (result.isError && !first) return <ErrorState error={result.error} retry={() => void result.refetch()} />;
  if (!first) return <PagePending />;
  return <div key={first.etag}>{children(first, () => setFirst(undefined))}</div>;
}
