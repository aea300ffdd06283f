import { Box, Group, Skeleton, Text } from "@mantine/core";
import { useRef, useState, type KeyboardEvent } from "react";
import { Chart, Legend } from "../../components/Chart";
import { formatClock, formatDay, formatTime } from "../../i18n/format";
import { useStrings } from "../../i18n";
import { metricIds, metricOf, type MetricId, type Stats } from "./metrics";
import type { Window } from "./queries";
import { strings } from "./strings";

// Metrics are the figures of the period; the one that is chosen is drawn below.
export function Metrics({ stats, window }: { stats: Stats; window: Window }) {
  const t = useStrings(strings);
  const [chosen, setChosen] = useState<MetricId>("requests");
  const tabs = useRef<HTMLDivElement>(null);
  const metric = metricOf(chosen, stats, t);
  const onKey = (e: KeyboardEvent) => {
    const step = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    e.preventDefault();
    const next = metricIds[(metricIds.indexOf(chosen) + step + metricIds.length) % metricIds.length]!;
    setChosen(next);
    tabs.current?.querySelector<HTMLElement>(`#metric-${next}`)?.focus();
  };
  const partial = Date.parse(stats.since) > Date.parse(stats.from) + stats.bucketSeconds * 1000;
  return (
    <Box>
      <div className="il-metrics" role="tablist" aria-label={t.metric} ref={tabs} onKeyDown={onKey}>
        {metricIds.map((id) => {
          const m = metricOf(id, stats, t);
          return (
            <button key={id} type="button" role="tab" id={`metric-${id}`} aria-selected={id === chosen} aria-controls="metric-chart" tabIndex={id === chosen ? 0 : -1} onClick={() => setChosen(id)}>
              <span>{m.title}</span>
              <b className="num">{m.value}</b>
              <small>{m.note || "\u00a0"}</small>
            </button>
          );
        })}
      </div>
      <Box id="metric-chart" role="tabpanel" aria-labelledby={`metric-${chosen}`} mt="md">
        <Chart
          label={t.chart(metric.title, t.windows[window])}
          timeHeader={t.time}
          kind={metric.kind}
          format={metric.format}
          series={metric.series}
          times={stats.series.map((b) => Date.parse(b.time))}
          axisTime={(time) => (window === "7d" ? formatDay(time) : formatClock(time, false))}
          fullTime={(time) => (window === "1h" ? formatClock(time, false) : formatTime(time))}
          height={210}
          empty={t.nothing}
        />
        <Group justify="space-between" mt={8}>
          <Legend series={metric.series} />
          {partial ? (
            <Text size="xs" c="dimmed">
              {t.partial(formatTime(stats.since))}
            </Text>
          ) : null}
        </Group>
      </Box>
    </Box>
  );
}

export function MetricsPending() {
  return (
    <Box>
      <Skeleton height={76} radius="md" />
      <Skeleton height={210} mt="md" radius="md" />
    </Box>
  );
}
