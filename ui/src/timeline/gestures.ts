/** Pointer, wheel and touch on the canvas. Keys are in commands.ts. */

import type { Signal } from "@preact/signals";
import { hover, range, selection } from "../store";
import type { Selection } from "../store";
import { select, selectHit, selectionOf } from "./selection";
import type { Hit } from "./hitTest";
import { timeAt } from "./timeScale";
import type { Span } from "./timeScale";
import type { TimelineView } from "./timelineView";
import type { Pointed } from "./Tooltip";

/** Distance in pixels below which a press is a click. */
const MIN_DRAG = 4;
/** Two presses within this many milliseconds are a double click. */
const DOUBLE_CLICK_MS = 500;

type Drag =
  | { kind: "range"; from: number }
  | { kind: "pan"; x: number; y: number; window: Span }
  | { kind: "brush"; part: "start" | "end" | "middle" | "new"; from: number; window: Span };

/** Listens until the returned function is called; `pointed` receives what is under the pointer. */
export function gestures(
  view: TimelineView,
  pointed: (hit: Hit | null, x: number, y: number) => void,
): () => void {
  const { canvas } = view;
  const end = new AbortController();
  const on = <K extends keyof HTMLElementEventMap>(
    name: K,
    f: (e: HTMLElementEventMap[K]) => void,
    options: AddEventListenerOptions = {},
  ) => canvas.addEventListener(name, f, { ...options, signal: end.signal });
  const place = (e: MouseEvent) => {
    const r = canvas.getBoundingClientRect();
    return { x: e.clientX - r.left, y: e.clientY - r.top };
  };
  const fingers = new Map<number, { x: number; y: number }>();
  let pressed: {
    x: number;
    y: number;
    hit: Hit | null;
    drag: Drag;
    moved: boolean;
    again: boolean;
  } | null = null;
  // The target of a double click's first press: the drawer that the first click opens may move
  // everything before the second.
  let first: { at: number; x: number; y: number; hit: Hit | null; span: Span | null } | null = null;
  let pinch: { distance: number; middle: number } | null = null;

  const limit = (t: number) => Math.min(Math.max(t, 0), view.meta.elapsed);

  on("pointerdown", (e) => {
    if (e.button > 1) return;
    const p = place(e);
    canvas.focus({ preventScroll: true });
    canvas.setPointerCapture(e.pointerId);
    fingers.set(e.pointerId, p);
    if (fingers.size === 2) {
      const [a, b] = [...fingers.values()] as [{ x: number; y: number }, { x: number; y: number }];
      pinch = { distance: Math.hypot(a.x - b.x, a.y - b.y), middle: (a.x + b.x) / 2 };
      pressed = null;
      view.dragged = null;
      return;
    }
    const hit = view.at(p.x, p.y);
    const again =
      first !== null &&
      e.timeStamp - first.at < DOUBLE_CLICK_MS &&
      Math.hypot(p.x - first.x, p.y - first.y) < MIN_DRAG;
    if (!again) {
      const b = view.scene?.boxes;
      first = {
        at: e.timeStamp,
        ...p,
        hit,
        span: hit?.kind === "box" && b ? { t0: b.start[hit.index]!, t1: b.end[hit.index]! } : null,
      };
    }
    const window = view.window;
    let drag: Drag;
    if (hit?.kind === "minimap")
      drag = {
        kind: "brush",
        part:
          hit.part === "outside" || (hit.part === "middle" && range.value === null)
            ? "new"
            : hit.part,
        from: hit.t,
        window,
      };
    else if (
      e.shiftKey ||
      e.button === 1 ||
      e.pointerType === "touch" ||
      !view.scene ||
      p.x < view.scene.bands.x0
    )
      drag = { kind: "pan", ...p, window };
    else drag = { kind: "range", from: timeAt(view.scene.scale, p.x) };
    pressed = { ...p, hit, drag, moved: false, again };
    if (e.button === 1) e.preventDefault();
  });

  on("pointermove", (e) => {
    const p = place(e);
    if (fingers.has(e.pointerId)) fingers.set(e.pointerId, p);
    if (pinch && fingers.size === 2) {
      const [a, b] = [...fingers.values()] as [{ x: number; y: number }, { x: number; y: number }];
      const distance = Math.max(10, Math.hypot(a.x - b.x, a.y - b.y));
      const middle = (a.x + b.x) / 2;
      view.zoom(pinch.distance / distance, middle);
      const s = view.scene?.scale;
      if (s) view.panTicks(((pinch.middle - middle) / s.width) * (view.window.t1 - view.window.t0));
      pinch = { distance, middle };
      return;
    }
    view.pointer = p;
    const s = view.scene;
    if (!pressed || !s) {
      const hit = view.at(p.x, p.y);
      canvas.style.cursor = cursorStyle(hit, e.shiftKey);
      setHover(view, hit);
      pointed(hit, p.x, p.y);
      return;
    }
    if (!pressed.moved && Math.hypot(p.x - pressed.x, p.y - pressed.y) < MIN_DRAG) return;
    pressed.moved = true;
    pointed(null, p.x, p.y);
    const drag = pressed.drag;
    if (drag.kind === "pan") {
      const w = drag.window;
      const to = ((drag.x - p.x) / s.scale.width) * (w.t1 - w.t0) + w.t0;
      view.panTicks(to - view.window.t0);
      if (view.scrollRows(drag.y - p.y)) drag.y = p.y;
    } else if (drag.kind === "range") {
      const t = limit(timeAt(s.scale, p.x));
      view.dragged = { t0: Math.min(drag.from, t), t1: Math.max(drag.from, t) };
      view.invalidate();
    } else {
      const t = limit(timeAt(s.overview, p.x));
      const w = drag.window;
      const by = t - drag.from;
      if (drag.part === "middle") view.show({ t0: w.t0 + by, t1: w.t1 + by });
      else {
        const [a, b] =
          drag.part === "new" ? [drag.from, t] : drag.part === "start" ? [t, w.t1] : [w.t0, t];
        if (a !== b) view.show({ t0: limit(Math.min(a, b)), t1: limit(Math.max(a, b)) });
      }
    }
  });

  const release = (e: PointerEvent, keep: boolean) => {
    fingers.delete(e.pointerId);
    if (fingers.size < 2) pinch = null;
    const was = pressed;
    pressed = null;
    if (!was) return;
    const dragged = view.dragged;
    view.dragged = null;
    view.invalidate();
    if (!keep) return;
    if (!was.moved) {
      if (was.hit?.kind === "minimap") {
        // A click outside the window centres it there.
        const w = view.window;
        if (was.hit.part === "outside")
          view.show({ t0: was.hit.t - (w.t1 - w.t0) / 2, t1: was.hit.t + (w.t1 - w.t0) / 2 }, true);
      } else if (!was.again) void selectHit(view, was.hit, e.shiftKey || e.ctrlKey || e.metaKey);
    } else if (was.drag.kind === "range" && dragged && dragged.t1 > dragged.t0) {
      select({ kind: "range", run: view.meta.id, ...dragged }, "Range selected; R zooms to it");
    }
  };
  on("pointerup", (e) => release(e, true));
  on("pointercancel", (e) => release(e, false));
  on("pointerleave", (e) => {
    if (pressed) return;
    fingers.delete(e.pointerId);
    view.pointer = null;
    if (hover.value) hover.value = null;
    pointed(null, 0, 0);
  });

  const doubleClick = (p: { x: number; y: number }) => {
    const hit = first?.hit ?? view.at(p.x, p.y);
    if (first?.span) view.fit(first.span.t0, first.span.t1);
    else if (hit?.kind === "minimap") view.fit(0, view.meta.elapsed, 0);
    else if (hit?.kind === "region") view.fit(hit.region.start, hit.region.end, 0.03);
    else if (hit?.kind === "column" || hit?.kind === "free" || hit?.kind === "strip")
      view.zoom(0.25, p.x);
    first = null;
  };
  on("dblclick", (e) => doubleClick(place(e)));
  // The drawer that the first click opens may lie under the pointer at the second one, which then
  // is neither for the drawer nor for what is in it.
  for (const kind of ["pointerdown", "mousedown", "click", "dblclick"] as const)
    addEventListener(
      kind,
      (e) => {
        if (e.target === canvas || !first || e.timeStamp - first.at > DOUBLE_CLICK_MS) return;
        const p = place(e);
        if (Math.hypot(p.x - first.x, p.y - first.y) >= MIN_DRAG) return;
        e.preventDefault();
        e.stopPropagation();
        if (kind === "click") doubleClick(p);
      },
      { capture: true, signal: end.signal },
    );

  on(
    "wheel",
    (e) => {
      const p = place(e);
      const unit = e.deltaMode === 1 ? 16 : e.deltaMode === 2 ? 400 : 1;
      // Browsers report a trackpad pinch as small wheel steps with Ctrl.
      if (e.ctrlKey || e.metaKey) {
        e.preventDefault();
        view.zoom(
          Math.exp(
            Math.max(-240, Math.min(240, e.deltaY * unit)) *
              (e.deltaMode === 0 && Math.abs(e.deltaY) < 40 ? 0.01 : 0.0025),
          ),
          p.x,
        );
        return;
      }
      const across = e.shiftKey && e.deltaX === 0 ? e.deltaY : e.deltaX;
      const s = view.scene?.scale;
      if (across && s)
        view.panTicks(((across * unit) / s.width) * (view.window.t1 - view.window.t0));
      const down = e.shiftKey ? 0 : e.deltaY * unit;
      const scrolled = down !== 0 && view.scrollRows(down);
      if (across || scrolled) e.preventDefault();
    },
    { passive: false },
  );
  return () => end.abort();
}

