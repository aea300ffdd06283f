import { Anchor, Box, Button, Table, Text, Title } from "@mantine/core";
import { IconRouteSquare } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { Definitions } from "../../components/Definitions";
import { StatusBadge } from "../../components/StatusBadge";
import { common } from "../../i18n/common";
import { formatClock, formatTime } from "../../i18n/format";
import { useStrings } from "../../i18n";
import { toneOfState, useWord } from "../../i18n/words";
import type { Loaded } from "../../objects/collection";
import { ObjectDetail, ObjectPage } from "../../objects/ObjectDetail";
import { RequestsLink } from "../../objects/RequestsLink";
import type { Member } from "./MemberSign";
import { inOrder, routesOf, stateOf, type Route } from "./routeModel";
import { strings } from "./strings";

export default function RouteDetail() {
  return (
    <ObjectPage of={routesOf} every={10_000}>
      {(loaded) => <Detail loaded={loaded} />}
    </ObjectPage>
  );
}

function Detail({ loaded }: { loaded: Loaded<Route> }) {
  const t = useStrings(strings);
  const c = useStrings(common);
  const word = useWord();
  const r = loaded.value;
  const sample = r.aliases?.[0]?.name ?? r.modelPatterns.find((p) => !p.includes("*")) ?? r.modelPatterns[0]?.replaceAll("*", "x") ?? "";
  return (
    <ObjectDetail
      of={routesOf}
      loaded={loaded}
      state={stateOf(r, t)}
      intro={r.description || t.tagHint[r.tag ?? ""]}
      editable={r.tag === "stored"}
      links={
        <>
          <Button component={Link} to={`/test?model=${encodeURIComponent(sample)}` as string} variant="default" leftSection={<IconRouteSquare size={15} aria-hidden />}>{t.test}</Button>
          <RequestsLink by="route" name={r.name} />
        </>
      }
      remove={{
        title: t.deleteTitle(r.name),
        consequences: [
          t.deleteModels(r.modelPatterns.join(", ")),
          ...(r.aliases?.length ? [t.deleteAliases(r.aliases.map((a) => a.name).join(", "))] : []),
          ...(r.members.length > 0 ? [t.deleteOwn(r.members.map((m) => m.provider).join(", "))] : []),
        ],
        action: t.deleteAction,
      }}
    >
      <Definitions
        items={[
          [t.tag, word("tag", r.tag)],
          [t.patterns, <span key="p" className="mono">{r.modelPatterns.join(", ")}</span>],
          [t.strategy, r.members.length > 1 ? `${word("strategy", r.strategy?.type ?? "failover")}. ${t.strategyHint[r.strategy?.type ?? "failover"] ?? ""}` : ""],
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
          <Definitions items={r.aliases.map((a) => [a.name, <span key={a.name} className="mono">{inOrder(a.wireModels, r.members).map(([p, m]) => `${p}: ${m}`).join(" · ")}</span>])} />
        </>
      ) : null}
    </ObjectDetail>
  );
}

function Members({ members }: { members: Member[] }) {
  const t = useStrings(strings);
  const c = useStrings(common);
  const word = useWord();
  // What is as it is for everybody says nothing.
  const weights = members.some((m) => (m.weight ?? 1) !== 1);
  const priorities = members.some((m) => (m.priority ?? 0) !== 0);
  const fallbacks = members.some((m) => m.fallbackOnly);
  return (
    <Box className="il-tablebox">
      <Table className="il-table" aria-label={t.members} withRowBorders={false}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={40}>{"#"}</Table.Th>
            <Table.Th w={300}>{t.provider}</Table.Th>
            <Table.Th>{t.state}</Table.Th>
            {fallbacks ? <Table.Th visibleFrom="sm">{t.fallbackOnly}</Table.Th> : null}
            {priorities ? <Table.Th visibleFrom="sm" ta="right">{t.priority}</Table.Th> : null}
            {weights ? <Table.Th visibleFrom="sm" ta="right">{t.weight}</Table.Th> : null}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {members.map((m, i) => (
            <Table.Tr key={m.provider + i}>
              <Table.Td className="num">{i + 1}</Table.Td>
              <Table.Td>
                <Anchor component={Link} to={`/providers/${encodeURIComponent(m.provider)}`} size="sm" fw={550} c="var(--mantine-color-text)">{m.provider}</Anchor>
                <Text size="xs" c="dimmed">{word("credentialMode", m.credentialMode)}</Text>
              </Table.Td>
              <Table.Td>
                <StatusBadge tone={toneOfState(m.state)}>{word("state", m.state ?? "healthy")}</StatusBadge>
                {m.until ? <Text span size="xs" c="dimmed"> {t.until(formatClock(m.until, false))}</Text> : null}
              </Table.Td>
              {fallbacks ? <Table.Td visibleFrom="sm">{m.fallbackOnly ? c.yes : ""}</Table.Td> : null}
              {priorities ? <Table.Td visibleFrom="sm" data-align="right" ta="right">{m.priority ?? 0}</Table.Td> : null}
              {weights ? <Table.Td visibleFrom="sm" data-align="right" ta="right">{m.weight ?? 1}</Table.Td> : null}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Box>
  );
}
