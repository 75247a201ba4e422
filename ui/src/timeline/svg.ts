/**
 * The timeline's picture as SVG: the same operations as on the canvas, with tiles as embedded
 * images.
 */

import { alpha, markInk, tokens } from "../colors";
import type { LineStyle, Paint, Pen, TextStyle } from "./pen";
import { FONT } from "./pen";

const n = (v: number): string => String(Math.round(v * 100) / 100);
const quoted = (s: string): string =>
  s.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");

let documents = 0;

export class SvgPen implements Pen {
  primitives = 0;
  private parts: string[] = [];
  private clips = 0;
  /** Ids hold in a whole page, and paper has several documents in one. */
  private readonly number = ++documents;

  constructor(
    readonly dark: boolean,
    private readonly measure: Pen,
    /** Makes a data URL of a piece of an image. */
    private readonly picture: (
      image: CanvasImageSource,
      sx: number,
      sy: number,
      sw: number,
      sh: number,
    ) => string,
  ) {}

  private fill(paint: Paint): string {
    if (typeof paint === "string") return quoted(paint);
    if ("ground" in paint) return `url(#g-${paint.ground}${paint.strong ? "-strong" : ""})`;
    return `url(#t-${paint.texture})`;
  }

  private add(part: string): void {
    this.primitives++;
    this.parts.push(part);
  }

  patternShift(): void {}

  rect(x: number, y: number, w: number, h: number, paint: Paint, alpha = 1): void {
    if (!(w > 0 && h > 0)) return;
    this.add(
      `<rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" fill="${this.fill(paint)}"${alpha < 1 ? ` opacity="${n(alpha)}"` : ""}/>`,
    );
  }

  rects(b: readonly number[], paint: Paint, radius = 0, alpha = 1): void {
    if (!b.length) return;
    const shapes: string[] = [];
    for (let i = 0; i < b.length; i += 4) {
      if (!(b[i + 2]! > 0)) continue;
      shapes.push(
        `<rect x="${n(b[i]!)}" y="${n(b[i + 1]!)}" width="${n(b[i + 2]!)}" height="${n(b[i + 3]!)}"${radius ? ` rx="${radius}"` : ""}/>`,
      );
    }
    this.primitives += shapes.length - 1;
    this.add(
      `<g fill="${this.fill(paint)}"${alpha < 1 ? ` opacity="${n(alpha)}"` : ""}>${shapes.join("")}</g>`,
    );
  }

  frame(
    x: number,
    y: number,
    w: number,
    h: number,
    colour: string,
    width: number,
    radius = 0,
  ): void {
    this.add(
      `<rect x="${n(x)}" y="${n(y)}" width="${n(Math.max(0, w))}" height="${n(Math.max(0, h))}" rx="${radius}" fill="none" stroke="${quoted(colour)}" stroke-width="${n(width)}"/>`,
    );
  }

  private stroked(d: string, colour: string, s: LineStyle): void {
    this.add(
      `<path d="${d}" fill="none" stroke="${quoted(colour)}" stroke-width="${n(s.width ?? 1)}"` +
        (s.dash?.length ? ` stroke-dasharray="${s.dash.join(" ")}"` : "") +
        (s.alpha !== undefined && s.alpha < 1 ? ` opacity="${n(s.alpha)}"` : "") +
        ` stroke-linejoin="round"/>`,
    );
  }

  line(p: readonly number[], colour: string, style: LineStyle = {}): void {
    let d = "";
    let pending = true;
    for (let i = 0; i < p.length; i += 2) {
      if (Number.isNaN(p[i]!)) pending = true;
      else {
        d += `${pending ? "M" : "L"}${n(p[i]!)} ${n(p[i + 1]!)}`;
        pending = false;
      }
    }
    if (d) this.stroked(d, colour, style);
  }

  area(p: readonly number[], paint: Paint, alpha = 1): void {
    if (p.length < 6) return;
    let d = "";
    for (let i = 0; i < p.length; i += 2) d += `${i ? "L" : "M"}${n(p[i]!)} ${n(p[i + 1]!)}`;
    this.add(
      `<path d="${d}Z" fill="${this.fill(paint)}"${alpha < 1 ? ` opacity="${n(alpha)}"` : ""}/>`,
    );
  }

  curves(p: readonly number[], colour: string, style: LineStyle = {}): void {
    let d = "";
    for (let i = 0; i < p.length; i += 8) {
      d += `M${n(p[i]!)} ${n(p[i + 1]!)}C${n(p[i + 2]!)} ${n(p[i + 3]!)} ${n(p[i + 4]!)} ${n(p[i + 5]!)} ${n(p[i + 6]!)} ${n(p[i + 7]!)}`;
    }
    if (d) this.stroked(d, colour, style);
  }

