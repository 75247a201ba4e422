/** Source lines with the time that each took, as a bar and a number. */

import type { ComponentChildren } from "preact";
import type { Source } from "../data/contract";
import { ticks } from "../format";

type Line = Source["lines"][number];

/** Number of lines below which a source gets a narrow pane. */
const FEW_LINES = 20;

export const sourceClass = (lines: unknown[]): string =>
  lines.length < FEW_LINES ? "scroll lines few" : "scroll lines";

export function SourceLines(p: {
  lines: Line[];
  /** Ticks of a full bar. */
  top: number;
  perSecond: number;
  /** The line to scroll to. */
  at?: number | null;
  /** Lines that belong to the selection. */
  inside?: (line: number) => boolean;
  chosen?: (line: number) => boolean;
  onDown?: (line: number) => void;
  onOver?: (line: number) => void;
  /** Shows time on the critical path instead of the time of all workers. */
  critical?: boolean;
}) {
  return (
    <div class={`source ${p.onDown ? "pick" : ""}`}>
      {p.lines.map((l, i) => {
        const heat = p.critical ? l.critical : l.ticks;
        const gap = i > 0 && p.lines[i - 1]!.line + 1 !== l.line;
        return (
          <div
            key={l.line}
            data-line={l.line}
            style={gap ? { marginTop: "8px" } : {}}
            class={[
              "line",
              heat > p.top * 0.3 && "hot",
              p.at === l.line && "at",
              p.inside?.(l.line) && "in",
              p.chosen?.(l.line) && "chosen",
            ]
              .filter(Boolean)
              .join(" ")}
            onPointerDown={
              p.onDown &&
              ((e) => {
                e.preventDefault();
                p.onDown!(l.line);
              })
            }
            onPointerEnter={p.onOver && (() => p.onOver!(l.line))}
          >
            <span
              class="heat"
              title={
                heat > 0
                  ? `${ticks(l.ticks, p.perSecond)} of all workers, ${ticks(l.critical, p.perSecond)} of it on the critical path`
                  : undefined
              }
            >
              {heat > 0 && (
                <i
                  style={{
                    width: `max(2px, ${(heat / Math.max(p.top, heat)).toFixed(3)} * var(--heat-bar))`,
                  }}
                />
              )}
              {heat > 0 && <span>{ticks(heat, p.perSecond)}</span>}
            </span>
            <span class="number">{l.line}</span>
            <span class="text" title={l.text.length > 90 ? l.text.trim() : undefined}>
              {highlight(l.text)}
            </span>
          </div>
        );
      })}
    </div>
  );
}

const WORDS = new Set(
  "as async await break const continue crate do double else enum extern fn for if impl in int let long loop match mod move mut pub ref return self static struct super switch template trait type typedef unsafe unsigned use using void where while auto class namespace new delete bool char float size_t end subroutine function program call integer real then dimension implicit none".split(
    " ",
  ),
);

/**
 * Highlights keywords, strings and comments of Rust, C, C++ and Fortran. It works line by line, so
 * the inside of a long comment stays plain.
 */
export function highlight(text: string): ComponentChildren {
  const out: ComponentChildren[] = [];
  const take =
    /(\/\/.*$|\/\*.*?(?:\*\/|$)|^\s*(?:\*|#!|!\$?)(?=\s).*$)|("(?:[^"\\]|\\.)*"?)|([A-Za-z_]\w*)|(#\s*pragma\b|#\s*include\b|!\$omp\b)/g;
  let last = 0;
  for (const m of text.slice(0, 400).matchAll(take)) {
    const kind = m[1] ? "c" : m[2] ? "s" : m[4] || WORDS.has(m[3]!) ? "k" : null;
    if (!kind) continue;
    if (m.index > last) out.push(text.slice(last, m.index));
    out.push(<span class={kind}>{m[0]}</span>);
    last = m.index + m[0].length;
  }
  out.push(text.slice(last));
  return out;
}
