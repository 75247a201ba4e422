/** Divides work into that of the selection and that of everything else at the time. */

import type { PartKind } from "../components/timeBreakdown";
import type { BreakdownRow } from "./reportTables";

/**
 * `parts` with the work split: `own` ticks of it belong to the selection. Bins are as wide as a
 * pixel of a tile, so `own` can be slightly more than their sum.
 */
export function splitWork(parts: { kind: PartKind; ticks: number }[], own: number): BreakdownRow[] {
  return parts.flatMap((part): BreakdownRow[] => {
    if (part.kind !== "work") return [part];
    const mine = Math.min(own, part.ticks);
    const others = part.ticks - mine;
    const all: BreakdownRow[] = [{ kind: "work", ticks: mine, name: "their work" }];
    if (others > part.ticks / 1000)
      all.push({ kind: "work", ticks: others, name: "work of others", faint: true });
    return all;
  });
}
