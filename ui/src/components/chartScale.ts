// niceTop is the first round number that is not below max, and how many steps
// lead to it: 1, 2 or 5 of a power of ten each.
export function niceTop(max: number): { top: number; step: number } {
  if (!(max > 0)) return { top: 1, step: 1 };
  const rough = max / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((s) => s >= rough) ?? power * 10;
  return { top: Math.ceil(max / step - 1e-9) * step, step };
}

export function ticks({ top, step }: { top: number; step: number }): number[] {
  return Array.from({ length: Math.round(top / step) + 1 }, (_, i) => i * step);
}

const minutes = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10_080];

// timeTicks are the buckets that begin at a round time of the day, as many as
// there is room for; days begin at midnight where the reader is.
export function timeTicks(times: number[], room: number): number[] {
  const size = (times[1] ?? 0) - (times[0] ?? 0);
  const span = size * times.length;
  const step = (minutes.find((m) => m * 60_000 >= size && span / (m * 60_000) <= Math.max(2, room)) ?? minutes.at(-1)!) * 60_000;
  const local = (time: number) => time - new Date(time).getTimezoneOffset() * 60_000;
  return times.flatMap((time, i) => {
    const begins = i === 0 ? local(time) % step === 0 : Math.floor(local(time) / step) !== Math.floor(local(times[i - 1]!) / step);
    return begins ? [i] : [];
  });
}
