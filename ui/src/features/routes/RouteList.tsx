import { Group, Text } from "@mantine/core";
import { IconRoute } from "@tabler/icons-react";
import { EmptyState } from "../../components/EmptyState";
import type { Column } from "../../components/ResourceTable";
import { StatusBadge } from "../../components/StatusBadge";
import { useStrings } from "../../i18n";
import { useWord } from "../../i18n/words";
import { ObjectList } from "../../objects/ObjectList";
import { MemberSign } from "./MemberSign";
import { routesOf, type Route } from "./routeModel";
import { strings } from "./strings";
import "./routes.css";

export default function RouteList() {
  const t = useStrings(strings);
  const word = useWord();
  const columns: Column<Route>[] = [
    {
      header: t.tag,
      cell: (r) => (
        <Group gap={6} wrap="nowrap">
          <Text span size="sm" c={r.tag === "stored" ? undefined : "dimmed"} title={t.tagHint[r.tag ?? ""]}>{word("tag", r.tag)}</Text>
          {r.enabled === false ? <StatusBadge tone="paused">{t.off}</StatusBadge> : null}
        </Group>
      ),
    },
    { header: t.patterns, cell: (r) => r.modelPatterns.length > 0 && <Text span size="xs" className="mono il-clip" title={r.modelPatterns.join(", ")}>{r.modelPatterns.join(", ")}</Text> },
    { header: t.members, cell: (r) => r.members.length > 0 && <span className="il-members">{r.members.map((m, i) => <MemberSign key={m.provider + i} member={m} />)}</span>, wide: true },
    { header: t.strategy, cell: (r) => (r.members.length > 1 ? word("strategy", r.strategy?.type ?? "failover") : undefined), wide: true },
    { header: t.aliases, cell: (r) => r.aliases?.map((a) => a.name).join(", "), wide: true },
  ];
  return <ObjectList of={routesOf} texts={t} icon={IconRoute} columns={columns} below={(rows) => (rows.some((r) => r.tag === "stored") ? null : <EmptyState icon={IconRoute} title={t.emptyTitle} text={t.emptyText} />)} />;
}
