/** The timelines of up to six runs for Compare, which share one window; of one run in Summary. */

import { effect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { runColour } from "../colors";
import { register } from "../commands";
import type { RunMeta } from "../data/contract";
import { count, ticks } from "../format";
import { source, stats } from "../store";
import { colours, dark } from "../theme/theme";
import { CanvasPen } from "./pen";
import { Rasteriser } from "./rasteriser";
import { clamp, pan, zoom } from "./timeScale";
import type { Span } from "./timeScale";
import { observeSize } from "./elementSize";
import {
  extent,
  heightFor,
  stackedStyles,
  MARGIN,
  drawStacked,
  plotWidth,
  ticksOf,
} from "./drawStacked";
import type { By, Parts, StackedRun } from "./drawStacked";
import { Tiles } from "./tiles";
import "./timeline.css";

export function StackedTimelines(p: {
  runs: readonly RunMeta[];
  by: By;
  parts?: Parts;
  height?: number;
}) {
  const { runs, by, parts = "profile and rows" } = p;
  const isStill = parts === "rows";
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const ids = runs.map((r) => r.id).join();
  useEffect(() => {
    if (!host.current || !canvas.current || runs.length === 0) return;
    return startStack(host.current, canvas.current, runs, by, parts);
  }, [ids, by, parts]);
  const says = runs
    .map(
      (m) =>
        `${m.id.toUpperCase()}: ${m.name}, ${count(m.threads.length)} rows, ${ticks(m.elapsed, m.ticks_per_second)}`,
    )
    .join("; ");
  return (
    <div class="tl-stack" ref={host} style={{ height: `${p.height ?? heightFor(runs)}px` }}>
      <canvas
        ref={canvas}
        {...(isStill
          ? { role: "img", "aria-label": `Code by worker over time. ${says}.` }
          : {
              tabIndex: 0,
              role: "application",
              "aria-roledescription": `${runs.length} timelines`,
              "aria-label": `Timelines one above the other. ${says}. W and S zoom, A and D move.`,
            })}
      />
    </div>
  );
}

/** Draws and listens until the returned function is called. */
function startStack(
  host: HTMLElement,
  canvas: HTMLCanvasElement,
  metas: readonly RunMeta[],
  by: By,
  parts: Parts,
): () => void {
  const context = canvas.getContext("2d", { alpha: false });
  const rasteriser = new Rasteriser();
  let requested = 0;
  const later = () => (requested ||= requestAnimationFrame(draw));
  const tiles = metas.map((meta) => new Tiles(meta, source, rasteriser, later));
  let halves: StackedRun[] = [];
  let whole = 1;
  let w: Span = { t0: 0, t1: 1 };
  let size = { width: 0, height: 0, dpr: 1 };
  let fresh = true;
  let pointer: number | null = null;
  // Twenty nanoseconds, in seconds or as a share of the run.
  const least = () =>
    by === "time"
      ? 20e-9
      : 20e-9 / Math.max(1e-9, ...metas.map((m) => m.elapsed / m.ticks_per_second));

  function draw(): void {
    requested = 0;
    if (!context || size.width < 80) return;
    const plot = plotWidth(size.width, parts) * size.dpr;
    halves.forEach((half) =>
      half.tiles.want(clampTicks(half, ticksOf(half.meta, by, w)), plot, ["rows", "profile"]),
    );
    context.setTransform(size.dpr, 0, 0, size.dpr, 0, 0);
    const pen = new CanvasPen(context, dark.peek());
    drawStacked(pen, halves, by, w, size.width, size.height, colours.peek(), parts);
    stats.frames++;
    stats.primitives = pen.primitives;
    stats.mostPrimitives = Math.max(stats.mostPrimitives, pen.primitives);
  }

  const stop = effect(() => {
    const look = stackedStyles(metas, colours.value, dark.value);
    halves = metas.map((meta, i) => ({
      meta,
      tiles: tiles[i]!,
      look: look[i]!,
      name: meta.id.toUpperCase(),
      colour: () => runColour(meta.id, dark.peek()),
    }));
    whole = extent(halves, by);
    if (fresh) w = { t0: 0, t1: whole };
    fresh = false;
    later();
  });

  const show = (to: Span) => {
    w = clampUnit(to, whole, least());
    later();
  };
  const at = (px: number | null) =>
    px === null
      ? (w.t0 + w.t1) / 2
      : w.t0 + ((px - MARGIN) / plotWidth(size.width, parts)) * (w.t1 - w.t0);
  const zoomBy = (factor: number, px: number | null = pointer) =>
    show(scaled(w, factor, at(px), whole, least()));
  const panBy = (share: number) => show(shifted(w, share * (w.t1 - w.t0), whole, least()));

  const resized = observeSize(host, (width, height, dpr) => {
    size = { width, height, dpr };
    canvas.width = Math.max(1, Math.round(width * dpr));
    canvas.height = Math.max(1, Math.round(height * dpr));
    draw();
  });
  const close = () => {
    cancelAnimationFrame(requested);
    stop();
    resized();
    tiles.forEach((t) => t.close());
    rasteriser.close();
  };
  // Rows without an axis of their own show the whole run, as what is above them does.
  if (parts === "rows") return close;

  const end = new AbortController();
  const on = <K extends keyof HTMLElementEventMap>(
    name: K,
    f: (e: HTMLElementEventMap[K]) => void,
    passive = true,
  ) => canvas.addEventListener(name, f, { signal: end.signal, passive });
  let drag: { x: number; w: Span } | null = null;
  on("pointerdown", (e) => {
    canvas.setPointerCapture(e.pointerId);
    drag = { x: e.offsetX, w };
  });
  on("pointermove", (e) => {
    pointer = e.offsetX;
    if (drag)
      show(
        shifted(
          drag.w,
          ((drag.x - e.offsetX) / plotWidth(size.width, parts)) * (drag.w.t1 - drag.w.t0),
          whole,
          least(),
        ),
      );
  });
  on("pointerup", () => (drag = null));
  on("pointercancel", () => (drag = null));
  on("pointerleave", () => (pointer = null));
  on("dblclick", (e) => zoomBy(0.25, e.offsetX));
  on(
    "wheel",
    (e) => {
      if (!(e.ctrlKey || e.metaKey) && !e.deltaX) return;
      e.preventDefault();
      if (e.ctrlKey || e.metaKey)
        zoomBy(Math.exp(Math.max(-240, Math.min(240, e.deltaY)) * 0.0025), e.offsetX);
      else panBy(e.deltaX / (size.width - MARGIN));
    },
    false,
  );

  const command = (id: string, title: string, keys: string[], run: () => void) => ({
    id: `compare.${id}`,
    title,
    keys,
    tabs: ["compare" as const],
    group: "Compare",
    run,
  });
  const commands = register(
    command("zoom-in", "Zoom in", ["w", "+", "="], () => zoomBy(0.7)),
    command("zoom-out", "Zoom out", ["s", "-"], () => zoomBy(1 / 0.7)),
    command("left", "Move left", ["a"], () => panBy(-0.2)),
    command("right", "Move right", ["d"], () => panBy(0.2)),
    command("fit", "Show all runs whole", ["0"], () => show({ t0: 0, t1: whole })),
  );
  return () => {
    end.abort();
    commands();
    close();
  };
}

/** The part of a window inside a run; beyond the run's end there is no data. */
function clampTicks(half: StackedRun, w: Span): Span {
  const t0 = Math.min(w.t0, half.meta.elapsed);
  return { t0, t1: Math.max(t0 + 1, w.t1) };
}

// timeScale.ts counts in ticks and requires runs of length at least one; here a whole run may be a
// fraction of a second.
const FINE = 1e15;
const fine = (w: Span): Span => ({ t0: w.t0 * FINE, t1: w.t1 * FINE });
const coarse = (w: Span): Span => ({ t0: w.t0 / FINE, t1: w.t1 / FINE });
const clampUnit = (w: Span, whole: number, least: number): Span =>
  coarse(clamp(fine(w), whole * FINE, least * FINE));
const scaled = (w: Span, factor: number, at: number, whole: number, least: number): Span =>
  coarse(zoom(fine(w), factor, at * FINE, whole * FINE, least * FINE));
const shifted = (w: Span, by: number, whole: number, least: number): Span =>
  coarse(pan(fine(w), by * FINE, whole * FINE, least * FINE));
