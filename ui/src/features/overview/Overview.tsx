import { Box, SegmentedControl, Stack } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ErrorState } from "../../components/ErrorState";
import { PageHeader } from "../../components/PageHeader";
import { useStrings } from "../../i18n";
import { FirstRun } from "./FirstRun";
import { LatestRequests } from "./LatestRequests";
import { Metrics, MetricsPending } from "./Metrics";
import { useLiveStats, windows, type Window } from "./queries";
import { Shares } from "./Shares";
import { strings } from "./strings";
import { Trouble } from "./Trouble";

export default function Overview() {
  const t = useStrings(strings);
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as { window?: string };
  const window: Window = windows.find((w) => w === search.window) ?? "1h";
  const stats = useLiveStats(window);
  return (
    <>
      <PageHeader
        title={t.title}
        actions={
          <SegmentedControl
            size="xs"
            aria-label={t.window}
            value={window}
            onChange={(w) => void navigate({ to: "/", replace: true, search: (w === "1h" ? {} : { window: w }) as never })}
            data={windows.map((value) => ({ value, label: t.windows[value] }))}
          />
        }
      />
      <Stack gap={30}>
        <FirstRun />
        <Trouble />
        {stats.isError ? <ErrorState error={stats.error} retry={() => void stats.refetch()} /> : null}
        {stats.data ? <Metrics stats={stats.data} window={window} /> : stats.isPending ? <MetricsPending /> : null}
        {stats.data && stats.data.totals.requests > 0 ? (
          <Box className="il-two">
            <Shares kind="models" shares={stats.data.models} />
            <Shares kind="providers" shares={stats.data.providers} />
          </Box>
        ) : null}
        <LatestRequests />
      </Stack>
    </>
  );
}
