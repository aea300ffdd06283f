import { Group, Text } from "@mantine/core";
import { IconServer2 } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { Column } from "../../components/ResourceTable";
import { StatusBadge } from "../../components/StatusBadge";
import { formatMs, formatNumber, formatPercent } from "../../i18n/format";
import { useStrings } from "../../i18n";
import { ObjectList } from "../../objects/ObjectList";
import { stateOf, type ProviderHealth } from "./health";
import { providersOf, type Provider } from "./providerModel";
import { healthQuery } from "./providerQueries";
import { strings } from "./strings";
import { VendorMark } from "./VendorMark";

export default function ProviderList() {
  const t = useStrings(strings);
  const health = useQuery(healthQuery).data?.providers;
  const of = (p: Provider): ProviderHealth | undefined => health?.find((h) => h.name === p.name);
  const columns: Column<Provider>[] = [
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
    { header: t.requests, align: "right", cell: (p) => (of(p) ? formatNumber(of(p)!.requests) : undefined), wide: true },
    { header: t.errors, align: "right", cell: (p) => (of(p)?.requests ? formatPercent(of(p)!.errors / of(p)!.requests) : undefined), wide: true },
    { header: t.p95, align: "right", cell: (p) => (of(p)?.p95Ms ? formatMs(of(p)!.p95Ms) : undefined), wide: true },
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
  const name = (p: Provider) => (
    <Group gap={10} wrap="nowrap" component="span">
      <VendorMark provider={p} size={24} />
      {p.name}
    </Group>
  );
  return <ObjectList of={providersOf} texts={t} icon={IconServer2} name={name} columns={columns} />;
}
