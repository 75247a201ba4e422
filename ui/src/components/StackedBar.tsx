/**
 * A bar of parts with labels inside if they fit, otherwise below: on leader lines, or in a low
 * window as words in fewer lines.
 */

import { tokens, type Tokens } from "../colors";
import { fillOf } from "../patterns";
import { dark } from "../theme/theme";
import type { Part } from "./timeBreakdown";
import { placeLabels } from "./leaderLines";
import { textWidth, useWidth } from "./textWidth";

interface Box {
  part: Part;
  x: number;
  width: number;
  inside: string | null;
  below: string | null;
}

/** Slivers have a visible minimum width, which is taken from the widest parts. */
export function segmentBoxes(
  parts: Part[],
  total: number,
  width: number,
  label: (p: Part) => string,
): Box[] {
  const least = (p: Part) => (p.kind === "descheduled" || p.kind === "recording" ? 2 : 4);
  const wide = parts.map((p) => Math.max(least(p), (p.ticks / total) * width));
  const over =
    wide.reduce((a, b) => a + b, 0) -
    width * Math.min(1, parts.reduce((a, p) => a + p.ticks, 0) / total);
  const widest = wide.indexOf(Math.max(...wide));
  if (over > 0 && widest >= 0) wide[widest] = Math.max(4, wide[widest]! - over);
  let x = 0;
  return parts.map((part, i) => {
    const w = wide[i]!;
    const text = label(part);
    const fits = textWidth(text, 12.5, 600) + 24 < w;
    const box = { part, x, width: w, inside: fits ? text : null, below: fits ? null : text };
    x += w;
    return box;
  });
}

export function StackedBar(p: {
  parts: Part[];
  total: number;
  label: (part: Part) => string;
  height?: number;
  /** What is below the bar; nothing if false. */
  leaders?: boolean | "words";
  title: string;
}) {
  const [ref, width] = useWidth<HTMLDivElement>(940);
  const t = tokens(dark.value);
  const height = p.height ?? 32;
  const list = segmentBoxes(p.parts, p.total, width, p.label);
  const small = list.filter((b) => b.below);
  const below = p.leaders === false || p.leaders === "words" ? [] : small;
  const found = placeLabels(
    below.map((b) => ({ at: b.x + b.width / 2, width: textWidth(b.below!, 11.5) })),
    width,
  );
  const placed = below.map((b, i) => ({ b, middle: b.x + b.width / 2, ...found[i]! }));
  const rows = placed.length ? Math.max(...placed.map((l) => l.line)) + 1 : 0;
  return (
    <div ref={ref}>
      <svg
        width={width}
        height={height + (rows ? rows * 15 + 6 : 0)}
        role="img"
        aria-label={`${p.title}: ${p.parts.map(p.label).join(", ")}`}
      >
        {list.map((b) => (
          <g key={b.part.kind}>
            <rect x={b.x} y={0} width={b.width} height={height} fill={fillOfPart(b.part, t)}>
              <title>{p.label(b.part)}</title>
            </rect>
            {b.inside && b.part.kind !== "work" && (
              <rect
                x={b.x + 8}
                y={height / 2 - 9}
                width={textWidth(b.inside, 12.5, 600) + 8}
                height={18}
                rx="3"
                fill={t.panel}
                fill-opacity=".88"
              />
            )}
            {b.inside && (
              <text
                x={b.x + 12}
                y={height / 2 + 4.5}
                font-size="12.5"
                font-weight="600"
                fill={b.part.kind === "work" ? t.onWork : t.fg}
              >
                {b.inside}
              </text>
            )}
          </g>
        ))}
        {placed.map(({ b, middle, line, left }) => (
          <g key={b.part.kind}>
            <path
              d={`M${middle} ${height + 1} V${height + 10 + line * 15} h${left ? -6 : 6}`}
              fill="none"
              stroke={t.fg3}
              stroke-width="1"
            />
            <text
              x={middle + (left ? -10 : 10)}
              y={height + 14 + line * 15}
              font-size="11.5"
              fill={t.fg2}
              text-anchor={left ? "end" : "start"}
            >
              {b.below}
            </text>
          </g>
        ))}
      </svg>
      {p.leaders === "words" && small.length > 0 && (
        <div class="legend bar-words" aria-hidden="true">
          {small.map((b) => (
            <span key={b.part.kind}>
              <svg width="10" height="10">
                <rect width="10" height="10" rx="2" fill={fillOfPart(b.part, t)} />
              </svg>
              {b.below}
            </span>
          ))}
        </div>
      )}
    </div>
  );
}

const fillOfPart = (part: Part, t: Tokens): string =>
  part.kind === "recording" ? t.recording : fillOf(part.kind, dark.value);
