/** A histogram of lengths, by powers of two. */

import type { RunMeta } from "../data/contract";
import { count, ticks } from "../format";
import type { LengthSpread } from "./reportStatistics";

export function Distribution(p: { of: LengthSpread; run: RunMeta; what: string; small?: boolean }) {
  const bins = p.of.histogram;
  const from = bins.findIndex((n) => n > 0);
  // Without any length above zero there is nothing to show.
  if (from < 0 || p.of.max === 0) return null;
  const to = bins.findLastIndex((n) => n > 0) + 1;
  const shown = bins.slice(from, to);
  const top = Math.max(...shown);
  const [w, h] = p.small ? [7, 20] : [12, 40];
  const t = (n: number) => ticks(n, p.run.ticks_per_second);
  const words = `from ${t(2 ** from)} to ${t(2 ** to)}`;
  return (
    <span class="spread">
      <svg
        width={shown.length * w}
        height={h}
        role="img"
        aria-label={`${p.what} by length, ${words}`}
      >
        {shown.map(
          (n, i) =>
            n > 0 && (
              <rect
                key={i}
                x={i * w}
                y={h - Math.max(1.5, (n / top) * (h - 1))}
                width={w - 1}
                height={Math.max(1.5, (n / top) * (h - 1))}
                fill="var(--fg2)"
              >
                <title>{`${count(n)} ${p.what} of ${t(2 ** (from + i))} to ${t(2 ** (from + i + 1))}`}</title>
              </rect>
            ),
        )}
      </svg>
      <span class="faint">
        {t(2 ** from)} – {t(2 ** to)}
      </span>
    </span>
  );
}
