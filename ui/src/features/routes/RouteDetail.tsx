import { Anchor, Box, Button, Group, Table, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconListSearch, IconPencil, IconRouteSquare, IconTrash } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useCanWrite } from "../../api/auth";
import { api, ifMatch } from "../../api/client";
import { keys } from "../../api/query";
import { PagePending } from "../../app/Fallbacks";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { Definitions } from "../../components/Definitions";
import { ErrorState } from "../../components/ErrorState";
import { ObjectNotes } from "../../components/ObjectNotes";
import { PageHeader } from "../../components/PageHeader";
import { StatusBadge } from "../../components/StatusBadge";
import { toast } from "../../components/toast";
import { common } from "../../i18n/common";
import { formatClock, formatTime } from "../../i18n/format";
import { useStrings } from "../../i18n";
import { toneOf, type Member } from "./MemberSign";
import { routeQuery } from "./queries";
import type { Route } from "./routeModel";
import { strings } from "./strings";

export default function RouteDetail() {
  const { name } = useParams({ strict: false }) as { name: string };
  const query = useQuery({ ...routeQuery(name), refetchInterval: 10_000 });
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (!query.isSuccess) return <PagePending />;
  return <Detail route={query.data.value} etag={query.data.etag} />;
}

function Detail({ route: r, etag }: { route: Route; etag: string }) {
  const t = useStrings(strings);
  const c = useStrings(common);
  const canWrite = useCanWrite() && r.managedBy === "api" && r.tag === "stored";
  const client = useQueryClient();
  const navigate = useNavigate();
  const [removing, remove] = useDisclosure();
  const to = `/routes/${encodeURIComponent(r.name)}`;
  const sample = r.aliases?.[0]?.name ?? r.modelPatterns.find((p) => !p.includes("*")) ?? r.modelPatterns[0]?.replaceAll("*", "x") ?? "";
  const onDelete = async () => {
    await api.DELETE("/routes/{name}", { params: { path: { name: r.name }, header: ifMatch(etag) } });
    toast(t.deleted(r.name));
    await navigate({ to: "/routes" });
    client.removeQueries({ queryKey: keys.object("routes", r.name) });
    await client.invalidateQueries({ queryKey: keys.config });
  };
  return (
    <>
      <PageHeader
        documentTitle={r.name}
        title={
          <Group gap="sm" component="span">
            {r.name}
            <StatusBadge tone={r.enabled === false ? "paused" : "info"}>{r.enabled === false ? t.off : (t.tags[r.tag ?? ""] ?? r.tag)}</StatusBadge>
          </Group>
        }
        intro={r.description || t.tagHint[r.tag ?? ""]}
        back={{ to: "/routes", label: t.title }}
        actions={
          <>
            <Button component={Link} to={`/test?model=${encodeURIComponent(sample)}` as string} variant="default" leftSection={<IconRouteSquare size={15} aria-hidden />}>{t.test}</Button>
            <Button component={Link} to={`/requests?route=${encodeURIComponent(r.name)}` as string} variant="default" leftSection={<IconListSearch size={15} aria-hidden />}>{t.requests}</Button>
            {canWrite ? <Button component={Link} to={`${to}/edit`} variant="default" leftSection={<IconPencil size={15} aria-hidden />}>{c.edit}</Button> : null}
            {canWrite ? <Button variant="light" color="red" leftSection={<IconTrash size={15} aria-hidden />} onClick={remove.open}>{c.delete}</Button> : null}
          </>
        }
      />
      <ObjectNotes object={r} />
      <Definitions
        items={[
          [t.patterns, <span key="p" className="mono">{r.modelPatterns.join(", ")}</span>],
          [t.strategy, r.members.length > 1 ? `${t.strategies[r.strategy?.type ?? "failover"] ?? r.strategy?.type}. ${t.strategyHint[r.strategy?.type ?? "failover"] ?? ""}` : ""],
          [t.orgFallback, r.orgKeyFallbackForCallerCredentials ? c.yes : ""],
          [t.crossProvider, r.allowCrossProvider ? c.yes : ""],
          [t.familyOnQuota, r.switchFamilyOnQuota === false ? c.no : ""],
          [c.updated, r.updatedAt ? formatTime(r.updatedAt) : ""],
        ]}
      />
      <Title order={2} mt="xl" mb="xs">{t.members}</Title>
      <Members members={r.members} />
      {r.aliases?.length ? (
        <>
          <Title order={2} mt="xl" mb="xs">{t.aliases}</Title>
          <Definitions items={r.aliases.map((a) => [a.name, <span key={a.name} className="mono">{Object.entries(a.wireModels).map(([p, m]) => `${p}: ${m}`).join(" · ")}</span>])} />
        </>
      ) : null}
      <ConfirmDialog
        opened={removing}
        onClose={remove.close}
        title={t.deleteTitle(r.name)}
        consequences={[
          t.deleteModels(r.modelPatterns.join(", ")),
          ...(r.aliases?.length ? [t.deleteAliases(r.aliases.map((a) => a.name).join(", "))] : []),
          ...(r.members.length > 0 ? [t.deleteOwn(r.members.map((m) => m.provider).join(", "))] : []),
        ]}
        action={t.deleteAction}
        onConfirm={onDelete}
      />
    </>
  );
}

function Members({ members }: { members: Member[] }) {
  const t = useStrings(strings);
  return (
    <Box className="il-tablebox">
      <Table className="il-table" aria-label={t.members} withRowBorders={false}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={40}>{"#"}</Table.Th>
            <Table.Th>{t.provider}</Table.Th>
            <Table.Th>{t.state}</Table.Th>
            <Table.Th visibleFrom="sm" ta="right">{t.weight}</Table.Th>
            <Table.Th visibleFrom="sm" ta="right">{t.priority}</Table.Th>
            <Table.Th visibleFrom="sm">{t.fallbackOnly}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {members.map((m, i) => (
            <Table.Tr key={m.provider + i}>
              <Table.Td className="num">{i + 1}</Table.Td>
              <Table.Td>
                <Anchor component={Link} to={`/providers/${encodeURIComponent(m.provider)}`} size="sm" fw={550} c="var(--mantine-color-text)">{m.provider}</Anchor>
                <Text size="xs" c="dimmed">{t.mode[m.credentialMode ?? ""] ?? ""}</Text>
              </Table.Td>
              <Table.Td>
                <StatusBadge tone={toneOf(m.state)}>{t.memberState[m.state ?? "healthy"] ?? m.state}</StatusBadge>
                {m.until ? <Text span size="xs" c="dimmed"> {t.until(formatClock(m.until, false))}</Text> : null}
              </Table.Td>
              <Table.Td visibleFrom="sm" data-align="right" ta="right">{m.weight ?? 1}</Table.Td>
              <Table.Td visibleFrom="sm" data-align="right" ta="right">{m.priority ?? 0}</Table.Td>
              <Table.Td visibleFrom="sm">{m.fallbackOnly ? t.fallbackOnly : ""}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Box>
  );
}
