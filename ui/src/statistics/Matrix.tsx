/** Thieves by victims: the more steals, the darker. */

import { sequential, ink } from "../colors";
import type { RunMeta } from "../data/contract";
import { count, many } from "../format";
import { dark } from "../theme/theme";
import type { Pairs } from "./numbers";

const SIDE = 420;
const LABEL = 34;
/** Smaller cells have no number. */
const MIN_NUMBERED = 26;

export function Matrix({ of, run: r }: { of: Pairs; run: RunMeta }) {
  const n = of.thieves.length;
  const cell = Math.min(44, Math.max(3, (SIDE - LABEL) / Math.max(1, n)));
  const most = Math.max(1, ...of.thieves.flat());
  const label = (worker: number) =>
    r.threads.find((x) => x.thread === worker)?.label ?? `W${worker}`;
  const named = cell >= 14;
  const workers = Math.max(n, r.workers);
  const size = LABEL + n * cell;
  const sum = of.thieves.flat().reduce((a, b) => a + b, 0);
  return (
    <figure class="matrix" aria-label="Steals by thief and victim">
      <svg
        width={size}
        height={size}
        role="img"
        aria-label={`${many(sum, "strand")} by thief and victim, at most ${count(most)} of one pair`}
      >
        {named &&
          of.thieves.map((_, i) => (
            <g key={i} font-size="10.5" fill="var(--fg3)">
              <text x={LABEL - 5} y={LABEL + (i + 0.5) * cell + 4} text-anchor="end">
                {label(i)}
              </text>
              <text x={LABEL + (i + 0.5) * cell} y={LABEL - 6} text-anchor="middle">
                {label(i)}
              </text>
            </g>
          ))}
        {of.thieves.map((row, thief) =>
          row.map((v, victim) => {
            if (v === 0 && n > 64) return null;
            const fill =
              thief === victim
                ? "var(--inset)"
                : v === 0
                  ? "var(--panel2)"
                  : sequential(dark.value ? v / most : 1 - v / most, dark.value);
            return (
              <g key={`${thief}.${victim}`}>
                <rect
                  x={LABEL + victim * cell}
                  y={LABEL + thief * cell}
                  width={cell - (cell > 6 ? 1 : 0)}
                  height={cell - (cell > 6 ? 1 : 0)}
                  fill={fill}
                >
                  <title>{`${label(thief)} took ${count(v)} from ${label(victim)}`}</title>
                </rect>
                {v > 0 && cell >= MIN_NUMBERED && (
                  <text
                    x={LABEL + (victim + 0.5) * cell}
                    y={LABEL + (thief + 0.5) * cell + 4}
                    font-size="11"
                    text-anchor="middle"
                    fill={ink(fill)}
                  >
                    {count(v)}
                  </text>
                )}
              </g>
            );
          }),
        )}
      </svg>
      <figcaption>
        rows: who took; columns: from whom
        {n < workers && `; the first ${count(n)} of ${count(workers)} workers`}
      </figcaption>
    </figure>
  );
}
