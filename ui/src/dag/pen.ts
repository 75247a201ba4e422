/**
 * One set of drawing operations for canvas and SVG, so that an exported picture equals the one on
 * the screen.
 */

import type { Texture } from "../colors";
import { labelEnd } from "../format";
import { ground, texture, type Ground } from "../patterns";

export interface Stroke {
  colour: string;
  width: number;
  dash?: readonly number[];
}
export interface TextStyle {
  size: number;
  colour: string;
  weight?: number;
  align?: "left" | "center" | "right";
  mono?: boolean;
  /** Colour of an outline that separates the letters from what lies below. */
  halo?: string;
  /** Rotated a quarter turn to the left. */
  up?: boolean;
}

export interface Pen {
  /** Number of primitives drawn. */
  count: number;
  box(
    x: number,
    y: number,
    w: number,
    h: number,
    radius: number,
    fill: string | null,
    stroke?: Stroke | null,
    mark?: Texture,
  ): void;
  /** A box with a pattern of patterns.tsx. */
  ground(x: number, y: number, w: number, h: number, kind: Ground): void;
  /** A line through points x, y, x, y, … with rounded corners. */
  line(points: readonly number[], stroke: Stroke, radius?: number): void;
  /** A filled polygon. */
  area(points: readonly number[], fill: string, mark?: Texture): void;
  dot(x: number, y: number, r: number, fill: string, stroke?: Stroke): void;
  text(words: string, x: number, y: number, how: TextStyle): void;
  /** Width of a text in pixels. */
  measure(words: string, how: TextStyle): number;
  /** Clips the drawing in `inner` to the rectangle. */
  clip(x: number, y: number, w: number, h: number, inner: () => void): void;
  /** Draws `inner` with this opacity. */
  fade(alpha: number, inner: () => void): void;
}

export const SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
export const MONO = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace';

const font = (h: TextStyle): string => `${h.weight ?? 400} ${h.size}px ${h.mono ? MONO : SANS}`;

/** Begins the label of the code after a call. */
const AFTER = "after ";

/**
 * The text, shortened to `width` if necessary, with an ellipsis before a final line number or size,
 * or that number alone; empty if not even three letters fit.
 */
export function shorten(pen: Pen, words: string, width: number, how: TextStyle): string {
  if (width <= 0) return "";
  if (pen.measure(words, how) <= width) return words;
  const line = labelEnd(words);
  const name = words.slice(0, words.length - line.length);
  const both = shortened(pen, name, line, width, how);
  // Of `after x264_open` little fits: the name says more than the word.
  if (!line && words.startsWith(AFTER) && both.length <= AFTER.length + 2)
    return shortened(pen, `…${words.slice(AFTER.length)}`, "", width, how);
  if (both || !line) return both;
  const alone = line.startsWith(" ") ? line.trim() : `…${line}`;
  return pen.measure(alone, how) <= width ? alone : shortened(pen, name, "", width, how);
}

/**
 * As many letters of `name` (three or more) as fit before an ellipsis and `end`; empty if fewer
 * fit.
 */
function shortened(pen: Pen, name: string, end: string, width: number, how: TextStyle): string {
  const with_ = (letters: number) => `${name.slice(0, letters).trimEnd()}…${end}`;
  let low = 0,
    high = name.length - 1;
  while (low < high) {
    const mid = (low + high + 1) >> 1;
    if (pen.measure(with_(mid), how) <= width) low = mid;
    else high = mid - 1;
  }
  return low < 3 ? "" : with_(low);
}

/** Widths of texts by font; emptied when too large. */
const widths = new Map<string, number>();

let measuring: CanvasRenderingContext2D | null = null;
function measure(words: string, how: TextStyle): number {
  const f = font(how);
  const key = f + words;
  let w = widths.get(key);
  if (w === undefined) {
    measuring ??=
      typeof document === "undefined" ? null : document.createElement("canvas").getContext("2d");
    if (measuring) {
      measuring.font = f;
      w = measuring.measureText(words).width;
    } else w = words.length * how.size * 0.56;
    if (widths.size > 20_000) widths.clear();
    widths.set(key, w);
  }
  return w;
}

export class CanvasPen implements Pen {
  count = 0;
  constructor(
    private readonly ctx: CanvasRenderingContext2D,
    private readonly dark: boolean,
  ) {}

  private path(x: number, y: number, w: number, h: number, r: number): void {
    this.ctx.beginPath();
    if (r > 0) this.ctx.roundRect(x, y, w, h, Math.min(r, w / 2, h / 2));
    else this.ctx.rect(x, y, w, h);
  }

