import { Button, Group, Select, Table, Text, TextInput } from "@mantine/core";
import { IconListSearch, IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { listActivity, type Activity } from "../../api/activity";
import { useEvent } from "../../api/events";
import { useNames } from "../../api/names";
import { keys } from "../../api/query";
import { PagePending } from "../../app/Fallbacks";
import { EmptyState } from "../../components/EmptyState";
import { ErrorState } from "../../components/ErrorState";
import { useListSearch } from "../../components/listSearch";
import { PageHeader } from "../../components/PageHeader";
import { Outcome } from "../../components/Outcome";
import { common } from "../../i18n/common";
import { formatClock, formatMs, formatNumber, formatTime } from "../../i18n/format";
import { useStrings } from "../../i18n";
import { words } from "../../i18n/words";
import { callerOf, filterNames, filtersOf, matches, tokensOf, type Filters } from "./look";
import { strings } from "./strings";

const pageSize = 50;
// More than this is not kept above a list that is not loaded again.
const maxNew = 200;

export default function RequestList() {
  const t = useStrings(strings);
  const c = useStrings(common);
  const [search, setSearch] = useListSearch();
  const filters = filtersOf(search);
  const client = useQueryClient();
  const [paused, setPaused] = useState(false);
  const [fresh, setFresh] = useState<{ of: string; rows: Activity[] }>({ of: "", rows: [] });
  const of = JSON.stringify(filters);
  const queryKey = keys.activity({ requests: true, ...filters });
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => listActivity({ kind: "request", ...filters, cursor: pageParam, limit: pageSize } as never),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.nextCursor || undefined,
    placeholderData: (before) => before,
  });
  useEvent("request", (event) => {
    const row = ((event as { row?: Activity }).row ?? event) as Activity;
    if (!matches(row, filters)) return;
    setFresh((f) => ({ of, rows: [row, ...(f.of === of ? f.rows : [])].slice(0, maxNew) }));
  });
  const loaded = query.data?.pages.flatMap((p) => p.items) ?? [];
  const newer = fresh.of === of ? fresh.rows.filter((r) => !loaded.some((l) => l.requestId === r.requestId)) : [];
  const rows = paused ? loaded : [...newer, ...loaded];
  const filtered = Object.keys(filters).length > 0;
  const clear = () => setSearch(Object.fromEntries(filterNames.map((n) => [n, undefined])));
  const toggle = () => {
    if (paused) {
      setFresh({ of, rows: [] });
      void client.invalidateQueries({ queryKey });
    }
    setPaused(!paused);
  };
  return (
    <>
      <PageHeader
        title={t.title}
        intro={t.intro}
        actions={
          <Button variant="default" onClick={toggle} leftSection={paused ? <IconPlayerPlay size={15} aria-hidden /> : <IconPlayerPause size={15} aria-hidden />}>
            {paused ? `${t.resume}${newer.length > 0 ? ` · ${t.newer(newer.length)}` : ""}` : t.pause}
          </Button>
        }
      />
      <FilterBar filters={filters} set={(f) => setSearch(f as never)} />
      {query.isError ? <ErrorState error={query.error} retry={() => void query.refetch()} /> : null}
      {query.isPending ? <PagePending /> : null}
      {query.isSuccess && rows.length === 0 && !filtered ? (
        <EmptyState icon={IconListSearch} title={t.emptyTitle} text={t.emptyText} actions={<Button component={Link} to="/client-setup">{t.connect}</Button>} />
      ) : null}
      {query.isSuccess && rows.length === 0 && filtered ? (
        <Group gap="xs" py="lg">
          <Text size="sm" c="dimmed">{t.nothing}</Text>
          <Button variant="default" size="compact-xs" onClick={clear}>{t.clear}</Button>
        </Group>
      ) : null}
      {rows.length > 0 ? <Rows rows={rows} /> : null}
      {query.hasNextPage ? (
        <Group justify="center" mt="md">
          <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>{c.more}</Button>
        </Group>
      ) : null}
    </>
  );
}

