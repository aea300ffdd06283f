import { Box, Table, Text, VisuallyHidden } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useState } from "react";
import { niceTop, ticks, timeTicks } from "./chartScale";

export type Series = { name: string; color: string; values: (number | null)[] };

type Props = {
  label: string;
  timeHeader: string;
  // When each bucket begins, and how that is written on the axis and in full.
  times: number[];
  axisTime: (time: number) => string;
  fullTime: (time: number) => string;
  series: Series[];
  // Bars stand on each other; lines have a gap where there is no value.
  kind: "bars" | "lines";
  format: (value: number) => string;
  height?: number;
  // Said in place of bars if there is nothing to draw.
  empty?: string;
};

const left = 52;
const bottom = 22;
const headroom = 8;

// Chart draws a few series over time. A table with the same numbers is there
// for who does not see it.
export function Chart(props: Props) {
  const { label, times, series, kind, height = 200 } = props;
  const { ref, width } = useElementSize();
  const [at, setAt] = useState<number>();
  const count = times.length;
  const inner = Math.max(0, width - left);
  const slot = count > 0 ? inner / count : 0;
  const sums = times.map((_, i) => (kind === "bars" ? series.reduce((a, s) => a + (s.values[i] ?? 0), 0) : Math.max(0, ...series.map((s) => s.values[i] ?? 0))));
  const scale = niceTop(Math.max(0, ...sums));
  const y = (v: number) => headroom + (height - bottom - headroom) * (1 - v / scale.top);
  const shown = at !== undefined && at < count ? at : undefined;
  return (
    <Box ref={ref} pos="relative" h={height}>
      {width > 0 ? (
        <svg
          width={width}
          height={height}
          aria-hidden
          style={{ display: "block", overflow: "visible" }}
          onPointerMove={(e) => {
            const x = e.clientX - e.currentTarget.getBoundingClientRect().left - left;
            setAt(x < 0 || slot === 0 ? undefined : Math.min(count - 1, Math.floor(x / slot)));
          }}
          onPointerLeave={() => setAt(undefined)}
        >
          <rect width={width} height={height} fill="transparent" />
          <Axes {...props} width={width} height={height} slot={slot} scale={scale} y={y} />
          {shown === undefined ? null : <rect x={left + shown * slot} y={headroom} width={slot} height={height - bottom - headroom} fill="var(--il-selected)" />}
          {kind === "bars" ? <Bars series={series} count={count} slot={slot} y={y} /> : <Lines series={series} slot={slot} y={y} />}
        </svg>
      ) : null}
      {props.empty && Math.max(0, ...sums) === 0 ? (
        <Text className="il-nothing" size="sm" c="dimmed">
          {props.empty}
        </Text>
      ) : null}
      {shown === undefined ? null : <Tip {...props} at={shown} x={left + (shown + 0.5) * slot} width={width} />}
      <Numbers {...props} label={label} />
    </Box>
  );
}

type Inside = { slot: number; y: (v: number) => number };

function Axes({ times, axisTime, format, width, height, slot, scale, y }: Props & Inside & { width: number; scale: ReturnType<typeof niceTop> }) {
  const shown = timeTicks(times, Math.floor((width - left) / 90));
  return (
    <g fontSize={11} fill="var(--mantine-color-dimmed)" className="num">
      {ticks(scale).map((v) => (
        <g key={v}>
          <line x1={left} x2={width} y1={y(v)} y2={y(v)} stroke="var(--il-line)" />
          <text x={left - 10} y={y(v)} dy="0.32em" textAnchor="end">
            {format(v)}
          </text>
        </g>
      ))}
      {shown.map((i) => {
        const x = left + i * slot;
        return (
          <text key={i} x={x} y={(height ?? 200) - 4} textAnchor={x < left + 20 ? "start" : x > width - 20 ? "end" : "middle"}>
            {axisTime(times[i]!)}
          </text>
        );
      })}
    </g>
  );
}

function Bars({ series, count, slot, y }: Inside & { series: Series[]; count: number }) {
  const gap = slot > 6 ? 2 : slot > 3 ? 1 : 0;
  return (
    <g>
      {Array.from({ length: count }, (_, i) => {
        let base = 0;
        return series.map((s) => {
          const v = s.values[i] ?? 0;
          if (v <= 0) return null;
          const from = y(base);
          base += v;
          // What happened at all is at least a line.
          const h = Math.max(1.5, from - y(base));
          return <rect key={`${s.name}${i}`} x={left + i * slot + gap / 2} y={from - h} width={Math.max(0.5, slot - gap)} height={h} rx={Math.min(1.5, slot / 4)} fill={s.color} />;
        });
      })}
    </g>
  );
}

function Lines({ series, slot, y }: Inside & { series: Series[] }) {
  return (
    <g fill="none" strokeWidth={1.75} strokeLinejoin="round" strokeLinecap="round">
      {series.map((s) => {
        let path = "";
        let pen = false;
        s.values.forEach((v, i) => {
          if (v === null) {
            pen = false;
            return;
          }
          const [x, h] = [left + (i + 0.5) * slot, y(v)];
          // One value between two gaps is a dot.
          path += pen ? `L${x} ${h}` : `M${x} ${h}h0.01`;
          pen = true;
        });
        return <path key={s.name} d={path} stroke={s.color} />;
      })}
    </g>
  );
}

function Tip({ series, times, fullTime, format, at, x, width }: Props & { at: number; x: number; width: number }) {
  const side = x > width / 2 ? { right: width - x + 10 } : { left: x + 10 };
  return (
    <Box className="il-tip" style={{ top: 6, ...side }} aria-hidden>
      <div className="il-tip-time">{fullTime(times[at]!)}</div>
      {series.map((s) => (
        <div key={s.name} className="il-tip-row">
          <i style={{ background: s.color }} />
          {s.name}
          <b className="num">{s.values[at] === null ? "–" : format(s.values[at] ?? 0)}</b>
        </div>
      ))}
    </Box>
  );
}

export function Legend({ series }: { series: Pick<Series, "name" | "color">[] }) {
  return (
    <div className="il-legend">
      {series.map((s) => (
        <span key={s.name}>
          <i style={{ background: s.color }} />
          {s.name}
        </span>
      ))}
    </div>
  );
}

function Numbers({ label, timeHeader, times, fullTime, series, format }: Props) {
  const rows = times.map((time, i) => ({ time, i })).filter(({ i }) => series.some((s) => s.values[i]));
  return (
    <VisuallyHidden>
      <Table aria-label={label}>
        <thead>
          <tr>
            <th>{timeHeader}</th>
            {series.map((s) => (
              <th key={s.name}>{s.name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ time, i }) => (
            <tr key={time}>
              <th>{fullTime(time)}</th>
              {series.map((s) => (
                <td key={s.name}>{s.values[i] === null ? "–" : format(s.values[i] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </Table>
    </VisuallyHidden>
  );
}
