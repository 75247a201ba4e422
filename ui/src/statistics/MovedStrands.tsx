/** Strands that went on on another worker than the one that made them ready, by worker. */

import type { RunMeta } from "../data/contract";
import { count } from "../format";
import { total, type StealPairs } from "./reportStatistics";

export function MovedStrands({ of, run: r }: { of: StealPairs; run: RunMeta }) {
  const label = (i: number) =>
    r.threads.find((x) => x.thread === of.workers[i])?.label ?? `W${of.workers[i]}`;
  const most = (counts: readonly number[]) => {
    const at = counts.indexOf(Math.max(...counts));
    return counts[at]! > 0 ? `${label(at)}, ${count(counts[at]!)}` : "–";
  };
  const made = of.workers.map((_, victim) => of.thieves.map((thief) => thief[victim] ?? 0));
  return (
    <table class="table" aria-label="Moved strands by worker">
      <thead>
        <tr>
          <th class="left" scope="col">
            worker
          </th>
          <th scope="col">went on after others</th>
          <th class="left" scope="col">
            mostly after
          </th>
          <th scope="col">made ready for others</th>
          <th class="left" scope="col">
            mostly for
          </th>
        </tr>
      </thead>
      <tbody>
        {of.thieves.map((thief, i) => (
          <tr key={i}>
            <td class="left">{label(i)}</td>
            <td class="c-went-on">{count(total(thief))}</td>
            <td class="left">{most(thief)}</td>
            <td class="c-made">{count(total(made[i]!))}</td>
            <td class="left">{most(made[i]!)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