// having is a list with what is chosen in it: a filter shows before the names are
// here, and stays when an object is deleted.
const having = (names: string[], chosen?: string) => (chosen === undefined || names.includes(chosen) ? names : [chosen, ...names]);

function FilterBar({ filters, set }: { filters: Filters; set: (f: Filters) => void }) {
  const t = useStrings(strings);
  const providers = useNames("providers");
  const routes = useNames("routes");
  const keyNames = useNames("keys");
  const outcomes = Object.entries(useStrings(words).outcome).map(([value, label]) => ({ value, label }));
  return (
    <Group gap="xs" mb="sm">
      <Select size="xs" w={150} aria-label={t.status} placeholder={t.anyOutcome} data={outcomes} value={filters.outcome ?? null} onChange={(v) => set({ outcome: v ?? undefined })} clearable />
      <Select size="xs" w={170} aria-label={t.provider} placeholder={t.anyProvider} data={having(providers, filters.provider)} value={filters.provider ?? null} onChange={(v) => set({ provider: v ?? undefined })} searchable clearable />
      <Select size="xs" w={150} aria-label={t.route} placeholder={t.anyRoute} data={having(routes, filters.route)} value={filters.route ?? null} onChange={(v) => set({ route: v ?? undefined })} searchable clearable />
      <Select size="xs" w={150} aria-label={t.key} placeholder={t.anyKey} data={having(keyNames, filters.key)} value={filters.key ?? null} onChange={(v) => set({ key: v ?? undefined })} searchable clearable />
      <form
        onSubmit={(e) => {
          e.preventDefault();
          set({ model: String(new FormData(e.currentTarget).get("model") ?? "").trim() || undefined });
        }}
      >
        <TextInput key={filters.model ?? ""} size="xs" w={190} name="model" aria-label={t.filterModel} placeholder={t.filterModel} defaultValue={filters.model} data-page-search onBlur={(e) => set({ model: e.currentTarget.value.trim() || undefined })} />
      </form>
    </Group>
  );
}

function Rows({ rows }: { rows: Activity[] }) {
  const t = useStrings(strings);
  return (
    <div className="il-tablebox">
      <Table className="il-table" aria-label={t.label} withRowBorders={false}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t.time}</Table.Th>
            <Table.Th>{t.status}</Table.Th>
            <Table.Th>{t.model}</Table.Th>
            <Table.Th visibleFrom="sm">{t.key}</Table.Th>
            <Table.Th visibleFrom="sm">{t.provider}</Table.Th>
            <Table.Th visibleFrom="sm" ta="right">{t.tokens}</Table.Th>
            <Table.Th ta="right">{t.duration}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((r) => (
            <Table.Tr key={r.requestId ?? r.id}>
              <Table.Td>
                <Link to={`/requests/${encodeURIComponent(r.requestId ?? "")}` as string} className="il-rowlink num" title={formatTime(r.time)}>{formatClock(r.time)}</Link>
              </Table.Td>
              <Table.Td>
                <Outcome row={r} />
              </Table.Td>
              <Table.Td>{r.requestedModel ? <Text span size="sm" className="mono">{r.requestedModel}</Text> : <Text span size="sm" c="dimmed">–</Text>}</Table.Td>
              <Table.Td visibleFrom="sm">{callerOf(r.caller)}</Table.Td>
              <Table.Td visibleFrom="sm">
                {r.provider ?? <Text span size="sm" c="dimmed">–</Text>}
                {r.retries ? <Text span size="xs" c="dimmed"> · {t.retried(r.retries)}</Text> : null}
              </Table.Td>
              <Table.Td visibleFrom="sm" data-align="right" ta="right">{tokensOf(r.usage) ? formatNumber(tokensOf(r.usage)) : <Text span size="sm" c="dimmed">–</Text>}</Table.Td>
              <Table.Td data-align="right" ta="right">{r.durationMs === undefined ? "" : formatMs(r.durationMs)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
