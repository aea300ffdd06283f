import { Anchor, Box, Group, Table, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import type { Activity } from "../../api/activity";
import { hasPage } from "../../app/pages";
import { useEvent, useLive } from "../../api/events";
import { Outcome } from "../../components/Outcome";
import { formatClock, formatMs } from "../../i18n/format";
import { useStrings } from "../../i18n";
import { latestQuery } from "./queries";
import { strings } from "./strings";

const shownRows = 8;
const paintMs = 600;

// newest puts two lists together: what was heard and what was asked for come in
// any order.
function newest(a: Activity[], b: Activity[]): Activity[] {
  const id = (row: Activity) => row.requestId ?? row.id;
  return [...a, ...b.filter((row) => !a.some((other) => id(other) === id(row)))].sort((x, y) => y.time.localeCompare(x.time)).slice(0, shownRows);
}

// useLatest begins with what was recorded and goes on with what happens. Rows
// that come fast are painted together, so that they can be read.
function useLatest(): Activity[] | undefined {
  const { data } = useQuery(latestQuery);
  const [rows, setRows] = useState<Activity[]>();
  const waiting = useRef<Activity[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    if (data) setRows((before = []) => newest(before, data.items));
  }, [data]);
  useEvent("request", ({ row }) => {
    waiting.current = [row, ...waiting.current].slice(0, shownRows);
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      const fresh = waiting.current;
      waiting.current = [];
      setRows((before = []) => newest(fresh, before));
    }, paintMs);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  return rows;
}

export function LatestRequests() {
  const t = useStrings(strings);
  const rows = useLatest();
  const live = useLive();
  return (
    <Box component="section" aria-label={t.latest}>
      <Group justify="space-between" mb={4}>
        <Group gap="xs" align="baseline">
          <Title order={2}>{t.latest}</Title>
          {live === "on" ? (
            <Text size="xs" c="dimmed">
              {t.latestLive}
            </Text>
          ) : null}
        </Group>
        {hasPage("requests") ? (
          <Anchor component={Link} to="/requests" size="xs">
            {t.all} →
          </Anchor>
        ) : null}
      </Group>
      {rows?.length === 0 ? (
        <Text size="sm" c="dimmed" py="sm">
          {t.latestEmpty}
        </Text>
      ) : null}
      {rows && rows.length > 0 ? (
        <Box className="il-tablebox">
          <Table className="il-table" aria-label={t.latest} withRowBorders={false} verticalSpacing={6}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th w={90} visibleFrom="sm">{t.time}</Table.Th>
                <Table.Th>{t.model}</Table.Th>
                <Table.Th>{t.answer}</Table.Th>
                <Table.Th visibleFrom="sm">{t.provider}</Table.Th>
                <Table.Th visibleFrom="sm">{t.caller}</Table.Th>
                <Table.Th visibleFrom="sm" ta="right">
                  {t.duration}
                </Table.Th>
                {hasPage("requests") ? (
                  <Table.Th w={70} ta="right">
                    {t.why}
                  </Table.Th>
                ) : null}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map((row) => (
                <Row key={row.requestId ?? row.id} row={row} />
              ))}
            </Table.Tbody>
          </Table>
        </Box>
      ) : null}
    </Box>
  );
}

function Row({ row }: { row: Activity }) {
  const t = useStrings(strings);
  return (
    <Table.Tr>
      <Table.Td className="num" visibleFrom="sm">
        <Text span size="xs" c="dimmed">
          {formatClock(row.time)}
        </Text>
      </Table.Td>
      <Table.Td>
        <Text span size="sm" fw={550}>
          {row.requestedModel || "–"}
        </Text>
      </Table.Td>
      <Table.Td>
        <Outcome row={row} />
      </Table.Td>
      <Table.Td visibleFrom="sm">{row.provider ?? "–"}</Table.Td>
      <Table.Td visibleFrom="sm">{row.caller?.key ?? row.caller?.source ?? "–"}</Table.Td>
      <Table.Td visibleFrom="sm" ta="right" data-align="right">
        {row.durationMs === undefined ? "–" : formatMs(row.durationMs)}
      </Table.Td>
      {hasPage("requests") ? (
        <Table.Td ta="right">
          {row.requestId ? (
            <Anchor component={Link} to={`/requests/${encodeURIComponent(row.requestId)}`} size="xs" aria-label={t.whyOf(row.requestedModel ?? "–")}>
              {t.why}
            </Anchor>
          ) : null}
        </Table.Td>
      ) : null}
    </Table.Tr>
  );
}
