/**
 * A second picture of the DAG beside the first, with its own layout and camera. Both share the
 * expanded and selected nodes, so a node that time makes a thin line can be read by its structure.
 */

import { useEffect, useMemo, useRef } from "preact/hooks";
import { signal, useSignal, useSignalEffect } from "@preact/signals";
import { expanded, layout, power, secondLayout, type Layout } from "../store";
import { dark } from "../theme/theme";
import { alpha } from "../colors";
import { LAYOUT_OPTIONS } from "./toolbarOptions";
import { nodeAt } from "./hitTest";
import { GAP_STRUCTURE, GAP_TIMED, isDot, place, type Options } from "./layout";
import { buildModel, RUN, type Model, type DagNode } from "./model";
import { paintDag } from "./paint";
import { CanvasPen, type Pen } from "./pen";
import { followPointer } from "./pointer";
import type { BoxOf } from "./routes";
import { EMPTY, type Scene } from "./scene";
import { now, Viewport } from "./viewport";
import { Tooltip, type Pointed } from "./Tooltip";

const RIM = 14;
/** Height of the layout selector below the picture. */
const FOOT_HEIGHT = 26;

/** The second picture of a scene. */
class SecondViewport extends Viewport {
  readonly model = signal<Model>(EMPTY);
  where: BoxOf | null = null;

  constructor(readonly scene: Scene) {
    super();
  }

  private get layout(): Layout {
    return secondLayout.peek() ?? "structure";
  }

  override get structure(): boolean {
    return this.layout === "structure";
  }

  override get timed(): boolean {
    return this.layout === "time";
  }

  protected override updateView(): void {
    this.view = {
      x: RIM,
      y: RIM,
      w: Math.max(40, this.width - 2 * RIM),
      h: Math.max(40, this.height - 2 * RIM - FOOT_HEIGHT),
    };
  }

  private options(): Options {
    return { layout: this.layout, power: power.peek(), elapsed: this.scene.run.elapsed };
  }

  dot = (n: DagNode): boolean => isDot(n, this.options()) && n.h * this.scaleNow().ky < 12;

  /** Lays out the scene's current nodes again. */
  follow(): void {
    // A node has a position in one layout only, so this picture has nodes of its own.
    const m = buildModel(this.scene.insides.loaded, new Set([RUN, ...expanded.peek()]));
    this.placed = place(m, this.options());
    this.model.value = m;
    if (this.fitted) this.fitNow("full", false);
    else this.moveByUser(this.camera);
    this.requestDraw();
  }

  /** The corresponding node of the scene. */
  original = (n: DagNode): DagNode | null => this.scene.model.peek().byKey.get(n.key) ?? null;
  ownNode = (n: DagNode | null): DagNode | null =>
    (n && this.model.peek().byKey.get(n.key)) ?? null;

  draw(pen: Pen): void {
    const { scene } = this;
    const look = { ...scene.look(), view: { x: 0, y: 0, w: this.width, h: this.height } };
    const camera = this.cameraAt(now());
    const wanted = scene.highlighted();
    this.where = paintDag(pen, {
      model: this.model.peek(),
      at: (n) => n,
      camera,
      view: look.view,
      look,
      timed: this.placed.time !== null,
      gap: this.structure ? GAP_STRUCTURE : GAP_TIMED,
      dot: this.dot,
      selected: this.ownNode(scene.selected.peek()),
      hovered: this.ownNode(scene.hovered.peek()),
      highlighted: wanted,
      span: scene.critical.peek()?.span ?? 0,
    });
    this.drawSeen(pen, this.where);
  }

  /** Frames the part that the first picture shows, unless it shows everything. */
  private drawSeen(pen: Pen, where: BoxOf): void {
    const { scene } = this;
    const seen = scene.model.peek().boxes.filter((n) => inView(scene, n));
    if (seen.length === 0 || seen.length === scene.model.peek().boxes.length) return;
    const boxes = seen.flatMap((n) => this.ownNode(n) ?? []).map(where);
    const x0 = Math.min(...boxes.map((b) => b.x)),
      y0 = Math.min(...boxes.map((b) => b.y));
    const w = Math.max(...boxes.map((b) => b.x + b.w)) - x0,
      h = Math.max(...boxes.map((b) => b.y + b.h)) - y0;
    const { accent } = scene.look().t;
    pen.box(x0 - 4, y0 - 4, w + 8, h + 8, 3, alpha(accent, 0.06), { colour: accent, width: 1.5 });
  }
}

