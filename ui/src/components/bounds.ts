/** Bounds of the speedup. */

interface Point {
  workers: number;
  upper: number;
}

/**
 * The largest number of workers for which the parallelism is a bound; null if it is one for every
 * number. Where a program divides its work by the number of its threads, more threads would get
 * smaller shares, so the bound of more workers is not known.
 */
export function boundKnownTo(points: Point[], parallelism: number): number | null {
  const beyond = points.filter((p) => p.upper > Math.min(p.workers, parallelism) * 1.001);
  if (beyond.length === 0) return null;
  const first = Math.min(...beyond.map((p) => p.workers));
  return Math.max(1, ...points.map((p) => p.workers).filter((n) => n < first));
}