  box(
    x: number,
    y: number,
    w: number,
    h: number,
    radius: number,
    fill: string | null,
    stroke?: Stroke | null,
    mark: Texture = "none",
  ): void {
    const c = this.ctx;
    this.count++;
    if (fill && !stroke && radius === 0 && mark === "none") {
      c.fillStyle = fill;
      c.fillRect(x, y, w, h);
      return;
    }
    this.path(x, y, w, h, radius);
    if (fill) {
      c.fillStyle = fill;
      c.fill();
    }
    const over = mark === "none" ? null : texture(c, mark, this.dark);
    if (over) {
      c.fillStyle = over;
      c.fill();
    }
    if (stroke) this.stroke(stroke);
  }

  ground(x: number, y: number, w: number, h: number, kind: Ground): void {
    this.count++;
    this.ctx.fillStyle = ground(this.ctx, kind, this.dark, kind !== "app");
    this.ctx.fillRect(x, y, w, h);
  }

  private stroke(s: Stroke): void {
    const c = this.ctx;
    c.strokeStyle = s.colour;
    c.lineWidth = s.width;
    c.setLineDash((s.dash as number[] | undefined) ?? []);
    c.stroke();
  }

  line(p: readonly number[], stroke: Stroke, radius = 0): void {
    const c = this.ctx;
    this.count++;
    c.beginPath();
    c.moveTo(p[0]!, p[1]!);
    for (let i = 2; i < p.length - 2; i += 2) {
      const r = Math.min(
        radius,
        Math.hypot(p[i]! - p[i - 2]!, p[i + 1]! - p[i - 1]!) / 2,
        Math.hypot(p[i + 2]! - p[i]!, p[i + 3]! - p[i + 1]!) / 2,
      );
      if (r > 0.5) c.arcTo(p[i]!, p[i + 1]!, p[i + 2]!, p[i + 3]!, r);
      else c.lineTo(p[i]!, p[i + 1]!);
    }
    c.lineTo(p[p.length - 2]!, p[p.length - 1]!);
    this.stroke(stroke);
  }

  area(p: readonly number[], fill: string, mark: Texture = "none"): void {
    this.count++;
    const c = this.ctx;
    c.beginPath();
    for (let i = 0; i < p.length; i += 2) c.lineTo(p[i]!, p[i + 1]!);
    c.closePath();
    c.fillStyle = fill;
    c.fill();
    const over = mark === "none" ? null : texture(c, mark, this.dark);
    if (over) {
      c.fillStyle = over;
      c.fill();
    }
  }

  dot(x: number, y: number, r: number, fill: string, stroke?: Stroke): void {
    this.count++;
    const c = this.ctx;
    c.beginPath();
    c.arc(x, y, r, 0, 7);
    c.fillStyle = fill;
    c.fill();
    if (stroke) this.stroke(stroke);
  }

  text(words: string, x: number, y: number, how: TextStyle): void {
    if (words === "") return;
    this.count++;
    const c = this.ctx;
    c.save();
    c.font = font(how);
    c.textAlign = how.align ?? "left";
    c.textBaseline = "alphabetic";
    if (how.up) {
      c.translate(x, y);
      c.rotate(-Math.PI / 2);
      x = y = 0;
    }
    if (how.halo) {
      c.strokeStyle = how.halo;
      c.lineWidth = 3;
      c.lineJoin = "round";
      c.setLineDash([]);
      c.strokeText(words, x, y);
    }
    c.fillStyle = how.colour;
    c.fillText(words, x, y);
    c.restore();
  }

  measure(words: string, how: TextStyle): number {
    return measure(words, how);
  }

  clip(x: number, y: number, w: number, h: number, inner: () => void): void {
    this.ctx.save();
    this.ctx.beginPath();
    this.ctx.rect(x, y, w, h);
    this.ctx.clip();
    inner();
    this.ctx.restore();
  }

  fade(alpha: number, inner: () => void): void {
    const old = this.ctx.globalAlpha;
    this.ctx.globalAlpha = old * alpha;
    inner();
    this.ctx.globalAlpha = old;
  }
}

const escape = (s: string): string =>
  s
    .replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)
    // XML forbids all control characters except these.
    .replace(/(?![\t\n\r\x7f-\x9f])\p{Cc}/gu, "\ufffd");
const n = (v: number): string => String(Math.round(v * 100) / 100);

export class SvgPen implements Pen {
  count = 0;
  private readonly out: string[] = [];
  private clips = 0;
  constructor(private readonly dark: boolean) {}

  private push(s: string): void {
    this.count++;
    this.out.push(s);
  }

  private strokeOf(s: Stroke | null | undefined): string {
    return s
      ? ` stroke="${s.colour}" stroke-width="${n(s.width)}"${s.dash?.length ? ` stroke-dasharray="${s.dash.join(" ")}"` : ""}`
      : "";
  }

  box(
    x: number,
    y: number,
    w: number,
    h: number,
    radius: number,
    fill: string | null,
    stroke?: Stroke | null,
    mark: Texture = "none",
  ): void {
    const r = `x="${n(x)}" y="${n(y)}" width="${n(Math.max(0, w))}" height="${n(Math.max(0, h))}"${radius ? ` rx="${n(Math.min(radius, w / 2, h / 2))}"` : ""}`;
    this.push(`<rect ${r} fill="${fill ?? "none"}"${this.strokeOf(stroke)}/>`);
    if (mark !== "none") this.push(`<rect ${r} fill="url(#t-${mark})"/>`);
  }