/** True if the node's middle is in view. */
function inView(scene: Scene, n: DagNode): boolean {
  const { camera: c, view } = scene;
  const x = (n.x + n.w / 2) * c.kx + c.tx,
    y = (n.y + n.h / 2) * c.ky + c.ty;
  return x >= view.x && x <= view.x + view.w && y >= view.y && y <= view.y + view.h;
}

export function SecondView({ scene }: { scene: Scene }) {
  const holder = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const pointed = useSignal<Pointed | null>(null);
  const second = useMemo(() => new SecondViewport(scene), [scene]);

  useEffect(() => {
    const box = holder.current!,
      c = canvas.current!;
    let asked = 0;
    const draw = () => {
      asked = 0;
      const ratio = Math.min(3, devicePixelRatio || 1);
      const width = Math.round(second.width * ratio),
        height = Math.round(second.height * ratio);
      if (c.width !== width || c.height !== height) [c.width, c.height] = [width, height];
      const ctx = c.getContext("2d");
      if (!ctx) return;
      ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
      ctx.clearRect(0, 0, second.width, second.height);
      second.draw(new CanvasPen(ctx, dark.peek()));
    };
    second.requestDraw = () => {
      if (!asked) asked = requestAnimationFrame(draw);
    };
    scene.onPictureChange = second.requestDraw;
    window.__secondDag = () => {
      const w = second.where;
      return w
        ? second.model.peek().boxes.map((n) => {
            const b = w(n);
            return { key: n.key, x: b.cx, y: b.y + b.h / 2, h: b.h };
          })
        : [];
    };
    const measure = () => second.resize(Math.floor(box.clientWidth), Math.floor(box.clientHeight));
    const sizes = new ResizeObserver(measure);
    sizes.observe(box);
    measure();

    const unfollow = followPointer(c, {
      scene,
      viewport: second,
      pointed,
      hit: (p) => (second.where ? nodeAt(second.model.peek(), second.where, p.x, p.y) : null),
      original: second.original,
      click: (n) => scene.select(n && second.original(n)),
    });
    return () => {
      unfollow();
      cancelAnimationFrame(asked);
      sizes.disconnect();
      second.requestDraw = () => {};
      scene.onPictureChange = () => {};
      delete window.__secondDag;
    };
  }, [scene, second]);

  useSignalEffect(() => {
    void [scene.model.value, secondLayout.value, power.value];
    second.follow();
  });
  useSignalEffect(() => {
    scene.look();
    scene.highlighted();
    void [scene.selected.value, scene.hovered.value, scene.critical.value];
    second.requestDraw();
  });

  return (
    <div class="dag-second" ref={holder}>
      <canvas
        ref={canvas}
        role="img"
        aria-label={`The same DAG, layout ${LAYOUT_OPTIONS.find((l) => l.id === secondLayout.value)?.title ?? ""}`}
      />
      <label class="dag-second-layout">
        Second layout{" "}
        <select
          value={secondLayout.value ?? ""}
          onChange={(e) => {
            second.fitted = true;
            secondLayout.value = e.currentTarget.value as Layout;
          }}
        >
          {LAYOUT_OPTIONS.map((l) => (
            <option value={l.id}>{l.title}</option>
          ))}
        </select>
        <button
          title="Show the whole DAG"
          onClick={() => second.fitNow("full")}
          aria-label="Fit the second picture"
        >
          Fit
        </button>
      </label>
      {pointed.value && <Tooltip scene={scene} at={pointed.value} size={second} />}
    </div>
  );
}

/** Opens the second picture with a layout that differs from the first one's, or closes it. */
export function toggleSecond(): void {
  const other: Layout = layout.peek() === "structure" ? "time" : "structure";
  secondLayout.value = secondLayout.peek() === null ? other : null;
}
