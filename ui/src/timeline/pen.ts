/**
 * Drawing operations of the timeline: a few shapes, on a canvas (here) or into an SVG (svg.ts).
 * Shapes are counted, so that a frame's cost is known, and an exported picture equals the one on
 * the screen.
 */

import { ground, texture } from "../patterns";
import type { Ground } from "../patterns";
import type { Texture } from "../colors";

export const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif';

/**
 * A colour, the pattern of a kind of free time, or the texture over a repeated colour of the
 * palette.
 */
export type Paint = string | { ground: Ground; strong?: boolean } | { texture: Texture };

export interface TextStyle {
  size?: number;
  weight?: number;
  colour: string;
  align?: "left" | "center" | "right";
  /** Colour of an outline around the letters. */
  halo?: string;
}

export interface LineStyle {
  width?: number;
  dash?: number[];
  alpha?: number;
}

export interface Pen {
  readonly dark: boolean;
  /** Number of shapes drawn; each shape of a batch counts, an area is one. */
  primitives: number;
  rect(x: number, y: number, w: number, h: number, paint: Paint, alpha?: number): void;
  /** Rectangles as x, y, w, h in sequence, with one paint. */
  rects(boxes: readonly number[], paint: Paint, radius?: number, alpha?: number): void;
  frame(
    x: number,
    y: number,
    w: number,
    h: number,
    colour: string,
    width: number,
    radius?: number,
  ): void;
  /** Points as x, y in sequence; a NaN begins a new line. */
  line(points: readonly number[], colour: string, style?: LineStyle): void;
  area(points: readonly number[], paint: Paint, alpha?: number): void;
  /** Bézier curves of eight numbers each. */
  curves(points: readonly number[], colour: string, style?: LineStyle): void;
  /** Circles as x, y in sequence. */
  dots(points: readonly number[], radius: number, paint: string): void;
  text(text: string, x: number, y: number, style: TextStyle): void;
  textWidth(text: string, size: number, weight?: number): number;
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
  ): void;
  clip(x: number, y: number, w: number, h: number, draw: () => void): void;
  /** Moves patterns with the time axis, so that they stay in place on the shapes during a pan. */
  patternShift(dx: number): void;
}

const widths = new Map<string, number>();

export class CanvasPen implements Pen {
  primitives = 0;
  private shift = 0;

  constructor(
    private readonly c: CanvasRenderingContext2D,
    readonly dark: boolean,
  ) {}

  private paint(paint: Paint): string | CanvasPattern {
    if (typeof paint === "string") return paint;
    const made =
      "ground" in paint
        ? ground(this.c, paint.ground, this.dark, paint.strong)
        : (texture(this.c, paint.texture, this.dark) ?? "transparent");
    if (typeof made !== "string") made.setTransform(new DOMMatrix([1, 0, 0, 1, this.shift, 0]));
    return made;
  }

  patternShift(dx: number): void {
    this.shift = ((dx % 8) + 8) % 8;
  }

  rect(x: number, y: number, w: number, h: number, paint: Paint, alpha = 1): void {
    this.primitives++;
    this.c.fillStyle = this.paint(paint);
    this.c.globalAlpha = alpha;
    this.c.fillRect(x, y, w, h);
    this.c.globalAlpha = 1;
  }

  rects(boxes: readonly number[], paint: Paint, radius = 0, alpha = 1): void {
    if (!boxes.length) return;
    const c = this.c;
    this.primitives += boxes.length / 4;
    c.fillStyle = this.paint(paint);
    c.globalAlpha = alpha;
    if (radius === 0) {
      // One path of thousands of rectangles costs the rasteriser far more than separate fills.
      for (let i = 0; i < boxes.length; i += 4)
        c.fillRect(boxes[i]!, boxes[i + 1]!, boxes[i + 2]!, boxes[i + 3]!);
    } else {
      for (let i = 0; i < boxes.length; i += 4) {
        c.beginPath();
        c.roundRect(boxes[i]!, boxes[i + 1]!, boxes[i + 2]!, boxes[i + 3]!, radius);
        c.fill();
      }
    }
    c.globalAlpha = 1;
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
    this.primitives++;
    this.c.strokeStyle = colour;
    this.c.lineWidth = width;
    this.c.setLineDash([]);
    this.c.beginPath();
    this.c.roundRect(x, y, w, h, radius);
    this.c.stroke();
  }

