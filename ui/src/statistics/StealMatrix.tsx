/** Steals by thief and victim: more steals are darker. */

import { sequential, ink } from "../colors";
import type { RunMeta } from "../data/contract";
import { count, plural } from "../format";
import { dark } from "../theme/theme";
import { textWidth } from "../components/textWidth";
import type { StealPairs } from "./reportStatistics";

const SIDE = 420;
/** Height of the window from which on the matrix is larger. */
const TALL_WINDOW = 1200;
const MAX_CELL = { usual: 44, tall: 140 };
const LABEL = 34;
const FONT_PX = 10.5;
/** Minimum size of a cell with a number. */
const MIN_NUMBERED = 26;

export function StealMatrix({ of, run: r }: { of: StealPairs; run: RunMeta }) {
  const n = of.thieves.length;
  const label = (worker: number) =>
    r.threads.find((x) => x.thread === worker)?.label ?? `W${worker}`;
  const names = Array.from({ length: n }, (_, i) => label(i));
  const longest = Math.max(0, ...names.map((name) => textWidth(name, FONT_PX)));
  // Names of the rows are on the left; names of the columns are rotated if wider than a cell.
  const left = Math.max(LABEL, Math.ceil(longest) + 8);
  const tall = window.innerHeight >= TALL_WINDOW;
  const side = tall ? SIDE * 1.5 : SIDE;
  const maxCell = tall ? MAX_CELL.tall : MAX_CELL.usual;
  const cell = Math.min(maxCell, Math.max(3, (side - left) / Math.max(1, n)));
  const most = Math.max(1, ...of.thieves.flat());
  const named = cell >= 14;
  const workers = Math.max(n, r.workers);
  const upright = longest > cell - 2;
  const top = upright ? left : LABEL;
  const [wide, high] = [left + n * cell, top + n * cell];
  const sum = of.thieves.flat().reduce((a, b) => a + b, 0);
  return (
    <figure class="matrix" aria-label="Steals by thief and victim">
      <svg
        width={wide}
        height={high}
        role="img"
        aria-label={`${plural(sum, "strand")} by thief and victim, at most ${count(most)} of one pair`}
      >
        {named &&
          names.map((name, i) => {
            const [x, y] = [left + (i + 0.5) * cell, top - 6];
            return (
              <g key={i} font-size={FONT_PX} fill="var(--fg3)">
                <text x={left - 5} y={top + (i + 0.5) * cell + 4} text-anchor="end">
                  {name}
                </text>
                <text
                  x={upright ? x + 4 : x}
                  y={y}
                  text-anchor={upright ? "start" : "middle"}
                  transform={upright ? `rotate(-90 ${x + 4} ${y})` : undefined}
                >
                  {name}
                </text>
              </g>
            );
          })}
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
                  x={left + victim * cell}
                  y={top + thief * cell}
                  width={cell - (cell > 6 ? 1 : 0)}
                  height={cell - (cell > 6 ? 1 : 0)}
                  fill={fill}
                >
                  <title>{`${label(thief)} took ${count(v)} from ${label(victim)}`}</title>
                </rect>
                {v > 0 && cell >= MIN_NUMBERED && (
                  <text
                    x={left + (victim + 0.5) * cell}
                    y={top + (thief + 0.5) * cell + 4}
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
        {of.edge === "all"
          ? "rows: who took; columns: from whom"
          : "rows: who went on; columns: who made it ready"}
        {n < workers && `; the first ${count(n)} of ${count(workers)} workers`}
      </figcaption>
    </figure>
  );
}
