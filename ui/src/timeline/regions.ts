/** The program's own regions and parts, above the rows. */

import type { RegionSpan } from "../data/contract";
import type { Pen } from "./pen";
import { pixelAt as pixel } from "./timeScale";
import type { Scene } from "./scene";

/** Maximum number of lanes; regions that overlap more are omitted and counted in the label. */
export const MAX_LANES = 3;
const MAX_SHOWN = 400;

/** Each region's lane: the first that is free when it begins; -1 beyond the last. */
export function regionLanes(regions: RegionSpan[]): number[] {
  const order = regions
    .map((_, i) => i)
    .sort((a, b) => regions[a]!.start - regions[b]!.start || regions[b]!.end - regions[a]!.end);
  const free = new Array<number>(MAX_LANES).fill(-Infinity);
  const lane = new Array<number>(regions.length).fill(-1);
  for (const i of order) {
    const at = free.findIndex((t) => t <= regions[i]!.start);
    if (at < 0) continue;
    lane[i] = at;
    free[at] = regions[i]!.end;
  }
  return lane;
}

export const regionLaneCount = (all: number[]): number =>
  Math.max(0, ...all.slice(0, 20000).map((l) => l + 1));

export function drawRegions(s: Scene, pen: Pen, lane: number[]): void {
  const { regions: band, x0, plot } = s.bands;
  if (!band.h) return;
  const t = s.tokens;
  pen.text("Regions", 16, band.y + 11, { size: 11.5, weight: 600, colour: t.fg });
  pen.clip(x0, band.y, plot, band.h, () => {
    // Regions narrower than a pixel share one mark.
    const until = new Array<number>(MAX_LANES).fill(-Infinity);
    let shown = 0;
    s.regions.forEach((r, i) => {
      const at = lane[i]!;
      if (at < 0 || r.end < s.scale.t0 || r.start > s.scale.t1 || shown > MAX_SHOWN) return;
      const a = Math.max(pixel(s.scale, r.start), x0 - 4);
      const b = Math.min(Math.max(pixel(s.scale, r.end), a + 1), x0 + plot + 4);
      if (b <= until[at]! + 1 && b - a < 2) return;
      until[at] = b;
      shown++;
      const y = band.y + at * 14;
      pen.rects(
        [a, y + 1, b - a - (b - a > 4 ? 1 : 0), 12],
        r.part ? t.line2 : t.inset,
        b - a > 6 ? 3 : 0,
      );
      pen.rect(a, y + 1, Math.min(2, b - a), 12, t.fg3);
      const room = b - Math.max(a, x0) - 10;
      if (room > 20 && pen.textWidth(r.label, 10.5, 600) < room)
        pen.text(r.label, Math.max(a, x0) + 6, y + 10.5, {
          size: 10.5,
          weight: 600,
          colour: t.fg2,
        });
    });
  });
}

/** The region under the pointer. */
export function regionAt(s: Scene, lane: number[], px: number, py: number): RegionSpan | null {
  const { regions: band } = s.bands;
  if (!band.h || py < band.y || py >= band.y + band.h) return null;
  const at = Math.floor((py - band.y) / 14);
  return (
    s.regions.find(
      (r, i) =>
        lane[i] === at &&
        pixel(s.scale, r.start) <= px + 1 &&
        px - 1 <= Math.max(pixel(s.scale, r.end), pixel(s.scale, r.start) + 1),
    ) ?? null
  );
}
