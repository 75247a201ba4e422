import { expect, test } from "vitest";
import { divide, heightOf, NOTHING_SPARE } from "./spareHeight";

test("spare height goes to the chart and to lists that have more rows, and is never exceeded", () => {
  expect(divide(0, 5, 9, true)).toEqual(NOTHING_SPARE);
  expect(divide(200, 5, 9, true)).toEqual({ chart: 119, sites: 3, codes: 0 });
  expect(divide(600, 5, 9, true)).toEqual({ chart: 260, sites: 5, codes: 4 });
  expect(divide(600, 5, 9, false)).toEqual({ chart: 0, sites: 5, codes: 9 });
  for (let px = 0; px < 1500; px += 7)
    for (const sites of [0, 2, 20])
      for (const codes of [0, 1, 9, 60]) {
        const spare = divide(px, sites, codes, px % 2 === 0);
        expect(heightOf(spare)).toBeLessThanOrEqual(px);
        expect(spare.sites).toBeLessThanOrEqual(sites);
        expect(spare.codes).toBeLessThanOrEqual(codes);
      }
});

test("without further rows the chart takes what it can use", () => {
  expect(divide(180, 0, 0, true)).toEqual({ chart: 180, sites: 0, codes: 0 });
  expect(divide(900, 0, 0, true).chart).toBe(260);
});
