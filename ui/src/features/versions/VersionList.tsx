import { Text } from "@mantine/core";
import { IconHistory } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";
import { keys } from "../../api/query";
import { EmptyState } from "../../components/EmptyState";
import { PageHeader } from "../../components/PageHeader";
import { ResourceTable, type Column } from "../../components/ResourceTable";
import { StatusBadge } from "../../components/StatusBadge";
import { formatRelative, formatTime } from "../../i18n/format";
import { useStrings } from "../../i18n";
import { newestQuery } from "./queries";
import { strings } from "./strings";

type Version = Schemas["ConfigVersion"];

export default function VersionList() {
  const t = useStrings(strings);
  const newest = useQuery(newestQuery).data;
  const columns: Column<Version>[] = [
    { header: t.version, width: 150, cell: (v) => <span className="num">{t.number(v.version)}</span> },
    { header: t.summary, cell: (v) => <>{v.summary} {v.version === newest ? <StatusBadge tone="good">{t.inUse}</StatusBadge> : null}</> },
    { header: t.actor, cell: (v) => v.actor, wide: true },
    { header: t.time, align: "right", cell: (v) => <Text span size="sm" c="dimmed" title={formatTime(v.time)}>{formatRelative(v.time)}</Text> },
  ];
  return (
    <>
      <PageHeader title={t.title} intro={t.intro} />
      <ResourceTable<Version>
        label={t.label}
        queryKey={keys.list("versions")}
        fetchPage={({ cursor, limit }) => data(api.GET("/config-versions", { params: { query: { cursor, limit } } })) as Promise<{ items: Version[]; nextCursor?: string }>}
        columns={columns}
        rowKey={(v) => String(v.version)}
        rowHref={(v) => `/versions/${v.version}`}
        defaultSort=""
        searchable={false}
        empty={<EmptyState icon={IconHistory} title={t.emptyTitle} text={t.emptyText} />}
      />
    </>
  );
}
