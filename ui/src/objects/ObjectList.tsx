import { Button } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { ComponentType, ReactNode } from "react";
import { useCanWrite } from "../api/auth";
import { keys } from "../api/query";
import { EmptyState } from "../components/EmptyState";
import { PageHeader } from "../components/PageHeader";
import { ResourceTable, type Column } from "../components/ResourceTable";
import { common } from "../i18n/common";
import { useStrings } from "../i18n";
import type { Collection, Named } from "./collection";

export type ListTexts = { title: string; intro: string; label: string; search: string; create: string; emptyTitle: string; emptyText: string };

type Props<T extends Named, I> = {
  of: Collection<T, I>;
  texts: ListTexts;
  icon: ComponentType<{ size?: number; stroke?: number }>;
  // The cell of the name, if it is more than that.
  name?: (object: T) => ReactNode;
  columns: Column<T>[];
  below?: (rows: T[]) => ReactNode;
};

// ObjectList is the page of a collection: search, order, what there is, and
// what to do when there is nothing.
export function ObjectList<T extends Named, I>({ of, texts: t, icon, name, columns, below }: Props<T, I>) {
  const c = useStrings(common);
  const create = useCanWrite() ? (
    <Button component={Link} to={`${of.path}/new`} data-page-new leftSection={<IconPlus size={15} aria-hidden />}>
      {t.create}
    </Button>
  ) : null;
  return (
    <>
      <PageHeader title={t.title} intro={t.intro} actions={create} />
      <ResourceTable<T>
        label={t.label}
        queryKey={keys.list(of.path.slice(1))}
        fetchPage={of.page}
        columns={[{ header: c.name, sort: "name", cell: name ?? ((o) => o.name) }, ...columns]}
        rowKey={(o) => o.name}
        rowHref={(o) => of.href(o.name)}
        defaultSort="name"
        searchLabel={t.search}
        below={below}
        empty={<EmptyState icon={icon} title={t.emptyTitle} text={t.emptyText} actions={create} />}
      />
    </>
  );
}
