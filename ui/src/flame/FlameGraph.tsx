/**
 * The flame graph: root on top, most time first. Frames are buttons, with arrow keys between them.
 */

import { useMemo, useRef } from "preact/hooks";
import type { Colour } from "../colors";
import { plural } from "../format";
import { CodeLabel } from "../components/CodeLabel";
import { textWidth, useWidth } from "../components/textWidth";
import { paintOf } from "../components/widgets";
import { place, type FlameNode } from "./tree";

/** Height of a row in pixels, including the gap below it. */
const ROW = 25;
/** Window height from which on rows use the available height, up to the maximum. */
const TALL_WINDOW = 1200;
const MAX_ROW = 40;
/** Height of everything else in such a window. */
const OUTER_HEIGHT = 660;

const rowHeight = (rows: number): number =>
  window.innerHeight < TALL_WINDOW
    ? ROW
    : Math.min(MAX_ROW, Math.max(ROW, Math.floor((window.innerHeight - OUTER_HEIGHT) / rows)));
/** Minimum width of a frame with a name in pixels, and of one with details. */
const MIN_NAME_WIDTH = 26;
const MIN_DETAIL_WIDTH = 60;

/** Look and text of a frame. */
export interface FrameLook {
  colour: Colour;
  name: string;
  /** Place and number; both are omitted without room. */
  place: string;
  value: string;
  /** The only text if nothing else fits; the name by default. */
  narrow?: string;
  /** The full text for screen readers. */
  words: string;
  /** Only one of the two runs has the frame. */
  dashed?: boolean;
}

/** Horizontal padding of a frame's text, and the width of a letter of its name. */
const PADDING = 13;
const LETTER = 7;

/**
 * The text in a frame of this width: its name, truncated if necessary, then its place and number if
 * they fit completely. A truncated number would be another number.
 */
export function fittingText(
  width: number,
  of: Pick<FrameLook, "name" | "place" | "value" | "narrow">,
): { name: string; more: string | null } | null {
  if (width < MIN_NAME_WIDTH) return null;
  if (width < MIN_DETAIL_WIDTH && of.narrow !== undefined)
    return of.narrow.length * LETTER + PADDING <= width ? { name: of.narrow, more: null } : null;
  const left = width - PADDING - of.name.length * LETTER;
  const more = [of.place && `${of.place} · ${of.value}`, of.value];
  const fits = more.find((text) => text !== "" && textWidth(` ${text}`, 11) <= left);
  return { name: of.name, more: fits ?? null };
}

export function FlameGraph(p: {
  root: FlameNode;
  zoomed: FlameNode;
  look: (n: FlameNode) => FrameLook;
  label: string;
  selected: FlameNode | null;
  onSelect: (n: FlameNode) => void;
  onZoom: (n: FlameNode) => void;
  /** It is the tab's only graph: rows use the available height. */
  alone?: boolean;
}) {
  const [ref, width] = useWidth<HTMLDivElement>(900);
  const list = useRef<HTMLDivElement>(null);
  const { placed, rows, hidden } = useMemo(
    () => place(p.root, p.zoomed, width),
    [p.root, p.zoomed, width],
  );
  const focused = p.selected && placed.some((q) => q.node === p.selected) ? p.selected : p.root;
  const go = (to: FlameNode | null | undefined) => {
    if (!to || !placed.some((q) => q.node === to)) return;
    p.onSelect(to);
    list.current?.querySelector<HTMLElement>(`[data-frame="${to.id}"]`)?.focus();
  };
  const walk = (e: KeyboardEvent, n: FlameNode) => {
    const beside = n.parent?.children ?? [n];
    const at = beside.indexOf(n);
    const to = {
      ArrowUp: n.parent,
      ArrowDown: n.children[0],
      ArrowLeft: beside[at - 1],
      ArrowRight: beside[at + 1],
    }[e.key];
    if (to === undefined && !e.key.startsWith("Arrow")) return;
    e.preventDefault();
    e.stopPropagation();
    go(to);
  };
  const high = p.alone ? rowHeight(rows) : ROW;
  return (
    <div ref={ref}>
      <div
        ref={list}
        class="frames"
        role="group"
        aria-label={p.label}
        style={{ height: `${rows * high}px` }}
      >
        {placed.map(({ node: n, x, width: w, row }) => {
          const look = p.look(n);
          const { colour, place: where, words, dashed } = look;
          const told = fittingText(w, look);
          // A texture would cross the text.
          const behind = colour.texture === "none" ? {} : { background: colour.fill };
          return (
            <button
              key={n.id}
              type="button"
              data-frame={n.id}
              class={`frame-box ${n === p.selected ? "on" : ""} ${dashed ? "dashed" : ""}`}
              tabIndex={n === focused ? 0 : -1}
              aria-label={told ? undefined : words}
              aria-pressed={n === p.selected}
              title={where ? `${words}\n${where}` : words}
              style={{
                left: `${x}px`,
                top: `${row * high}px`,
                width: `${Math.max(1, w - 1)}px`,
                height: `${high - 2}px`,
                ...paintOf(colour),
                color: colour.ink,
                // Padding of a narrow frame would overlap the next one.
                ...(told ? {} : { padding: "0" }),
              }}
              onClick={() => p.onSelect(n)}
              onDblClick={() => p.onZoom(n)}
              onKeyDown={(e) => (e.key === "Enter" ? p.onZoom(n) : walk(e, n))}
            >
              {n.stolen > 0 && w > 6 && (
                <i class="stolen" style={{ width: `${(100 * n.stolen) / n.total}%` }} />
              )}
              {told && (
                <>
                  <b style={behind}>
                    <CodeLabel label={told.name} />
                  </b>{" "}
                  {told.more && <span style={behind}>{told.more}</span>}
                  <span class="unseen">{words}</span>
                </>
              )}
            </button>
          );
        })}
      </div>
      {hidden > 0 && (
        <p class="hint">
          {plural(hidden, "frame")} {hidden === 1 ? "is" : "are"} narrower than a pixel.
        </p>
      )}
    </div>
  );
}
