/** The whole layout in a small corner picture while only a part of it is in view. */

import { alpha } from "../colors";
import type { DrawingStyle } from "./nodeDrawing";
import { colourOf } from "./nodeDrawing";
import type { Camera } from "./camera";
import { clampToView } from "./camera";
import { criticalOf } from "./model";
import type { Pen } from "./pen";
import type { Scene } from "./scene";

const MAX_W = 150;
const MAX_H = 110;

interface Room {
  x: number;
  y: number;
  w: number;
  h: number;
  kx: number;
  ky: number;
}

/** Position of the minimap; null while everything is in view. */
function room(scene: Scene, c: Camera): Room | null {
  const { width, height } = scene.placed;
  const wide = width * c.kx,
    high = height * c.ky;
  if (
    scene.model.peek().boxes.length < 2 ||
    (wide <= scene.view.w * 1.3 && high <= scene.view.h * 1.3)
  )
    return null;
  const k = Math.min(MAX_W / width, MAX_H / height);
  // Both axes are thick enough to hit.
  const w = Math.max(36, width * k),
    h = Math.max(28, height * k);
  return { x: scene.width - w - 14, y: scene.height - h - 14, w, h, kx: w / width, ky: h / height };
}

export function drawMinimap(pen: Pen, scene: Scene, c: Camera, look: DrawingStyle): void {
  const r = room(scene, c);
  if (!r) return;
  const { t } = look;
  pen.box(r.x - 5, r.y - 5, r.w + 10, r.h + 10, 5, alpha(t.panel, 0.94), {
    colour: t.line2,
    width: 1,
  });
  const spots = new Set<number>();
  pen.clip(r.x, r.y, r.w, r.h, () => {
    for (const n of scene.model.peek().boxes) {
      const x = r.x + n.x * r.kx,
        y = r.y + n.y * r.ky,
        w = Math.max(1.5, n.w * r.kx - 0.5),
        h = Math.max(1.5, n.h * r.ky - 0.5);
      const spot = Math.round(x / 2) * 4096 + Math.round(y / 2);
      if (spots.has(spot)) continue;
      spots.add(spot);
      pen.box(
        x,
        y,
        w,
        h,
        0,
        look.critical && criticalOf(n) ? t.path : alpha(colourOf(n, look).fill, 0.6),
      );
    }
    const x0 = r.x + ((scene.view.x - c.tx) / c.kx) * r.kx,
      y0 = r.y + ((scene.view.y - c.ty) / c.ky) * r.ky;
    pen.box(
      x0,
      y0,
      (scene.view.w / c.kx) * r.kx,
      (scene.view.h / c.ky) * r.ky,
      2,
      alpha(t.accent, 0.1),
      { colour: t.accent, width: 1.5 },
    );
  });
}

/** Position on the screen; null while everything is in view. */
export function minimapBox(scene: Scene): { x: number; y: number; w: number; h: number } | null {
  const r = room(scene, scene.camera);
  return r && { x: r.x, y: r.y, w: r.w, h: r.h };
}

/** True if a point of the screen is on the minimap. */
export function minimapRoom(scene: Scene, x: number, y: number): boolean {
  const r = room(scene, scene.camera);
  return r !== null && x >= r.x - 5 && y >= r.y - 5 && x <= r.x + r.w + 5 && y <= r.y + r.h + 5;
}

/** The camera centred on a point of the minimap. */
export function minimapCamera(scene: Scene, x: number, y: number): Camera | null {
  const r = room(scene, scene.camera);
  if (!r) return null;
  const c = scene.camera;
  const at = { x: (x - r.x) / r.kx, y: (y - r.y) / r.ky };
  return clampToView(
    {
      ...c,
      tx: scene.view.x + scene.view.w / 2 - at.x * c.kx,
      ty: scene.view.y + scene.view.h / 2 - at.y * c.ky,
    },
    scene.placed,
    scene.view,
  );
}
