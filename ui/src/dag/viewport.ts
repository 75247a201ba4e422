/**
 * View of a picture: its size, the camera, what is fitted, and the animation from one picture to
 * the next.
 */

import { signal, type Signal } from "@preact/signals";
import { isForFigure } from "../export/paperLayout";
import { layout } from "../store";
import { reducedMotion } from "../theme/theme";
import { STRIP_HEAD_HEIGHT, STRIP_WIDTH } from "./timeStrip";
import {
  interpolate,
  fit,
  clampToView,
  largestFit,
  reveal,
  zoom,
  type Camera,
  type Fit,
  type MaxFactors,
  type View,
} from "./camera";
import type { LayoutResult } from "./layout";
import type { Model, DagNode } from "./model";
import { morph, MORPH_MS, rects, type Rect } from "./morph";

/** Height of the legend below the picture. */
const LEGEND_HEIGHT = 40;
/** Maximum factor of the x axis if y is time. */
const MAX_TIMED_KX = 2.2;

export abstract class Viewport {
  /** The shown nodes. */
  abstract readonly model: Signal<Model>;
  /** Factor of the y axis in the current frame. */
  readonly shownScale = signal(1);
  placed: LayoutResult = { width: 1, height: 1, time: null };
  camera: Camera = { kx: 1, ky: 1, tx: 0, ty: 0 };
  view: View = { x: 0, y: 0, w: 800, h: 600 };
  width = 0;
  height = 0;
  /** True until the user moves the picture after everything was fitted. */
  fitted = true;
  protected oldRects = new Map<string, Rect>();
  protected oldCamera: Camera | null = null;
  protected animationStart = -Infinity;
  /** Called after a change that must be drawn. */
  requestDraw: () => void = () => {};

  /** No axis is time; heights are those of the text. */
  get structure(): boolean {
    return layout.peek() === "structure";
  }

  get timed(): boolean {
    return layout.peek() === "time";
  }

  private cameraNow: Camera | null = null;
  protected scaleNow(): Camera {
    return this.cameraNow ?? this.camera;
  }

  resize(width: number, height: number): void {
    if (width === this.width && height === this.height) return;
    const before = { width: this.width, height: this.height, camera: this.camera };
    this.width = width;
    this.height = height;
    this.updateView();
    if (this.fitted) this.fitNow("full", false);
    else if (isForFigure()) this.showSamePart(before);
    else if (this.inWindow?.width === width && this.inWindow.height === height)
      this.camera = this.inWindow.camera;
    else this.camera = clampToView(this.camera, this.placed, this.view);
    if (!isForFigure()) this.inWindow = null;
    this.requestDraw();
  }

  /** Size and camera in the window, while the page is laid out for a figure. */
  private inWindow: { width: number; height: number; camera: Camera } | null = null;

  /** A figure of another size shows the part that the window shows. */
  private showSamePart(before: { width: number; height: number; camera: Camera }): void {
    this.inWindow ??= before;
    const { camera, width, height } = this.inWindow;
    const [x, y] = [this.width / width, this.height / height];
    this.camera = { kx: camera.kx * x, ky: camera.ky * y, tx: camera.tx * x, ty: camera.ty * y };
  }

  protected updateView(): void {
    const left = this.timed ? STRIP_WIDTH + 12 : 20,
      top = this.timed ? STRIP_HEAD_HEIGHT + 10 : 18;
    this.view = {
      x: left,
      y: top,
      w: Math.max(40, this.width - left - 20),
      h: Math.max(40, this.height - top - LEGEND_HEIGHT),
    };
  }

  fitNow(kind: Fit, moving = true): void {
    const to = this.cameraFor(kind);
    this.fitted = kind === "full";
    this.moveTo(to, moving);
  }

  protected cameraFor(kind: Fit): Camera {
    const inner = { x: this.view.x + 8, y: this.view.y, w: this.view.w - 16, h: this.view.h };
    return fit(kind, this.placed, inner, this.camera, this.largestFit());
  }

  private largestFit(): MaxFactors {
    return largestFit(this.placed, this.view, this.structure);
  }

  moveTo(to: Camera, moving: boolean): void {
    if (moving && !reducedMotion.value) {
      this.oldCamera = this.cameraAt(now());
      this.oldRects = rects(this.model.peek(), this.rectAt(now()));
      this.animationStart = now();
    } else {
      this.oldCamera = null;
      this.animationStart = -Infinity;
    }
    this.camera = to;
    this.requestDraw();
  }

  /** The user moves the picture: without animation, and it is no longer fitted. */
  moveByUser(to: Camera): void {
    this.fitted = false;
    this.oldCamera = null;
    this.camera = clampToView(to, this.placed, this.view);
    this.requestDraw();
  }

  /** Zooms at a point. If an axis is time, boxes need not be wider than is readable. */
  zoomAt(fx: number, fy: number, x: number, y: number): void {
    const widest = Math.max(MAX_TIMED_KX, this.largestFit().x);
    const most = this.structure ? Infinity : Math.max(1, widest / this.camera.kx);
    this.moveByUser(zoom(this.camera, Math.min(fx, most), fy, x, y));
  }

  private animationShare(at: number): number {
    return reducedMotion.value ? 1 : Math.min(1, (at - this.animationStart) / MORPH_MS);
  }

  cameraAt(at: number): Camera {
    const share = this.animationShare(at);
    const e = share < 0.5 ? 4 * share ** 3 : 1 - (-2 * share + 2) ** 3 / 2;
    const c =
      this.oldCamera && share < 1 ? interpolate(this.oldCamera, this.camera, e) : this.camera;
    this.cameraNow = c;
    return c;
  }

  rectAt(at: number): (n: DagNode) => Rect {
    const share = this.animationShare(at);
    return share < 1 ? morph(this.oldRects, share) : (n) => n;
  }

  moving(at: number): boolean {
    return this.animationShare(at) < 1;
  }

  /** Visible area of a node in square pixels; lower the further it is off the screen. */
  visibleArea(n: DagNode): number {
    const c = this.camera;
    const x = n.x * c.kx + c.tx,
      y = n.y * c.ky + c.ty,
      w = Math.max(0.01, n.w * c.kx),
      h = Math.max(0.01, n.h * c.ky);
    const off = Math.max(0, -x - w, x - this.width, -y - h, y - this.height);
    return off > 0 ? -off : w * h;
  }

  /** Moves the camera so that the node is visible. */
  revealNode(n: DagNode): void {
    const to = reveal(this.camera, n, this.view, 10);
    if (Math.abs(to.tx - this.camera.tx) + Math.abs(to.ty - this.camera.ty) < 1)
      return this.requestDraw();
    this.fitted = false;
    this.moveTo(to, true);
  }

  /** Fills the view with a node. */
  focus(n: DagNode): void {
    const r = n.inside || n.w > 0 ? n : n.parent!;
    const pad = 60;
    const kx = Math.min(4, (this.view.w - 2 * pad) / Math.max(1, r.w)),
      ky = Math.min(this.structure ? 4 : 400, (this.view.h - 2 * pad) / Math.max(0.05, r.h));
    const k = !this.structure
      ? { kx: Math.min(kx, 1.6), ky }
      : { kx: Math.min(kx, ky), ky: Math.min(kx, ky) };
    this.fitted = false;
    this.moveTo(
      {
        ...k,
        tx: this.view.x + this.view.w / 2 - (r.x + r.w / 2) * k.kx,
        ty: this.view.y + this.view.h / 2 - (r.y + r.h / 2) * k.ky,
      },
      true,
    );
  }
}

export const now = (): number => performance.now();
