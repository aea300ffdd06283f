import { Button, Group, Text } from "@mantine/core";
import { IconPlus, IconRoute } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useCanWrite } from "../../api/auth";
import { api, data } from "../../api/client";
import { keys } from "../../api/query";
import { EmptyState } from "../../components/EmptyState";
import { PageHeader } from "../../components/PageHeader";
import { ResourceTable, type Column } from "../../components/ResourceTable";
import { StatusBadge } from "../../components/StatusBadge";
import { common } from "../../i18n/common";
import { useStrings } from "../../i18n";
import { MemberSign } from "./MemberSign";
import type { Route } from "./routeModel";
import { strings } from "./strings";
import "./routes.css";

export default function RouteList() {
  const t = useStrings(strings);
  const c = useStrings(common);
  const create = useCanWrite() ? (
    <Button component={Link} to="/routes/new" data-page-new leftSection={<IconPlus size={15} aria-hidden />}>{t.create}</Button>
  ) : null;
  const columns: Column<Route>[] = [
    { header: c.name, sort: "name", cell: (r) => r.name },
    {
      header: t.tag,
      cell: (r) => (
        <Group gap={6} wrap="nowrap">
          <Text span size="sm" c={r.tag === "stored" ? undefined : "dimmed"} title={t.tagHint[r.tag ?? ""]}>{t.tags[r.tag ?? ""] ?? r.tag}</Text>
          {r.enabled === false ? <StatusBadge tone="paused">{t.off}</StatusBadge> : null}
        </Group>
      ),
    },
    { header: t.patterns, cell: (r) => <Text span size="xs" className="mono il-clip" title={r.modelPatterns.join(", ")}>{r.modelPatterns.join(", ")}</Text> },
    { header: t.members, cell: (r) => <span className="il-members">{r.members.map((m, i) => <MemberSign key={m.provider + i} member={m} />)}</span>, wide: true },
    { header: t.strategy, cell: (r) => (r.members.length > 1 ? (t.strategies[r.strategy?.type ?? "failover"] ?? r.strategy?.type) : <Text span size="sm" c="dimmed">–</Text>), wide: true },
    { header: t.aliases, cell: (r) => r.aliases?.map((a) => a.name).join(", ") || <Text span size="sm" c="dimmed">–</Text>, wide: true },
  ];
  return (
    <>
      <PageHeader title={t.title} intro={t.intro} actions={create} />
      <ResourceTable<Route>
        label={t.label}
        queryKey={keys.list("routes")}
        fetchPage={(query) => data(api.GET("/routes", { params: { query: query as never } }))}
        columns={columns}
        rowKey={(r) => r.name}
        rowHref={(r) => `/routes/${encodeURIComponent(r.name)}`}
        defaultSort="name"
        searchLabel={t.search}
        empty={<EmptyState icon={IconRoute} title={t.emptyTitle} text={t.emptyText} actions={create} />}
      />
    </>
  );
}
