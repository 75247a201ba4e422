/** The DAG as a file: the visible picture as PNG or SVG, its nodes as CSV. */

import { rowLabel } from "../format";
import { svgPatternDefs } from "./svgPatterns";
import { drawTimeStrip } from "./timeStrip";
import { layout } from "../store";
import { colours, dark } from "../theme/theme";
import { csvField } from "../components/csv";
import { nameOf, siteLabel } from "./nodeDrawing";
import { GAP_STRUCTURE, GAP_TIMED } from "./layout";
import { paintDag } from "./paint";
import { SvgPen } from "./pen";
import type { Scene } from "./scene";
import type { DagNode } from "./model";

/** The visible picture as SVG. */
export function svgOf(scene: Scene): string {
  const pen = new SvgPen(dark.peek());
  const look = scene.look();
  const time = scene.placed.time;
  const camera = scene.camera;
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
  paintDag(pen, {
    model: scene.model.peek(),
    at: (n) => n,
    camera,
    view: look.view,
    look,
    timed: time !== null,
    gap: layout.peek() === "structure" ? GAP_STRUCTURE : GAP_TIMED,
    dot: scene.dot,
    selected: scene.selected.peek(),
    hovered: null,
    highlighted: scene.highlighted(),
    span: scene.critical.peek()?.span ?? 0,
  });
  return pen.finish(
    scene.width,
    scene.height,
    colours.peek().panel,
    svgPatternDefs(colours.peek()),
    `DAG of ${scene.run.name}`,
  );
}

/** The shown nodes, one per line; times in seconds. */
export function csvOf(scene: Scene): string {
  const meta = scene.run;
  const out = [
    [
      "node",
      "kind",
      "name",
      "site",
      "depth",
      "tasks",
      "work (s)",
      "span (s)",
      "start (s)",
      "end (s)",
      "ran_on",
      "critical",
      "ready_path",
    ],
  ];
  const seconds = (ticks: number) => String(Number((ticks / meta.ticks_per_second).toPrecision(9)));
  const open: DagNode[] = [...(scene.model.peek().top.inside ?? [])].reverse();
  while (open.length > 0) {
    const n = open.pop()!;
    const s = n.strand,
      f = n.folded;
    const item = s ?? f!;
    out.push([
      n.key,
      n.kind + (n.inside ? " (expanded)" : ""),
      nameOf(n, meta),
      siteLabel(meta, item.site),
      String(n.depth - 1),
      f ? String(f.tasks) : "",
      seconds(f ? f.work : s!.weight),
      seconds(f ? f.span : s!.weight),
      seconds(item.start),
      seconds(item.end),
      s ? rowLabel(meta, s.row) : f!.rows.map(([r]) => rowLabel(meta, r)).join(" "),
      String(item.critical),
      String(n.ready),
    ]);
    if (n.inside) for (let i = n.inside.length - 1; i >= 0; i--) open.push(n.inside[i]!);
  }
  return out.map((row) => row.map(csvField).join(",")).join("\n") + "\n";
}