/** Updates what is under a pointer that rests while the picture below it changes. */
export function pointAgain(view: TimelineView, pointed: Signal<Pointed | null>): void {
  const was = pointed.peek();
  if (!was) return;
  const hit = view.at(was.x, was.y);
  setHover(view, hit);
  pointed.value = hit && { ...was, hit };
}

function cursorStyle(hit: Hit | null, shift: boolean): string {
  if (hit?.kind === "minimap")
    return hit.part === "start" || hit.part === "end"
      ? "ew-resize"
      : hit.part === "middle"
        ? "grab"
        : "crosshair";
  if (shift) return "grab";
  return hit?.kind === "box" ||
    hit?.kind === "arc" ||
    hit?.kind === "dot" ||
    hit?.kind === "label" ||
    hit?.kind === "column"
    ? "pointer"
    : "default";
}

/** Sets the hovered item, which the other views show too. */
function setHover(view: TimelineView, hit: Hit | null): void {
  let to: Selection | null = null;
  if (hit?.kind === "box" && view.scene) to = selectionOf(view.scene, hit);
  const same = (a: Selection | null, b: Selection | null) =>
    a === b ||
    (a?.kind === "strand" &&
      b?.kind === "strand" &&
      a.id === b.id &&
      a.inner === b.inner &&
      a.run === b.run);
  if (!same(hover.value, to) && !same(selection.value, to)) hover.value = to;
  else if (same(selection.value, to) && hover.value) hover.value = null;
}
