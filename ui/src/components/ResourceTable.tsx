import { Box, Button, CloseButton, Group, Skeleton, Table, Text, TextInput, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconArrowDown, IconArrowUp, IconArrowsSort, IconSearch } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useState, type ReactNode } from "react";
import { common } from "../i18n/common";
import { useStrings } from "../i18n";
import { useListSearch } from "./listSearch";
import { ErrorState } from "./ErrorState";

export type Page<T> = { items: T[]; nextCursor?: string };
export type ListParams = { q?: string; sort?: string; cursor?: string; limit: number };

export type Column<T> = {
  header: string;
  // Nothing is a dash.
  cell: (row: T) => ReactNode;
  // The server's name of the order, if it can sort by this.
  sort?: string;
  width?: number | string;
  align?: "left" | "right";
  // Left out on phones.
  wide?: boolean;
};

type Props<T> = {
  label: string;
  queryKey: readonly unknown[];
  fetchPage: (params: ListParams) => Promise<Page<T>>;
  columns: Column<T>[];
  rowKey: (row: T) => string;
  // Where the first column leads.
  rowHref?: (row: T) => string;
  defaultSort: string;
  searchLabel?: string;
  // False for a collection that the server can't search.
  searchable?: boolean;
  empty: ReactNode;
  filters?: ReactNode;
  // What follows the rows, if all of them are there and nobody searched.
  below?: (rows: T[]) => ReactNode;
  // Other things that the query depends on are set: an empty list is then no
  // empty collection.
  filtered?: boolean;
};

const pageSize = 50;

// ResourceTable lists a collection of the admin API: the server searches, sorts
// and pages; search and order are in the address of the page.
export function ResourceTable<T>(props: Props<T>) {
  const t = useStrings(common);
  const [search, setSearch] = useListSearch();
  const sort = search.sort ?? props.defaultSort;
  const q = search.q ?? "";
  const query = useInfiniteQuery({
    queryKey: [...props.queryKey, { q, sort }],
    queryFn: ({ pageParam }) => props.fetchPage({ q: q || undefined, sort, cursor: pageParam, limit: pageSize }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.nextCursor || undefined,
    placeholderData: (before) => before,
  });
  const rows = query.data?.pages.flatMap((p) => p.items) ?? [];
  const nothing = query.isSuccess && !query.isPlaceholderData && rows.length === 0;
  if (nothing && q === "" && !props.filtered) return <>{props.empty}</>;
  return (
    <Box>
      <Group gap="xs" mb="sm" justify="space-between">
        <Group gap="xs">
          {props.searchable === false ? null : <SearchBox label={props.searchLabel ?? t.search} value={q} onChange={(next) => setSearch({ q: next || undefined })} />}
          {props.filters}
        </Group>
        <Text size="xs" c="dimmed" className="num" aria-live="polite">
          {query.isSuccess ? t.shown(rows.length, query.hasNextPage) : ""}
        </Text>
      </Group>
      {query.isError ? <ErrorState error={query.error} retry={() => void query.refetch()} /> : null}
      {query.isPending ? <LoadingRows /> : null}
      {nothing ? (
        <Group gap="xs" py="lg">
          <Text size="sm" c="dimmed">
            {t.nothingFound(q)}
          </Text>
          <Button variant="default" size="compact-xs" onClick={() => setSearch({ q: undefined })}>
            {t.clearSearch}
          </Button>
        </Group>
      ) : null}
      {rows.length > 0 ? (
        <Box className="il-tablebox" style={{ opacity: query.isPlaceholderData ? 0.6 : 1 }}>
          <Table className="il-table" aria-label={props.label} withRowBorders={false}>
            <Table.Thead>
              <Table.Tr>
                {props.columns.map((c, i) => (
                  <HeaderCell key={i} column={c} sort={sort} onSort={(next) => setSearch({ sort: next === props.defaultSort ? undefined : next })} />
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map((row) => (
                <Table.Tr key={props.rowKey(row)}>
                  {props.columns.map((c, i) => (
                    <Table.Td key={i} ta={c.align} data-align={c.align} visibleFrom={c.wide ? "sm" : undefined}>
                      {i === 0 && props.rowHref ? (
                        <Link to={props.rowHref(row)} className="il-rowlink">
                          {c.cell(row)}
                        </Link>
                      ) : (
                        c.cell(row) || <Text span size="sm" c="dimmed">–</Text>
                      )}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Box>
      ) : null}
      {rows.length > 0 && q === "" && !query.hasNextPage ? props.below?.(rows) : null}
      {query.hasNextPage ? (
        <Group justify="center" mt="md">
          <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {t.more}
          </Button>
        </Group>
      ) : null}
    </Box>
  );
}

function HeaderCell<T>({ column, sort, onSort }: { column: Column<T>; sort: string; onSort: (sort: string) => void }) {
  const up = sort === column.sort;
  const down = sort === `-${column.sort}`;
  const Icon = up ? IconArrowUp : down ? IconArrowDown : IconArrowsSort;
  return (
    <Table.Th w={column.width} ta={column.align} visibleFrom={column.wide ? "sm" : undefined} aria-sort={column.sort ? (up ? "ascending" : down ? "descending" : "none") : undefined}>
      {column.sort ? (
        <UnstyledButton className="il-sort" onClick={() => onSort(up ? `-${column.sort}` : column.sort!)}>
          {column.header}
          <Icon size={13} aria-hidden />
        </UnstyledButton>
      ) : (
        column.header || <VisuallyHidden>{"–"}</VisuallyHidden>
      )}
    </Table.Th>
  );
}

function SearchBox({ label, value, onChange }: { label: string; value: string; onChange: (value: string) => void }) {
  const t = useStrings(common);
  const [text, setText] = useState(value);
  const [settled] = useDebouncedValue(text, 220);
  useEffect(() => {
    if (settled !== value) onChange(settled);
    // Only what was typed goes up; what comes down is handled below.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [settled]);
  useEffect(() => setText(value), [value]);
  return (
    <TextInput
      type="search"
      size="xs"
      w={260}
      aria-label={label}
      placeholder={label}
      data-page-search
      leftSection={<IconSearch size={14} aria-hidden />}
      rightSection={text ? <CloseButton size="xs" aria-label={t.clear} onClick={() => setText("")} /> : <kbd aria-hidden>/</kbd>}
      value={text}
      onChange={(e) => setText(e.currentTarget.value)}
      onKeyDown={(e) => {
        if (e.key === "Escape") setText("");
      }}
    />
  );
}

function LoadingRows() {
  const t = useStrings(common);
  return (
    <Box role="status" aria-label={t.loading}>
      {[92, 78, 85, 70, 88].map((w) => (
        <Skeleton key={w} height={14} width={`${w}%`} my={18} radius="sm" />
      ))}
    </Box>
  );
}
