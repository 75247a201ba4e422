/** Stacked areas of equal bins. */

export interface Areas {
  /** Corners of each area: x from 0 to 1, y in the values' unit. */
  outlines: [number, number][][];
  /** The largest sum in a bin. */
  peak: number;
}

export function areas(series: number[][]): Areas {
  const bins = Math.max(0, ...series.map((s) => s.length));
  let below: number[] = new Array(bins).fill(0);
  const outlines = series.map((s) => {
    const above = below.map((v, i) => v + Math.max(0, s[i] ?? 0));
    const steps = (of: number[]) =>
      of.flatMap((v, i): [number, number][] => [
        [i / bins, v],
        [(i + 1) / bins, v],
      ]);
    const outline = [...steps(above), ...steps(below).reverse()];
    below = above;
    return outline;
  });
  return { outlines, peak: Math.max(0, ...below) };
}

/** Share of the workers below which a chart has a finer scale than all workers. */
const FINER = 0.25;

/** The end of the scale: all workers, or a round number if only few ever ran. */
export function topOf(peak: number, workers: number): number {
  if (peak > workers * FINER) return Math.max(1, workers, Math.ceil(peak));
  for (let ten = 1; ; ten *= 10) for (const k of [1, 2, 4]) if (k * ten >= peak) return k * ten;
}
