import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { PagePending } from "../app/Fallbacks";
import { ErrorState } from "../components/ErrorState";
import { PageHeader } from "../components/PageHeader";
import { common } from "../i18n/common";
import { useStrings } from "../i18n";
import type { Loaded, Named } from "./collection";
import type { FieldsProps, ObjectFormDef } from "./form";
import { useListLink } from "./list";
import { ObjectForm } from "./ObjectForm";

type Props<T extends Named, I, V> = {
  def: ObjectFormDef<T, I, V>;
  labels: Record<string, string>;
  children: (fields: FieldsProps<T, V>) => ReactNode;
};

// ObjectEdit changes the object that the address names, as it was when editing
// began. It does not follow later changes: the server refuses a save over one,
// by the version.
export function ObjectEdit<T extends Named, I, V extends { name: string }>({ def, labels, children }: Props<T, I, V>) {
  const c = useStrings(common);
  const { name } = useParams({ strict: false }) as { name: string };
  const [first, setFirst] = useState<Loaded<T>>();
  const query = useQuery({ ...def.of.query(name), staleTime: 0, refetchOnWindowFocus: false, enabled: first === undefined });
  if (first === undefined && query.isSuccess && !query.isFetching) setFirst(query.data);
  const back = useListLink(def.of);
  if (query.isError && !first) {
    return (
      <>
        <PageHeader title={name} back={back} />
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      </>
    );
  }
  if (!first) return <PagePending />;
  return (
    <ObjectForm key={first.etag} def={def} labels={labels} title={c.editTitle(name)} back={{ to: def.of.href(name), label: name }} before={first} reload={() => setFirst(undefined)}>
      {children}
    </ObjectForm>
  );
}
