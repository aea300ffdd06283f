import { Button, Text } from "@mantine/core";
import { IconKey, IconPlus } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { api, data } from "../../api/client";
import { useCanWrite } from "../../api/auth";
import { keys } from "../../api/query";
import { EmptyState } from "../../components/EmptyState";
import { PageHeader } from "../../components/PageHeader";
import { ResourceTable, type Column } from "../../components/ResourceTable";
import { StatusBadge } from "../../components/StatusBadge";
import { common } from "../../i18n/common";
import { formatRelative, formatTime } from "../../i18n/format";
import { useStrings } from "../../i18n";
import { ownerOf, stateOf, type Key } from "./keyModel";
import { strings } from "./strings";

export default function KeyList() {
  const t = useStrings(strings);
  const c = useStrings(common);
  const canWrite = useCanWrite();
  const create = canWrite ? (
    <Button component={Link} to="/keys/new" data-page-new leftSection={<IconPlus size={15} aria-hidden />}>
      {t.create}
    </Button>
  ) : null;
  const columns: Column<Key>[] = [
    { header: c.name, sort: "name", cell: (k) => k.name },
    {
      header: t.state,
      cell: (k) => {
        const s = stateOf(k, t);
        return <StatusBadge tone={s.tone}>{s.text}</StatusBadge>;
      },
    },
    { header: t.type, cell: (k) => t.types[k.type], wide: true },
    { header: t.owner, cell: (k) => ownerOf(k) || <Text span size="sm" c="dimmed">–</Text>, wide: true },
    { header: t.team, cell: (k) => k.team ?? <Text span size="sm" c="dimmed">–</Text>, wide: true },
    { header: t.secret, cell: (k) => <Text span className="mono" size="xs" c="dimmed">…{k.last4}</Text>, wide: true },
    { header: t.expires, cell: (k) => (k.expiresAt ? <span title={formatTime(k.expiresAt)}>{formatRelative(k.expiresAt)}</span> : <Text span size="sm" c="dimmed">{c.never}</Text>), wide: true },
    { header: c.updated, sort: "updatedAt", align: "right", cell: (k) => <Text span size="sm" c="dimmed" title={formatTime(k.updatedAt!)}>{formatRelative(k.updatedAt!)}</Text> },
  ];
  return (
    <>
      <PageHeader title={t.title} intro={t.intro} actions={create} />
      <ResourceTable<Key>
        label={t.label}
        queryKey={keys.list("keys")}
        fetchPage={(query) => data(api.GET("/keys", { params: { query: query as never } }))}
        columns={columns}
        rowKey={(k) => k.name}
        rowHref={(k) => `/keys/${encodeURIComponent(k.name)}`}
        defaultSort="name"
        searchLabel={t.search}
        empty={<EmptyState icon={IconKey} title={t.emptyTitle} text={t.emptyText} actions={create} />}
      />
    </>
  );
}
