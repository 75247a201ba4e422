/** The patterns of colors.ts for canvas (page or worker) and for SVG, with the same marks. */

import { alpha, markInk, tokens, type Texture } from "./colors";

/** Backgrounds of the timeline and its parallelism profile. */
export type Ground = "delay" | "sched" | "app" | "descheduled" | "blocked" | "unread";

type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

const madePatterns = new Map<string, OffscreenCanvas | HTMLCanvasElement>();

/**
 * A fill for the time in which a row has no strand, by kind; `strong` is for profiles, the lighter
 * default for rows.
 */
export function ground(
  ctx: Context,
  kind: Ground,
  dark: boolean,
  strong = false,
): CanvasPattern | string {
  const t = tokens(dark);
  return pattern(ctx, `${kind}${dark}${strong}`, t.panel, (x) => {
    const fill = (c: string) => {
      x.fillStyle = c;
      x.fillRect(0, 0, 8, 8);
    };
    if (kind === "delay") {
      fill(strong ? t.delay : alpha(t.delay, dark ? 0.45 : 0.28));
      slash(x, strong ? (dark ? "#7a3200" : "#ffb98a") : t.delay, 2.4);
    }
    if (kind === "sched") {
      fill(strong ? t.sched : alpha(t.sched, dark ? 0.5 : 0.75));
      dots(x, dark && !strong ? "#0d1014" : t.schedInk);
    }
    if (kind === "app") {
      fill(t.appBg);
      slash(x, alpha(t.appHatch, 0.8), 1);
    }
    if (kind === "unread") {
      fill(t.panel);
      fill(alpha(t.fg3, 0.12));
      backslash(x, t.fg3, 1);
    }
    if (kind === "descheduled") {
      fill(t.panel);
      x.fillStyle = t.desch;
      x.fillRect(0, 3, 8, 1);
      x.fillRect(0, 7, 8, 1);
    }
    if (kind === "blocked") {
      fill(t.panel);
      slash(x, t.blocked, 1);
      backslash(x, t.blocked, 1);
    }
  });
}

/** The pattern to draw over a fill with a texture; `null` without one. */
export function texture(ctx: Context, kind: Texture, dark: boolean): CanvasPattern | string | null {
  if (kind === "none") return null;
  const c = markInk(dark);
  return pattern(ctx, `t${kind}${dark}`, null, (x) => {
    if (kind === "diagonal" || kind === "cross") slash(x, c, 1.6);
    if (kind === "cross") backslash(x, c, 1.6);
    if (kind === "dots") dots(x, c);
    if (kind === "lines") {
      x.fillStyle = c;
      x.fillRect(0, 3, 8, 1.5);
      x.fillRect(0, 7, 8, 1);
    }
  });
}

function pattern(
  ctx: Context,
  key: string,
  fallback: string | null,
  draw: (x: Context) => void,
): CanvasPattern | string {
  let tile = madePatterns.get(key);
  if (!tile) {
    tile =
      typeof OffscreenCanvas === "undefined"
        ? Object.assign(document.createElement("canvas"), { width: 8, height: 8 })
        : new OffscreenCanvas(8, 8);
    const x = tile.getContext("2d") as Context | null;
    if (x) draw(x);
    madePatterns.set(key, tile);
  }
  try {
    return ctx.createPattern(tile, "repeat") ?? fallback ?? "transparent";
  } catch {
    // A browser short of memory may drop a tile's pixels: the next frame makes a new tile.
    madePatterns.delete(key);
    return fallback ?? "transparent";
  }
}

function slash(x: Context, colour: string, width: number) {
  x.strokeStyle = colour;
  x.lineWidth = width;
  for (const o of [-8, 0, 8]) {
    x.beginPath();
    x.moveTo(o - 1, 9);
    x.lineTo(o + 9, -1);
    x.stroke();
  }
}

function backslash(x: Context, colour: string, width: number) {
  x.strokeStyle = colour;
  x.lineWidth = width;
  for (const o of [-8, 0, 8]) {
    x.beginPath();
    x.moveTo(o - 1, -1);
    x.lineTo(o + 9, 9);
    x.stroke();
  }
}

function dots(x: Context, colour: string) {
  x.fillStyle = colour;
  x.fillRect(1, 1, 2, 2);
  x.fillRect(5, 5, 2, 2);
}

/** Placed once in the page; SVG fills are then `fillOf(kind)`. */
export function PatternDefs({ dark }: { dark: boolean }) {
  const t = tokens(dark);
  return (
    <svg width="0" height="0" style={{ position: "absolute" }} aria-hidden="true">
      <PatternContent t={t} dark={dark} />
    </svg>
  );
}

/** The definitions alone, for exported pictures. */
export function PatternContent({ t, dark }: { t: ReturnType<typeof tokens>; dark: boolean }) {
  return (
    <defs>
      <pattern
        id="p-delay"
        width="6"
        height="6"
        patternUnits="userSpaceOnUse"
        patternTransform="rotate(45)"
      >
        <rect width="6" height="6" fill={t.delay} />
        <rect width="2" height="6" fill={dark ? "#7a3200" : "#ffb98a"} />
      </pattern>
      <pattern
        id="p-app"
        width="7"
        height="7"
        patternUnits="userSpaceOnUse"
        patternTransform="rotate(45)"
      >
        <rect width="7" height="7" fill={t.appBg} />
        <rect width="1.2" height="7" fill={t.appHatch} />
      </pattern>
      <pattern id="p-sched" width="5" height="5" patternUnits="userSpaceOnUse">
        <rect width="5" height="5" fill={t.sched} />
        <circle cx="2.5" cy="2.5" r="1" fill={t.schedInk} />
      </pattern>
      <pattern id="p-descheduled" width="4" height="4" patternUnits="userSpaceOnUse">
        <rect width="4" height="4" fill={t.panel} />
        <rect width="4" height="1.4" fill={t.desch} />
      </pattern>
      <pattern id="p-blocked" width="6" height="6" patternUnits="userSpaceOnUse">
        <rect width="6" height="6" fill={t.panel} />
        <path d="M0 0 6 6M6 0 0 6" stroke={t.blocked} stroke-width="1" />
      </pattern>
      <pattern
        id="p-unread"
        width="6"
        height="6"
        patternUnits="userSpaceOnUse"
        patternTransform="rotate(-45)"
      >
        <rect width="6" height="6" fill={t.panel} />
        <rect width="6" height="6" fill={t.fg3} fill-opacity=".12" />
        <rect width="1.2" height="6" fill={t.fg3} />
      </pattern>
    </defs>
  );
}

/** Fill of an activity in SVG. */
export function fillOf(kind: "work" | Ground, dark: boolean): string {
  return kind === "work" ? tokens(dark).work : `url(#p-${kind})`;
}
