import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useRef } from "react";
import { PagePending } from "../../app/Fallbacks";
import { ErrorState } from "../../components/ErrorState";
import { routeQuery, type Before } from "./queries";
import { RouteForm } from "./RouteForm";

export default function RouteEdit() {
  const { name } = useParams({ strict: false }) as { name: string };
  // What was loaded when editing began stays: the server refuses the save if
  // somebody changed it meanwhile.
  const query = useQuery({ ...routeQuery(name), staleTime: Infinity, refetchOnWindowFocus: false });
  const first = useRef<Before>(undefined);
  if (query.isSuccess && !query.isFetching) first.current ??= query.data;
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (!first.current) return <PagePending />;
  const reload = () => {
    first.current = undefined;
    void query.refetch();
  };
  return <RouteForm key={first.current.etag} before={first.current} reload={reload} />;
}
