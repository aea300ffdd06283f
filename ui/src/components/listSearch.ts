import { useNavigate, useSearch } from "@tanstack/react-router";

export type ListSearch = { q?: string; sort?: string } & Record<string, string | undefined>;

// useListSearch is the state of a list that belongs in the address: the search,
// the order, and filters of the page. Setting undefined takes one away.
export function useListSearch(): [ListSearch, (change: ListSearch) => void] {
  const search = useSearch({ strict: false }) as ListSearch;
  const navigate = useNavigate();
  const set = (change: ListSearch) =>
    void navigate({ to: ".", replace: true, search: ((before: ListSearch) => ({ ...before, ...change })) as never });
  return [search, set];
}