  dots(p: readonly number[], radius: number, paint: string): void {
    const shapes: string[] = [];
    for (let i = 0; i < p.length; i += 2)
      shapes.push(`<circle cx="${n(p[i]!)}" cy="${n(p[i + 1]!)}" r="${n(radius)}"/>`);
    if (shapes.length) this.add(`<g fill="${quoted(paint)}">${shapes.join("")}</g>`);
  }

  text(text: string, x: number, y: number, s: TextStyle): void {
    const anchor = s.align === "center" ? "middle" : s.align === "right" ? "end" : "start";
    const halo = s.halo
      ? ` stroke="${quoted(s.halo)}" stroke-width="3.5" stroke-linejoin="round" paint-order="stroke"`
      : "";
    this.add(
      `<text x="${n(x)}" y="${n(y)}" font-size="${s.size ?? 11}" font-weight="${s.weight ?? 400}" text-anchor="${anchor}" fill="${quoted(s.colour)}"${halo}>${quoted(text)}</text>`,
    );
  }

  textWidth(text: string, size: number, weight = 400): number {
    return this.measure.textWidth(text, size, weight);
  }

  image(
    image: CanvasImageSource,
    sx: number,
    sy: number,
    sw: number,
    sh: number,
    x: number,
    y: number,
    w: number,
    h: number,
  ): void {
    const url = this.picture(image, sx, sy, sw, sh);
    if (url)
      this.add(
        `<image x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" preserveAspectRatio="none" href="${url}"/>`,
      );
  }

  clip(x: number, y: number, w: number, h: number, draw: () => void): void {
    const id = `c${this.number}-${++this.clips}`;
    this.parts.push(
      `<clipPath id="${id}"><rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}"/></clipPath><g clip-path="url(#${id})">`,
    );
    draw();
    this.parts.push("</g>");
  }

  /** The whole document. */
  document(width: number, height: number): string {
    const t = tokens(this.dark);
    const slash = (id: string, bottom: string, top: string, w: number, opacity = 1) =>
      `<pattern id="${id}" width="5.66" height="5.66" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="5.66" height="5.66" fill="${bottom}" fill-opacity="${opacity}"/><rect width="${w}" height="5.66" fill="${top}"/></pattern>`;
    const dots = (id: string, bottom: string, top: string, opacity = 1) =>
      `<pattern id="${id}" width="8" height="8" patternUnits="userSpaceOnUse"><rect width="8" height="8" fill="${bottom}" fill-opacity="${opacity}"/><path d="M1 1h2v2h-2zM5 5h2v2h-2z" fill="${top}"/></pattern>`;
    const lines = (id: string, bottom: string, top: string) =>
      `<pattern id="${id}" width="4" height="4" patternUnits="userSpaceOnUse"><rect width="4" height="4" fill="${bottom}"/><rect y="3" width="4" height="1" fill="${top}"/></pattern>`;
    const cross = (id: string, bottom: string, top: string) =>
      `<pattern id="${id}" width="8" height="8" patternUnits="userSpaceOnUse"><rect width="8" height="8" fill="${bottom}"/><path d="M0 0 8 8M8 0 0 8" stroke="${top}"/></pattern>`;
    const back = (id: string, bottom: string, top: string) =>
      `<pattern id="${id}" width="8" height="8" patternUnits="userSpaceOnUse"><rect width="8" height="8" fill="${bottom}"/><path d="M0 0 8 8" stroke="${top}"/></pattern>`;
    const veil = markInk(this.dark);
    const defs = [
      slash("g-delay", t.delay, t.delay, 2.4, this.dark ? 0.45 : 0.28),
      slash("g-delay-strong", t.delay, this.dark ? "#7a3200" : "#ffb98a", 2.4),
      dots("g-sched", t.sched, t.schedInk, this.dark ? 0.5 : 0.75),
      dots("g-sched-strong", t.sched, t.schedInk),
      ...["", "-strong"].flatMap((s) => [
        slash(`g-app${s}`, t.appBg, t.appHatch, 1),
        lines(`g-descheduled${s}`, t.panel, t.desch),
        cross(`g-blocked${s}`, t.panel, t.blocked),
        back(`g-unread${s}`, alpha(t.fg3, 0.12), t.fg3),
      ]),
      slash("t-diagonal", "none", veil, 1.6),
      slash("t-cross", "none", veil, 1.6),
      dots("t-dots", "none", veil),
      lines("t-lines", "none", veil),
    ];
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${n(width)}" height="${n(height)}" viewBox="0 0 ${n(width)} ${n(height)}" font-family="${quoted(FONT)}">` +
      `<defs>${defs.join("")}</defs><rect width="100%" height="100%" fill="${t.panel}"/>${this.parts.join("")}</svg>\n`
    );
  }
}
