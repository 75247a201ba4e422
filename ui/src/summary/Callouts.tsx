/** The findings above the profile of running workers, at their place in time. */

import type { FindingWords } from "../data/contract";
import { count, percent } from "../format";
import { colours } from "../theme/theme";
import { plainWords } from "../components/widgets";
import { textWidth } from "../components/textWidth";
import { showFinding } from "./Findings";

/**
 * A bracket over a finding's time with its number, and with text if it fits. For a finding about
 * several strands it is the time of the longest one, and the text says so.
 */
export function Callouts({
  findings,
  strands,
  x,
  w,
  top,
  elapsed,
}: {
  findings: FindingWords[];
  /** Number of strands of each finding. */
  strands: number[];
  x: (t: number) => number;
  w: number;
  top: number;
  elapsed: number;
}) {
  const t = colours.value;
  const taken: [number, number][] = [];
  const placed = findings.slice(0, 3).map((f, i) => {
    const l = Math.max(0, x(Math.max(0, f.show.t0))),
      r = Math.min(w, x(Math.min(elapsed, f.show.t1)));
    // The whole run is not a place.
    if (!(r > l) || r - l > w * 0.97) return null;
    const of = strands[i] ?? 1;
    const longest = of > 1 ? `the longest of ${count(of)}` : "";
    const long = longest && `${percent(f.share)}, ${longest}`;
    const fits = (words: string) => r - l > textWidth(words, 11, 600) + 44;
    const text = long && fits(long) ? long : percent(f.share),
      wide = fits(text);
    let middle = Math.min(w - 10, Math.max(10, (l + r) / 2));
    const box = (): [number, number] => (wide ? [l, r] : [middle - 11, middle + 11]);
    // Brackets may touch, numbers may not.
    const gap = wide ? -2 : 2;
    if (taken.some(([a, b]) => box()[0] < b + gap && box()[1] > a - gap)) {
      if (wide) return { i, l, r, middle, text, wide: false, low: true, f, longest };
      const asked = middle;
      const free = (): boolean => taken.every(([a, b]) => box()[0] >= b + 2 || box()[1] <= a - 2);
      // Beside the other callouts: to the right of its place, or otherwise to the left.
      while (!free() && middle < w - 12) middle += 8;
      if (!free()) for (middle = asked; !free() && middle > 12;) middle -= 8;
    }
    taken.push(box());
    return { i, l, r, middle, text, wide, low: false, f, longest };
  });
  return (
    <>
      {placed.map(
        (p) =>
          p && (
            <g
              key={p.i}
              role="button"
              tabIndex={0}
              style={{ cursor: "pointer" }}
              aria-label={`Finding ${p.i + 1}: ${plainWords(p.f.title)}`}
              onClick={() => showFinding(p.f, p.i)}
              onKeyDown={(e) => {
                if (e.key === "Enter" || e.key === " ") {
                  e.preventDefault();
                  e.stopPropagation();
                  showFinding(p.f, p.i);
                }
              }}
            >
              <title>{plainWords(p.f.title) + (p.longest ? `. Marked: ${p.longest}` : "")}</title>
              {!p.low && (
                <path
                  d={`M${p.l + 0.5} ${top - 3}v-7H${p.r - 0.5}v7`}
                  fill="none"
                  stroke={t.fg}
                  stroke-width="1.2"
                />
              )}
              {p.wide && (
                <rect
                  x={p.middle - textWidth(p.text, 11, 600) / 2 - 18}
                  y={top - 20}
                  width={textWidth(p.text, 11, 600) + 38}
                  height={18}
                  fill={t.panel}
                />
              )}
              <circle
                cx={p.wide ? p.middle - textWidth(p.text, 11, 600) / 2 - 2 : p.middle}
                cy={p.low ? top + 12 : top - 11}
                r="8"
                fill={t.fg}
              />
              <text
                x={p.wide ? p.middle - textWidth(p.text, 11, 600) / 2 - 2 : p.middle}
                y={(p.low ? top + 12 : top - 11) + 4}
                text-anchor="middle"
                font-size="11"
                font-weight="700"
                fill={t.panel}
              >
                {p.i + 1}
              </text>
            </g>
          ),
      )}
      {placed.map(
        (p) =>
          p?.wide && (
            <text
              key={p.i}
              x={p.middle - textWidth(p.text, 11, 600) / 2 + 12}
              y={top - 7}
              font-size="11"
              font-weight="600"
              fill={t.fg}
              pointer-events="none"
            >
              {p.text}
            </text>
          ),
      )}
    </>
  );
}
