import { Button, Group, Text } from "@mantine/core";
import { IconPlus, IconServer2 } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useCanWrite } from "../../api/auth";
import { api, data } from "../../api/client";
import { keys } from "../../api/query";
import { EmptyState } from "../../components/EmptyState";
import { PageHeader } from "../../components/PageHeader";
import { ResourceTable, type Column } from "../../components/ResourceTable";
import { StatusBadge } from "../../components/StatusBadge";
import { common } from "../../i18n/common";
import { formatMs, formatNumber, formatPercent } from "../../i18n/format";
import { useStrings } from "../../i18n";
import { stateOf, type ProviderHealth } from "./health";
import type { Provider } from "./providerModel";
import { healthQuery } from "./providerQueries";
import { strings } from "./strings";
import { VendorMark } from "./VendorMark";

export default function ProviderList() {
  const t = useStrings(strings);
  const c = useStrings(common);
  const canWrite = useCanWrite();
  const health = useQuery(healthQuery).data?.providers;
  const of = (p: Provider): ProviderHealth | undefined => health?.find((h) => h.name === p.name);
  const dash = (
    <Text span size="sm" c="dimmed">
      –
    </Text>
  );
  const add = canWrite ? (
    <Button component={Link} to="/providers/new" data-page-new leftSection={<IconPlus size={15} aria-hidden />}>
      {t.add}
    </Button>
  ) : null;
  const columns: Column<Provider>[] = [
    {
      header: c.name,
      sort: "name",
      cell: (p) => (
        <Group gap={10} wrap="nowrap" component="span">
          <VendorMark provider={p} size={24} />
          {p.name}
        </Group>
      ),
    },
    {
      header: t.health,
      cell: (p) => {
        const s = stateOf(of(p), p.enabled, p.drained, t);
        return (
          <StatusBadge tone={s.tone} title={s.why}>
            {s.text}
          </StatusBadge>
        );
      },
    },
    { header: t.region, cell: (p) => p.residency ?? "global", wide: true },
    { header: t.requests, align: "right", cell: (p) => (of(p) ? formatNumber(of(p)!.requests) : dash), wide: true },
    { header: t.errors, align: "right", cell: (p) => (of(p)?.requests ? formatPercent(of(p)!.errors / of(p)!.requests) : dash), wide: true },
    { header: t.p95, align: "right", cell: (p) => (of(p)?.p95Ms ? formatMs(of(p)!.p95Ms) : dash), wide: true },
    {
      header: t.usedBy,
      cell: (p) => {
        const routes = (p.usedBy ?? []).filter((u) => u.kind === "Route");
        return (
          <Text span size="sm" c={routes.length > 0 ? undefined : "dimmed"} title={routes.map((r) => r.name).join(", ") || t.usedByNobody}>
            {t.routes(routes.length)}
          </Text>
        );
      },
      wide: true,
    },
  ];
  return (
    <>
      <PageHeader title={t.title} intro={t.intro} actions={add} />
      <ResourceTable<Provider>
        label={t.label}
        queryKey={keys.list("providers")}
        fetchPage={(query) => data(api.GET("/providers", { params: { query: query as never } }))}
        columns={columns}
        rowKey={(p) => p.name}
        rowHref={(p) => `/providers/${encodeURIComponent(p.name)}`}
        defaultSort="name"
        searchLabel={t.search}
        empty={<EmptyState icon={IconServer2} title={t.emptyTitle} text={t.emptyText} actions={add} />}
      />
    </>
  );
}