  ground(x: number, y: number, w: number, h: number, kind: Ground): void {
    this.push(
      `<rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" fill="url(#p-${kind})"/>`,
    );
  }

  line(p: readonly number[], stroke: Stroke, radius = 0): void {
    let d = `M${n(p[0]!)} ${n(p[1]!)}`;
    for (let i = 2; i < p.length - 2; i += 2) {
      const [ax, ay, bx, by, cx, cy] = [
        p[i - 2]!,
        p[i - 1]!,
        p[i]!,
        p[i + 1]!,
        p[i + 2]!,
        p[i + 3]!,
      ];
      const la = Math.hypot(bx - ax, by - ay),
        lc = Math.hypot(cx - bx, cy - by);
      const r = Math.min(radius, la / 2, lc / 2);
      if (r > 0.5)
        d += `L${n(bx + ((ax - bx) / la) * r)} ${n(by + ((ay - by) / la) * r)}Q${n(bx)} ${n(by)} ${n(bx + ((cx - bx) / lc) * r)} ${n(by + ((cy - by) / lc) * r)}`;
      else d += `L${n(bx)} ${n(by)}`;
    }
    d += `L${n(p[p.length - 2]!)} ${n(p[p.length - 1]!)}`;
    this.push(`<path d="${d}" fill="none"${this.strokeOf(stroke)}/>`);
  }

  area(p: readonly number[], fill: string, mark: Texture = "none"): void {
    const points = p.map(n).join(" ");
    this.push(`<polygon points="${points}" fill="${fill}"/>`);
    if (mark !== "none") this.push(`<polygon points="${points}" fill="url(#t-${mark})"/>`);
  }

  dot(x: number, y: number, r: number, fill: string, stroke?: Stroke): void {
    this.push(
      `<circle cx="${n(x)}" cy="${n(y)}" r="${n(r)}" fill="${fill}"${this.strokeOf(stroke)}/>`,
    );
  }

  text(words: string, x: number, y: number, how: TextStyle): void {
    if (words === "") return;
    const anchor = how.align === "center" ? "middle" : how.align === "right" ? "end" : "start";
    const halo = how.halo
      ? ` stroke="${how.halo}" stroke-width="3" stroke-linejoin="round" paint-order="stroke"`
      : "";
    const turn = how.up ? ` transform="rotate(-90 ${n(x)} ${n(y)})"` : "";
    this.push(
      `<text x="${n(x)}" y="${n(y)}" font-size="${how.size}"${how.weight ? ` font-weight="${how.weight}"` : ""}${how.mono ? ` font-family='${MONO}'` : ""} text-anchor="${anchor}" fill="${how.colour}"${halo}${turn}>${escape(words)}</text>`,
    );
  }

  measure(words: string, how: TextStyle): number {
    return measure(words, how);
  }

  clip(x: number, y: number, w: number, h: number, inner: () => void): void {
    const id = `c${this.clips++}`;
    this.out.push(
      `<clipPath id="${id}"><rect x="${n(x)}" y="${n(y)}" width="${n(Math.max(0, w))}" height="${n(Math.max(0, h))}"/></clipPath><g clip-path="url(#${id})">`,
    );
    inner();
    this.out.push("</g>");
  }

  fade(alpha: number, inner: () => void): void {
    this.out.push(`<g opacity="${n(alpha)}">`);
    inner();
    this.out.push("</g>");
  }

  /** The picture; `defs` holds the patterns of patterns.tsx. */
  finish(width: number, height: number, ground: string, defs: string, title: string): string {
    const ink = this.dark ? "rgba(13,16,20,.5)" : "rgba(255,255,255,.6)";
    const mark = (id: string, inner: string) =>
      `<pattern id="t-${id}" width="8" height="8" patternUnits="userSpaceOnUse">${inner}</pattern>`;
    const marks =
      mark(
        "diagonal",
        `<path d="M-1 9 9 -1M-1 1 1 -1M7 9 9 7" stroke="${ink}" stroke-width="1.6"/>`,
      ) +
      mark("cross", `<path d="M-1 9 9 -1M-1 -1 9 9" stroke="${ink}" stroke-width="1.6"/>`) +
      mark("dots", `<path d="M1 1h2v2h-2zM5 5h2v2h-2z" fill="${ink}"/>`) +
      mark("lines", `<path d="M0 3h8v1.5h-8zM0 7h8v1h-8z" fill="${ink}"/>`);
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family='${SANS}'><title>${escape(title)}</title><defs>${marks}${defs}</defs><rect width="100%" height="100%" fill="${ground}"/>${this.out.join("")}</svg>\n`;
  }
}
