/** Pointer actions on a picture of the DAG: hover, select, open, move, zoom. */

import type { Signal } from "@preact/signals";
import { pan } from "./camera";
import type { DagNode } from "./model";
import { collapse, expand } from "./expandCollapse";
import type { Scene } from "./scene";
import type { Viewport } from "./viewport";
import type { Pointed } from "./Tooltip";

export interface Point {
  x: number;
  y: number;
}

/** The picture under the pointer. */
export interface PointerTarget {
  scene: Scene;
  /** The camera of the picture, changed by dragging and the wheel. */
  viewport: Viewport;
  /** The node with a tooltip. */
  pointed: Signal<Pointed | null>;
  /** The node at a point of the canvas. */
  hit: (p: Point) => DagNode | null;
  /** The scene's node for one of the picture; the same node if the picture is the scene's. */
  original: (n: DagNode) => DagNode | null;
  /** A click on a node, or outside all nodes. */
  click: (n: DagNode | null, p: Point) => void;
  /** Handles a press and the following drag differently, such as on the overview in the corner. */
  grab?: (p: Point, press: boolean) => boolean;
}

/** Distance in pixels below which a press is a click. */
const MIN_DRAG = 4;

/** Follows the pointer on a canvas; returns a function that stops it. */
export function followPointer(canvas: HTMLCanvasElement, to: PointerTarget): () => void {
  const { scene, viewport, pointed } = to;
  const place = (e: MouseEvent): Point => {
    const r = canvas.getBoundingClientRect();
    return { x: e.clientX - r.left, y: e.clientY - r.top };
  };
  const hover = (n: DagNode | null) => {
    scene.hovered.value = n && to.original(n);
  };
  let drag: { x: number; y: number; moved: boolean; grabbed: boolean } | null = null;

  const down = (e: PointerEvent) => {
    if (e.button !== 0) return;
    const grabbed = to.grab?.(place(e), true) ?? false;
    drag = { x: e.clientX, y: e.clientY, moved: grabbed, grabbed };
    canvas.setPointerCapture(e.pointerId);
    pointed.value = null;
  };
  const move = (e: PointerEvent) => {
    if (!drag) {
      const p = place(e);
      const n = to.hit(p);
      hover(n);
      pointed.value = n ? { node: n, ...p } : null;
      canvas.style.cursor = n ? "pointer" : "grab";
      return;
    }
    if (drag.grabbed) return void to.grab?.(place(e), false);
    const dx = e.clientX - drag.x,
      dy = e.clientY - drag.y;
    if (!drag.moved && Math.hypot(dx, dy) < MIN_DRAG) return;
    drag = { ...drag, x: e.clientX, y: e.clientY, moved: true };
    canvas.style.cursor = "grabbing";
    viewport.moveByUser(pan(viewport.camera, dx, dy));
  };
  const up = (e: PointerEvent) => {
    const was = drag;
    drag = null;
    canvas.style.cursor = "grab";
    if (!was || was.moved) return;
    const p = place(e);
    to.click(to.hit(p), p);
  };
  const cancel = () => {
    drag = null;
  };
  const twice = (e: MouseEvent) => {
    const shown = to.hit(place(e));
    const n = shown && to.original(shown);
    if (!n) return;
    e.preventDefault();
    (e.shiftKey ? collapse : expand)(scene, n);
  };
  const wheel = (e: WheelEvent) => {
    e.preventDefault();
    const unit = e.deltaMode === 1 ? 16 : e.deltaMode === 2 ? viewport.height : 1;
    const dx = e.deltaX * unit,
      dy = e.deltaY * unit;
    if (e.ctrlKey || e.metaKey) {
      const p = place(e);
      const f = Math.exp(-Math.max(-120, Math.min(120, dy || dx)) * 0.006);
      viewport.zoomAt(e.altKey ? 1 : f, e.shiftKey ? 1 : f, p.x, p.y);
    } else viewport.moveByUser(pan(viewport.camera, e.shiftKey ? -dy : -dx, e.shiftKey ? 0 : -dy));
    pointed.value = null;
  };
  const leave = () => {
    pointed.value = null;
    hover(null);
  };

  const ends = new AbortController();
  const { signal } = ends;
  canvas.addEventListener("pointerdown", down, { signal });
  canvas.addEventListener("pointermove", move, { signal });
  canvas.addEventListener("pointerup", up, { signal });
  canvas.addEventListener("pointercancel", cancel, { signal });
  canvas.addEventListener("pointerleave", leave, { signal });
  canvas.addEventListener("dblclick", twice, { signal });
  canvas.addEventListener("wheel", wheel, { signal, passive: false });
  return () => ends.abort();
}
