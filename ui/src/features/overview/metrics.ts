import type { Schemas } from "../../api/client";
import type { Series } from "../../components/Chart";
import { formatCompact, formatMs, formatNumber, formatPercent, formatUsd } from "../../i18n/format";
import type { strings } from "./strings";

export type Stats = Schemas["Stats"];
type Bucket = Stats["series"][number];
type Texts = (typeof strings)["en"];

export const metricIds = ["requests", "errors", "failovers", "latency", "tokens", "cost"] as const;
export type MetricId = (typeof metricIds)[number];

export type Metric = {
  title: string;
  value: string;
  note: string;
  kind: "bars" | "lines";
  format: (v: number) => string;
  series: Series[];
};

export function metricOf(id: MetricId, stats: Stats, t: Texts): Metric {
  const all = stats.totals;
  const of = (name: string, color: string, value: (b: Bucket) => number | null): Series => ({ name, color: `var(--il-${color})`, values: stats.series.map(value) });
  const share = (n: number) => formatPercent(all.requests > 0 ? n / all.requests : 0);
  switch (id) {
    case "requests": {
      const minutes = Math.max(1, (Date.parse(stats.to) - Date.parse(stats.from)) / 60_000);
      return {
        title: t.requests, value: formatCompact(all.requests), note: all.requests === 0 || all.requests >= minutes ? t.perMinute(formatNumber(all.requests / minutes, 1)) : t.perHour(formatNumber((60 * all.requests) / minutes, 1)), kind: "bars", format: formatCompact,
        series: [of(t.served, "served", (b) => b.requests - b.errors - b.refusals - b.canceled), of(t.errors, "error", (b) => b.errors), of(t.refused, "refused", (b) => b.refusals), of(t.canceled, "canceled", (b) => b.canceled)],
      };
    }
    case "errors":
      return {
        title: t.errors, value: share(all.errors), note: t.refusals(formatNumber(all.refusals)), kind: "bars", format: formatCompact,
        series: [of(t.errors, "error", (b) => b.errors), of(t.refused, "refused", (b) => b.refusals)],
      };
    case "failovers":
      return { title: t.failovers, value: formatCompact(all.failovers), note: t.ofAll(share(all.failovers)), kind: "bars", format: formatCompact, series: [of(t.failovers, "refused", (b) => b.failovers)] };
    case "latency":
      return {
        title: t.latency, value: all.p95Ms > 0 ? formatMs(all.p95Ms) : "–", note: all.p50Ms > 0 ? t.median(formatMs(all.p50Ms)) : "", kind: "lines", format: (v) => (v === 0 ? "0" : formatMs(v)),
        series: [of(t.p95, "blue", (b) => b.p95Ms || null), of(t.p50, "served", (b) => b.p50Ms || null)],
      };
    case "tokens": {
      const k = all.tokens;
      return {
        title: t.tokens, value: formatCompact(k.input + k.cachedRead + k.cachedWrite + k.output), note: t.tokensOut(formatCompact(k.output)), kind: "bars", format: formatCompact,
        series: [of(t.input, "served", (b) => b.tokens.input + b.tokens.cachedWrite), of(t.cached, "served-2", (b) => b.tokens.cachedRead), of(t.output, "blue", (b) => b.tokens.output)],
      };
    }
    case "cost":
      return { title: t.cost, value: formatUsd(all.costUsd), note: all.unpriced > 0 ? t.unpriced(formatCompact(all.unpriced)) : "", kind: "bars", format: formatUsd, series: [of(t.cost, "served", (b) => b.costUsd)] };
  }
}
