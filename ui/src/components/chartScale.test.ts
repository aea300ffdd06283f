import { describe, expect, it } from "vitest";
import { niceTop, ticks } from "./chartScale";

describe("niceTop", () => {
  it.each([[0, 1, 1], [1, 1, 0.5], [7, 8, 2], [97, 100, 50], [61, 80, 20], [0.003, 0.003, 0.001]])("of %d is %d in steps of %d", (max, top, step) => {
    expect(niceTop(max).top).toBeCloseTo(top, 10);
    expect(niceTop(max).step).toBeCloseTo(step, 10);
  });
  it("has its ticks from 0 on", () => expect(ticks({ top: 80, step: 20 })).toEqual([0, 20, 40, 60, 80]));
});
