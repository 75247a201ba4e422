/**
 * The DAG tab: the toolbar, the picture, and beside it the critical path, the selection and a
 * legend.
 */

import { codeInBackticks } from "../components/placeholders";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { signal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import {
  expanded,
  layout,
  meta,
  power,
  run,
  runMeta,
  selection,
  source,
  split,
  stats,
  status,
  tab,
  secondLayout,
  sections,
} from "../store";
import { count, plural, ticks } from "../format";
import { dark, reducedMotion } from "../theme/theme";
import type { RunId } from "../data/contract";
import { drawTimeStrip } from "./timeStrip";
import { nameOf, nodeSentence, shapeOf, type Shape } from "./nodeDrawing";
import { registerExport } from "../export/export";
import { csvOf, svgOf } from "./export";
import { dagCommands } from "./commands";
import { nodeAt, frameAt } from "./hitTest";
import { drawMinimap, minimapBox, minimapCamera, minimapRoom } from "./minimap";
import { criticalOf, expandable } from "./model";
import { paintDag } from "./paint";
import { CanvasPen } from "./pen";
import { followPointer } from "./pointer";
import { Scene } from "./scene";
import { SecondView } from "./SecondView";
import { SidePanel } from "./SidePanel";
import { NodeTable } from "./NodeTable";
import { Legend, Toolbar } from "./Toolbar";
import { Tooltip, type Pointed } from "./Tooltip";
import { register } from "../commands";
import { onScreen, type BoxOf } from "./routes";
import { GAP_STRUCTURE, GAP_TIMED } from "./layout";
import "./dag.css";
import { revealPending, showSelection } from "./selection";

/** Contents and positions of the picture, for tests: a canvas has no elements to query. */
declare global {
  interface Window {
    /** Positions of the nodes in the second picture. */
    __secondDag?: () => { key: string; x: number; y: number; h: number }[];
    /** Position of the overview in the corner; null while everything is in view. */
    __overview?: () => { x: number; y: number; w: number; h: number } | null;
    __dag?: () => {
      key: string;
      kind: string;
      shape: Shape;
      name: string;
      critical: boolean;
      expanded: boolean;
      expandable: boolean;
      x: number;
      y: number;
      w: number;
      h: number;
    }[];
  }
}

const scenes = new Map<string, Scene>();
/** Key of a DAG: a run with sections as nodes is a DAG of its own. */
const keyOf = (id: RunId, inSections: boolean): string => (inSections ? `${id}+` : id);
/** Expanded nodes of the runs that are not shown. */
const expandedByRun = new Map<RunId, ReadonlySet<string>>();

/** The scene of the shown run once it exists, for exports and tests. */
export function currentScene(): Scene | null {
  return scenes.get(keyOf(run.peek(), sections.peek())) ?? null;
}

/** Shows a table instead of the picture. */
export const asTable = signal(false);

export function DagView() {
  const m = meta.value;
  const r = runMeta(run.value);
  const inSections = sections.value;
  const scene = useMemo(() => {
    if (!m || !r) return null;
    const key = keyOf(r.id, inSections);
    let s = scenes.get(key);
    if (!s || s.meta !== m) {
      s = new Scene(source, m, r, inSections);
      scenes.set(key, s);
    }
    return s;
  }, [m, r, inSections]);
  if (!scene) return <div class="dag-empty">No run is loaded.</div>;
  return <DagWithPanel key={keyOf(scene.id, scene.sections)} scene={scene} />;
}

function DagWithPanel({ scene }: { scene: Scene }) {
  useEffect(() => {
    scene.loadSideData();
    const taken = register(...dagCommands(scene));
    const given = registerExport({
      tab: "dag",
      csv: () => csvOf(scene),
      svg: () => svgOf(scene),
    });
    return () => {
      // Another run has other nodes. This run's expanded nodes are restored when it is shown again.
      expandedByRun.set(scene.id, expanded.peek());
      if (!scene.current) expanded.value = expandedByRun.get(run.peek()) ?? new Set(["t0"]);
      taken();
      given();
    };
  }, [scene]);

  const shape = useRef("");
  useSignalEffect(() => {
    void expanded.value;
    void scene.follow();
  });
  useSignalEffect(() => {
    const now = `${layout.value}:${power.value}`;
    if (shape.current !== "" && shape.current !== now) scene.relayout();
    shape.current = now;
  });
  const there = useComputed(() => scene.model.value.boxes.length > 0);
  useSignalEffect(() => {
    const s = selection.value;
    if (there.value) void showSelection(scene, s);
  });
  useSignalEffect(() => {
    void scene.model.value;
    revealPending(scene);
  });
  useSignalEffect(() => {
    const model = scene.model.value;
    stats.nodes = model.boxes.length;
    const folded = model.boxes.filter((n) => n.folded && expandable(n)).length;
    const inside =
      folded > 0
        ? `, ${count(folded)} of them folded (${plural(model.hidden, "task")} inside)`
        : "";
    if (model.boxes.length === 0) {
      if (tab.value === "dag") status.value = "";
      return;
    }
    const parts = [`${plural(model.boxes.length, "node")} shown${inside}`];
    if (scene.note.value) parts.push(scene.note.value);
    if (layout.value === "time")
      parts.push(
        `time axis: 1 px = ${ticks((scene.placed.time?.ticksPerUnit ?? 1) / scene.shownScale.value)}`,
      );
    if (scene.insides.busy.value > 0) parts.push("loading");
    if (tab.value === "dag") status.value = parts.join(" · ");
  });
  const trouble = scene.failure.value;
  useEffect(() => {
    if (!trouble?.again) return;
    const timer = setTimeout(() => void scene.follow(), 1000);
    return () => clearTimeout(timer);
  }, [trouble]);
  return (
    <div
      class="dag"
      data-view="dag"
      data-layout={layout.value}
      data-split={split.value ? "1" : undefined}
      data-second={secondLayout.value ?? undefined}
    >
      <Toolbar scene={scene} />
      <div class="dag-main">
        {trouble ? (
          <div class="dag-empty" role="status">
            <p>{codeInBackticks(trouble.words)}</p>
            {trouble.remedy && <p class="dag-dim">{codeInBackticks(trouble.remedy)}</p>}
          </div>
        ) : asTable.value ? (
          <NodeTable scene={scene} />
        ) : (
          <>
            <Picture scene={scene} />
            {secondLayout.value && <SecondView scene={scene} />}
          </>
        )}
      </div>
      {!split.value && <SidePanel scene={scene} />}
    </div>
  );
}

function Picture({ scene }: { scene: Scene }) {
  const holderRef = useRef<HTMLDivElement>(null);
  const canvasRef = useRef<HTMLCanvasElement>(null);
  const where = useRef<BoxOf | null>(null);
  const pointed = useSignal<Pointed | null>(null);
  const waiting = useComputed(() => scene.model.value.boxes.length === 0);

  useEffect(() => {
    const box = holderRef.current!,
      canvas = canvasRef.current!;
    let asked = 0;
    let ended = false;
    const draw = () => {
      asked = 0;
      if (ended) return;
      const at = performance.now();
      const ratio = Math.min(3, devicePixelRatio || 1);
      const width = Math.round(scene.width * ratio),
        height = Math.round(scene.height * ratio);
      if (canvas.width !== width || canvas.height !== height) {
        canvas.width = width;
        canvas.height = height;
      }
      const ctx = canvas.getContext("2d");
      if (!ctx) return;
      ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
      ctx.clearRect(0, 0, scene.width, scene.height);
      const pen = new CanvasPen(ctx, dark.peek());
      const camera = scene.cameraAt(at);
      const look = scene.look();
      const time = scene.placed.time;
      if (time)
        drawTimeStrip(pen, {
          scale: time,
          camera,
          height: scene.height,
          width: scene.width,
          workers: scene.run.workers,
          perSecond: scene.run.ticks_per_second,
          running: scene.activityProfile.tiles(),
          t: look.t,
          part: scene.run.only !== null,
        });
      where.current = paintDag(pen, {
        model: scene.model.peek(),
        at: scene.rectAt(at),
        camera,
        view: look.view,
        look,
        timed: time !== null,
        gap: layout.peek() === "structure" ? GAP_STRUCTURE : GAP_TIMED,
        dot: scene.dot,
        selected: scene.selected.peek(),
        hovered: scene.hovered.peek(),
        highlighted: scene.highlighted(),
        span: scene.critical.peek()?.span ?? 0,
      });
      drawMinimap(pen, scene, camera, look);
      scene.onPictureChange();
      scene.shownScale.value = camera.ky;
      stats.frames++;
      stats.primitives = pen.count;
      stats.mostPrimitives = Math.max(stats.mostPrimitives, pen.count);
      if (scene.moving(at)) wake();
      else scene.activityProfile.refine(scene.placed, scene.camera, scene.height);
    };
    const wake = () => {
      if (!asked && !ended) asked = requestAnimationFrame(draw);
    };
    scene.requestDraw = wake;
    window.__dag = () => {
      const places = onScreen((n) => n, scene.camera, scene.dot);
      const all = scene.model.peek();
      return [...all.boxes, ...all.frames.slice(1)].map((n) => {
        const b = places(n);
        return {
          key: n.key,
          kind: n.kind,
          shape: shapeOf(n, scene.dot(n)),
          name: nameOf(n, scene.run),
          critical: criticalOf(n),
          expanded: n.inside !== null,
          expandable: expandable(n),
          x: b.cx,
          y: b.y + b.h / 2,
          w: b.w,
          h: b.h,
        };
      });
    };
    window.__overview = () => minimapBox(scene);
    const sizes = new ResizeObserver(() =>
      scene.resize(Math.floor(box.clientWidth), Math.floor(box.clientHeight)),
    );
    sizes.observe(box);
    scene.resize(Math.floor(box.clientWidth), Math.floor(box.clientHeight));
    wake();

    const unfollow = followPointer(canvas, {
      scene,
      viewport: scene,
      pointed,
      hit: (p) => (where.current ? nodeAt(scene.model.peek(), where.current, p.x, p.y) : null),
      original: (n) => n,
      click: (n, p) => {
        if (n) return scene.select(n);
        if (!where.current) return;
        // A point outside all boxes selects the group whose frame contains it, or nothing.
        const f = frameAt(scene.model.peek(), where.current, p.x, p.y);
        if (f?.kind === "group") scene.select(f);
        else if (scene.selected.peek()) scene.select(null);
      },
      grab: (p, press) => {
        if (press && !minimapRoom(scene, p.x, p.y)) return false;
        const to = minimapCamera(scene, p.x, p.y);
        if (to) scene.moveByUser(to);
        return to !== null;
      },
    });
    return () => {
      ended = true;
      unfollow();
      cancelAnimationFrame(asked);
      sizes.disconnect();
      scene.requestDraw = () => {};
      delete window.__dag;
      delete window.__overview;
    };
  }, [scene]);

  useSignalEffect(() => {
    // Subscribes to every signal that affects the picture.
    scene.look();
    scene.highlighted();
    void scene.model.value;
    void scene.selected.value;
    void scene.hovered.value;
    void scene.activityProfile.running.value;
    void scene.critical.value;
    void reducedMotion.value;
    scene.requestDraw();
  });

  const selected = scene.selected.value;
  return (
    <div class="dag-picture" ref={holderRef}>
      <canvas
        ref={canvasRef}
        tabIndex={0}
        role="application"
        aria-roledescription="graph"
        aria-label={`DAG of ${scene.run.name}. Arrow keys walk along the edges, Enter expands, Shift Enter collapses. ${selected ? `Selected: ${nodeSentence(selected, scene.run)}` : ""}`}
      />
      <Legend scene={scene} />
      {waiting.value && (
        <div class="dag-empty dag-over" role="status">
          The DAG is being read
        </div>
      )}
      {pointed.value && <Tooltip scene={scene} at={pointed.value} />}
    </div>
  );
}
