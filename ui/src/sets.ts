/** Comparison of sets. */

export function sameSet(a: ReadonlySet<unknown>, b: ReadonlySet<unknown>): boolean {
  return a.size === b.size && [...a].every((x) => b.has(x));
}
