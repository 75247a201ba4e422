/** Mapping from the layout to the canvas: a factor and an offset for each axis. Pure. */

export interface Camera {
  kx: number;
  ky: number;
  tx: number;
  ty: number;
}

/** The part of the canvas that belongs to the scene. */
export interface View {
  x: number;
  y: number;
  w: number;
  h: number;
}

export type Fit = "full" | "horizontal" | "vertical";

const MAX_FACTOR = 400;
const MIN_FACTOR = 1e-4;

const clamp = (k: number): number => Math.min(MAX_FACTOR, Math.max(MIN_FACTOR, k));

/** Largest useful factors: boxes then have room for all of their text. */
export interface MaxFactors {
  x: number;
  y: number;
}

/**
 * Factors of a fitted picture at most. A few cards are up to twice as wide as they are designed, or
 * as wide as makes the picture fill `FILLED` of the window, but no wider than `WIDEST`: a single
 * card shows its running workers, and does not need the whole window.
 */
export function largestFit(
  size: { width: number; height: number },
  view: View,
  structure: boolean,
): MaxFactors {
  const [x, y] = [view.w / Math.max(1, size.width), view.h / Math.max(1, size.height)];
  if (!structure) return { x: Math.min(WIDEST, Math.max(2, FILLED * x)), y: Infinity };
  // Both axes alike: the heights are those of the text.
  const both = Math.min(WIDEST_STRUCTURE, Math.max(1.15, 0.9 * Math.min(x, y)));
  return { x: both, y: both };
}

const FILLED = 0.6;
const WIDEST = 8;
const WIDEST_STRUCTURE = 2.4;

/**
 * Fits the whole layout, its width, or its height; in the latter two cases the other axis is
 * unchanged. A small layout is not enlarged beyond `most`.
 */
export function fit(
  kind: Fit,
  size: { width: number; height: number },
  view: View,
  old: Camera,
  most: MaxFactors,
): Camera {
  const k = { ...old };
  if (kind !== "vertical") k.kx = clamp(Math.min(most.x, view.w / Math.max(1, size.width)));
  if (kind !== "horizontal") k.ky = clamp(Math.min(most.y, view.h / Math.max(1, size.height)));
  const wide = size.width * k.kx;
  const high = size.height * k.ky;
  k.tx =
    wide <= view.w + 1e-6 ? view.x + (view.w - wide) / 2 : kind === "vertical" ? old.tx : view.x;
  k.ty =
    high <= view.h + 1e-6
      ? // In the middle, or a little above it, where the eye begins.
        view.y + Math.max(Math.min(24, (view.h - high) / 2), (view.h - high) * 0.38)
      : kind === "horizontal"
        ? old.ty
        : view.y;
  return k;
}

/** The offset with which the point at screen position `at` stays there. */
function fixedPointOffset(t: number, from: number, to: number, at: number): number {
  return at - ((at - t) / from) * to;
}

/** Zooms by factors around a point of the screen. */
export function zoom(c: Camera, fx: number, fy: number, x: number, y: number): Camera {
  const kx = clamp(c.kx * fx);
  const ky = clamp(c.ky * fy);
  return {
    kx,
    ky,
    tx: fixedPointOffset(c.tx, c.kx, kx, x),
    ty: fixedPointOffset(c.ty, c.ky, ky, y),
  };
}

export const pan = (c: Camera, dx: number, dy: number): Camera => ({
  ...c,
  tx: c.tx + dx,
  ty: c.ty + dy,
});

/** Keeps a part of the layout in view. */
export function clampToView(
  c: Camera,
  size: { width: number; height: number },
  view: View,
): Camera {
  const rest = 48;
  return {
    ...c,
    tx: Math.min(view.x + view.w - rest, Math.max(view.x + rest - size.width * c.kx, c.tx)),
    ty: Math.min(view.y + view.h - rest, Math.max(view.y + rest - size.height * c.ky, c.ty)),
  };
}

/**
 * Moves as little as possible to show the rectangle (in layout units) with a margin, without
 * zooming.
 */
export function reveal(
  c: Camera,
  r: { x: number; y: number; w: number; h: number },
  view: View,
  margin = 40,
): Camera {
  const along = (
    t: number,
    k: number,
    at: number,
    size: number,
    from: number,
    room: number,
  ): number => {
    const a = at * k + t,
      b = (at + size) * k + t;
    if (b - a > room - 2 * margin)
      return a > from + margin || b < from + room - margin ? t + from + margin - a : t;
    if (a < from + margin) return t + from + margin - a;
    if (b > from + room - margin) return t + from + room - margin - b;
    return t;
  };
  return {
    ...c,
    tx: along(c.tx, c.kx, r.x, r.w, view.x, view.w),
    ty: along(c.ty, c.ky, r.y, r.h, view.y, view.h),
  };
}

/**
 * Interpolates between two cameras. Factors are interpolated by their logarithm, so that a zoom has
 * constant speed and common points move straight.
 */
export function interpolate(a: Camera, b: Camera, at: number): Camera {
  if (at >= 1) return b;
  const axis = (ka: number, ta: number, kb: number, tb: number): [number, number] => {
    const k = ka * Math.pow(kb / ka, at);
    const u = Math.abs(kb - ka) < 1e-9 ? at : (k - ka) / (kb - ka);
    return [k, ta + (tb - ta) * u];
  };
  const [kx, tx] = axis(a.kx, a.tx, b.kx, b.tx);
  const [ky, ty] = axis(a.ky, a.ty, b.ky, b.ty);
  return { kx, ky, tx, ty };
}
