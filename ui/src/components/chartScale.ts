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
