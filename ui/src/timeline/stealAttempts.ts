/**
 * Failed attempts to steal, as marks on the line of the row's queue, and times asleep, as a line
 * below it: a worker that searches for work, backs off, and sleeps.
 */

import { visibleRows } from "./verticalLayout";
import type { Pen } from "./pen";
import { queueBase } from "./drawQueues";
import { pixelAt as pixel } from "./timeScale";
import type { Scene } from "./scene";
import { binsOf } from "./tiles";
import { TILE_BINS } from "../data/contract";

/** Height of a mark, and of the line for sleep, in pixels. */
const MARK = 5;
const SLEEP = 2;
/** Opacity of a mark, by the number of attempts in a pixel. */
const STRENGTHS = [0.45, 0.6, 0.75, 0.9, 1];

export function drawAttempts(s: Scene, pen: Pen): void {
  const { rows } = s.bands;
  if (rows.compact) return;
  const marks = STRENGTHS.map(() => [] as number[]);
  const sleep: number[] = [];
  const right = s.scale.x0 + s.scale.width;
  for (const row of visibleRows(rows)) {
    const base = queueBase(rows, row);
    /** Pixels of the row, by their number of attempts. */
    const counts = new Map<number, number>();
    for (const slot of s.tiles.slots("rows", s.scale)) {
      const p = slot.tile?.data?.planes;
      if (!slot.tile || !p) continue;
      const bins = binsOf(slot.tile);
      const from = Math.max(slot.t0, s.scale.t0);
      const to = Math.min(slot.t1, s.scale.t1);
      const end = Math.min(TILE_BINS, Math.ceil((to - bins.from) / bins.ticks));
      for (let bin = Math.max(0, Math.floor((from - bins.from) / bins.ticks)); bin < end; bin++) {
        const at = bins.from + bin * bins.ticks;
        const failed = p.failed?.[row * TILE_BINS + bin] ?? 0;
        if (failed > 0) {
          const x = Math.round(pixel(s.scale, at + bins.ticks / 2));
          counts.set(x, (counts.get(x) ?? 0) + failed);
        }
        const asleep = (p.asleep?.[row * TILE_BINS + bin] ?? 0) / 255;
        if (asleep === 0) continue;
        const a = Math.max(s.scale.x0, pixel(s.scale, Math.max(at, from)));
        const b = Math.min(right, pixel(s.scale, Math.min(at + bins.ticks * asleep, to)));
        if (b <= a) continue;
        const last = sleep.length - 4;
        // Adjacent bins form one line.
        if (
          last >= 0 &&
          sleep[last + 1] === base + 0.5 &&
          a - sleep[last]! - sleep[last + 2]! < 0.75
        )
          sleep[last + 2] = b - sleep[last]!;
        else sleep.push(a, base + 0.5, b - a, SLEEP);
      }
    }
    for (const [x, n] of counts)
      marks[Math.min(STRENGTHS.length - 1, Math.floor(Math.log2(n)))]!.push(
        x - 0.5,
        base - MARK,
        1,
        MARK,
      );
  }
  pen.rects(sleep, s.tokens.sched);
  STRENGTHS.forEach((strength, i) => pen.rects(marks[i]!, s.tokens.steal, 0, strength));
}
