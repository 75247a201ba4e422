/** The flame graph: root on top, most time first. Frames are buttons that arrow keys walk. */

import { useMemo, useRef } from "preact/hooks";
import type { RunMeta } from "../data/contract";
import { percent, ticks } from "../format";
import { dark } from "../theme/theme";
import { useWidth } from "../ui/size";
import { textureImage } from "../ui/parts";
import { colourOf, nameOf, placeOf } from "./names";
import { place, type FlameNode } from "./tree";

/** Height of a row, with the gap below it. */
const ROW = 25;
/** Narrower frames have no name. */
const MIN_NAMED = 26;

export function Graph(p: {
  root: FlameNode;
  zoomed: FlameNode;
  run: RunMeta;
  selected: FlameNode | null;
  onSelect: (n: FlameNode) => void;
  onZoom: (n: FlameNode) => void;
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
  return (
    <div ref={ref}>
      <div
        ref={list}
        class="frames"
        role="group"
        aria-label="Flame graph"
        style={{ height: `${rows * ROW}px` }}
      >
        {placed.map(({ node: n, x, width: w, row }) => {
          const c = colourOf(n, p.run, dark.value);
          const name = nameOf(n, p.run);
          const words = `${name}, ${ticks(n.total)}, ${percent(n.total / p.root.total, 1)}`;
          return (
            <button
              key={n.id}
              type="button"
              data-frame={n.id}
              class={`frame-box ${n === p.selected ? "on" : ""}`}
              tabIndex={n === focused ? 0 : -1}
              aria-label={w < MIN_NAMED ? words : undefined}
              aria-pressed={n === p.selected}
              title={`${words}\n${placeOf(n, p.run)}`}
              style={{
                left: `${x}px`,
                top: `${row * ROW}px`,
                width: `${Math.max(1, w - 1)}px`,
                height: `${ROW - 2}px`,
                background: c.fill,
                backgroundImage: textureImage(c.texture),
                color: c.ink,
              }}
              onClick={() => p.onSelect(n)}
              onDblClick={() => p.onZoom(n)}
              onKeyDown={(e) => (e.key === "Enter" ? p.onZoom(n) : walk(e, n))}
            >
              {n.stolen > 0 && w > 6 && (
                <i class="stolen" style={{ width: `${(100 * n.stolen) / n.total}%` }} />
              )}
              {w >= MIN_NAMED && (
                <>
                  <b>{name}</b>{" "}
                  <span>
                    {w > 160 && `${placeOf(n, p.run)} · `.replace(/^ · /, "")}
                    {ticks(n.total)}
                  </span>
                  <span class="unseen">, {percent(n.total / p.root.total, 1)}</span>
                </>
              )}
            </button>
          );
        })}
      </div>
      {hidden > 0 && <p class="hint">{hidden} frames are narrower than a pixel.</p>}
    </div>
  );
}
