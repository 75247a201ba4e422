/** Choice of further runs below the two that are compared. */

import type { RunMeta } from "../data/contract";
import { announcement, furtherRuns } from "../store";
import { RunBadge } from "../components/widgets";

/** Maximum number of timelines above each other. */
export const MAX_RUNS = 6;

/** The compared runs, then the further ones that were chosen and are open. */
export function comparedRuns(pair: readonly RunMeta[], all: readonly RunMeta[]): RunMeta[] {
  const further = all.filter((r) => furtherRuns.value.includes(r.id) && !pair.includes(r));
  return [...pair, ...further].slice(0, MAX_RUNS);
}

export function FurtherRuns({ pair, all }: { pair: readonly RunMeta[]; all: readonly RunMeta[] }) {
  const others = all.filter((r) => !pair.includes(r));
  if (others.length === 0) return null;
  const shown = comparedRuns(pair, all);
  const flip = (r: RunMeta) => {
    const on = furtherRuns.value.includes(r.id);
    furtherRuns.value = on
      ? furtherRuns.value.filter((id) => id !== r.id)
      : [...furtherRuns.value, r.id];
    announcement.value = `${r.id.toUpperCase()} ${on ? "is removed" : "is shown below"}`;
  };
  return (
    <div class="beside" role="group" aria-label="Further runs below">
      {others.map((r) => {
        const on = shown.includes(r);
        return (
          <button
            key={r.id}
            type="button"
            class="toggle"
            aria-pressed={on}
            disabled={!on && shown.length >= MAX_RUNS}
            title={`${r.file}: ${on ? "remove it" : "show it below"}`}
            onClick={() => flip(r)}
          >
            <RunBadge id={r.id} /> {r.name}
          </button>
        );
      })}
    </div>
  );
}
