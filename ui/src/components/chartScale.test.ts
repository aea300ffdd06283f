import { describe, expect, it } from "vitest";
import { niceTop, ticks, timeTicks } from "./chartScale";

describe("niceTop", () => {
  it.each([[0, 1, 1], [1, 1, 0.5], [7, 8, 2], [97, 100, 50], [61, 80, 20], [0.003, 0.003, 0.001]])("of %d is %d in steps of %d", (max, top, step) => {
    expect(niceTop(max).top).toBeCloseTo(top, 10);
    expect(niceTop(max).step).toBeCloseTo(step, 10);
  });
  it("has its ticks from 0 on", () => expect(ticks({ top: 80, step: 20 })).toEqual([0, 20, 40, 60, 80]));
});

const at = (...times: [h: number, m: number][]) => times.map(([h, m]) => new Date(2026, 11, 1, h, m).getTime());

it("times on an axis are round", () => {
  const hour = Array.from({ length: 60 }, (_, i) => at([3, 41 + i])[0]!);
  expect(timeTicks(hour, 10).map((i) => new Date(hour[i]!).getMinutes())).toEqual([50, 0, 10, 20, 30, 40]);
  expect(timeTicks(hour, 3).map((i) => new Date(hour[i]!).getMinutes())).toEqual([0, 30]);
});

it("days on an axis begin at midnight, once each", () => {
  const week = Array.from({ length: 84 }, (_, i) => at([1 + 2 * i, 0])[0]!);
  const days = timeTicks(week, 10).map((i) => new Date(week[i]!).getDate());
  expect(days).toEqual([2, 3, 4, 5, 6, 7]);
  expect(timeTicks([], 5)).toEqual([]);
});