  private stroke(colour: string, style: LineStyle): void {
    const c = this.c;
    c.strokeStyle = colour;
    c.lineWidth = style.width ?? 1;
    c.setLineDash(style.dash ?? []);
    c.globalAlpha = style.alpha ?? 1;
    c.lineJoin = "round";
    c.stroke();
    c.globalAlpha = 1;
    c.setLineDash([]);
  }

  line(points: readonly number[], colour: string, style: LineStyle = {}): void {
    if (points.length < 4) return;
    this.c.beginPath();
    let lines = 0;
    let pending = true;
    for (let i = 0; i < points.length; i += 2) {
      if (Number.isNaN(points[i]!)) {
        pending = true;
        continue;
      }
      if (pending) this.c.moveTo(points[i]!, points[i + 1]!);
      else {
        this.c.lineTo(points[i]!, points[i + 1]!);
        lines++;
      }
      pending = false;
    }
    this.primitives += lines;
    this.stroke(colour, style);
  }

  area(points: readonly number[], paint: Paint, alpha = 1): void {
    if (points.length < 6) return;
    this.primitives++;
    this.c.fillStyle = this.paint(paint);
    this.c.globalAlpha = alpha;
    this.c.beginPath();
    this.c.moveTo(points[0]!, points[1]!);
    for (let i = 2; i < points.length; i += 2) this.c.lineTo(points[i]!, points[i + 1]!);
    this.c.fill();
    this.c.globalAlpha = 1;
  }

  curves(p: readonly number[], colour: string, style: LineStyle = {}): void {
    if (!p.length) return;
    this.primitives += p.length / 8;
    this.c.beginPath();
    for (let i = 0; i < p.length; i += 8) {
      this.c.moveTo(p[i]!, p[i + 1]!);
      this.c.bezierCurveTo(p[i + 2]!, p[i + 3]!, p[i + 4]!, p[i + 5]!, p[i + 6]!, p[i + 7]!);
    }
    this.stroke(colour, style);
  }

  dots(points: readonly number[], radius: number, paint: string): void {
    if (!points.length) return;
    this.primitives += points.length / 2;
    this.c.fillStyle = paint;
    this.c.beginPath();
    for (let i = 0; i < points.length; i += 2) {
      this.c.moveTo(points[i]! + radius, points[i + 1]!);
      this.c.arc(points[i]!, points[i + 1]!, radius, 0, 7);
    }
    this.c.fill();
  }

  text(text: string, x: number, y: number, style: TextStyle): void {
    this.primitives++;
    const c = this.c;
    c.font = `${style.weight ?? 400} ${style.size ?? 11}px ${FONT}`;
    c.textAlign = style.align ?? "left";
    c.textBaseline = "alphabetic";
    if (style.halo) {
      c.lineWidth = 3.5;
      c.lineJoin = "round";
      c.strokeStyle = style.halo;
      c.strokeText(text, x, y);
    }
    c.fillStyle = style.colour;
    c.fillText(text, x, y);
  }

  textWidth(text: string, size: number, weight = 400): number {
    const key = `${size} ${weight} ${text}`;
    let width = widths.get(key);
    if (width === undefined) {
      if (widths.size > 20000) widths.clear();
      this.c.font = `${weight} ${size}px ${FONT}`;
      width = this.c.measureText(text).width;
      widths.set(key, width);
    }
    return width;
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
    this.primitives++;
    this.c.drawImage(image, sx, sy, sw, sh, x, y, w, h);
  }

  clip(x: number, y: number, w: number, h: number, draw: () => void): void {
    this.c.save();
    this.c.beginPath();
    this.c.rect(x, y, w, h);
    this.c.clip();
    draw();
    this.c.restore();
  }
}
