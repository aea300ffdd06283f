import { Text } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import type { Column } from "../../components/ResourceTable";
import { StatusBadge } from "../../components/StatusBadge";
import { common } from "../../i18n/common";
import { formatRelative, formatTime } from "../../i18n/format";
import { useStrings } from "../../i18n";
import { useWord } from "../../i18n/words";
import { ObjectList } from "../../objects/ObjectList";
import { keysOf, ownerOf, stateOf, type Key } from "./keyModel";
import { strings } from "./strings";

export default function KeyList() {
  const t = useStrings(strings);
  const c = useStrings(common);
  const word = useWord();
  const columns: Column<Key>[] = [
    {
      header: t.state,
      cell: (k) => {
        const s = stateOf(k, t);
        return <StatusBadge tone={s.tone}>{s.text}</StatusBadge>;
      },
    },
    { header: t.type, cell: (k) => word("keyType", k.type), wide: true },
    { header: t.owner, cell: (k) => ownerOf(k), wide: true },
    { header: t.team, cell: (k) => k.team, wide: true },
    { header: t.secret, cell: (k) => <Text span className="mono" size="xs" c="dimmed">…{k.last4}</Text>, wide: true },
    { header: t.expires, cell: (k) => (k.expiresAt ? <span title={formatTime(k.expiresAt)}>{formatRelative(k.expiresAt)}</span> : <Text span size="sm" c="dimmed">{c.never}</Text>), wide: true },
    { header: c.updated, sort: "updatedAt", align: "right", cell: (k) => <Text span size="sm" c="dimmed" title={formatTime(k.updatedAt!)}>{formatRelative(k.updatedAt!)}</Text> },
  ];
  return <ObjectList of={keysOf} texts={t} icon={IconKey} columns={columns} />;
}
