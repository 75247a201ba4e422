/**
 * Selection in the DAG: by steps, along the critical path, and selections from other views, after
 * opening the nodes around them.
 */

import type { Ancestors, StrandDetail, Way as WayTo } from "../data/contract";
import { requests } from "../data/requests";
import { Unavailable } from "../data/source";
import { count } from "../format";
import { expanded, selection, type Selection } from "../store";
import { reveal } from "./camera";
import { nearestShown, RUN } from "./model";
import { setExpanded } from "./expandCollapse";
import { sameSet } from "../sets";
import { EMPTY, type Scene } from "./scene";
import { neighboursByLink, neighbourOf, type Direction } from "./neighbours";

/** Number of levels that a search may open at once. */
const MAX_LEVELS = 600;

export function selectNeighbour(scene: Scene, way: Direction): void {
  const m = scene.model.peek();
  scene.links ??= neighboursByLink(m);
  const to = neighbourOf(m, scene.links, scene.selected.peek(), way);
  if (!to) return;
  scene.select(to);
  scene.revealNode(to);
}

/** Moves to the next (1) or previous (-1) strand of the critical path that its table lists. */
export function stepAlongPath(scene: Scene, by: 1 | -1): void {
  const rows = scene.critical.peek()?.rows;
  if (!rows || rows.length === 0) return;
  const s = selection.peek();
  const strand = s?.kind === "strand" && s.run === scene.id ? s.id : null;
  const n = scene.selected.peek();
  let i = rows.findIndex((r) => r.strand === strand);
  if (i < 0) {
    const at = n?.strand?.start ?? n?.folded?.start ?? (by > 0 ? -1 : Infinity);
    i = by > 0 ? rows.findIndex((r) => r.start > at) : rows.findLastIndex((r) => r.start < at);
  } else i += by;
  const row = rows[Math.min(rows.length - 1, Math.max(0, i))]!;
  selectStrand(scene, row.strand, row.code);
}

/** Selects a strand that may not be shown yet. */
export function selectStrand(scene: Scene, strand: number, code: number): void {
  const shown = scene.model.peek().byKey.get(`s${strand}`);
  if (shown) {
    scene.select(shown);
    return scene.revealNode(shown);
  }
  void scene.source.json<StrandDetail>(requests.strand(scene.id, strand)).then(
    (d) => (selection.value = { kind: "strand", run: scene.id, id: strand, task: d.task }),
    (e: unknown) => {
      if (!(e instanceof Unavailable)) throw e;
      scene.note.value = e.message;
      selection.value = { kind: "code", run: scene.id, code };
    },
  );
}

/** The request for the nodes to open for a strand, or for a node inside a folded one. */
function wayRequest(scene: Scene, s: Selection): string | null {
  if (s.kind === "strand") return requests.way(scene.id, s.id, s.inner, scene.sections);
  if (s.kind === "steal") return requests.way(scene.id, s.strand, null, scene.sections);
  const strand = s.kind === "group" ? /^s(\d+)\b/.exec(s.id) : null;
  return strand && s.kind === "group"
    ? requests.wayToNode(scene.id, Number(strand[1]), s.id, scene.sections)
    : null;
}

/** Ignores a missing answer: a report carries only the ways to tasks. */
function nullIfAbsent(e: unknown): null {
  if (e instanceof Unavailable && e.why !== "loading" && e.why !== "gone") return null;
  throw e;
}

/** Shows a selection from another view, after expanding the nodes around it. */
export async function showSelection(scene: Scene, s: Selection | null): Promise<void> {
  if (s === scene.ownSelection && s !== null) return;
  scene.ownSelection = s;
  const m = scene.model.peek();
  const found = scene.find(m, s);
  scene.selected.value = found;
  scene.requestDraw();
  if (!s || s.run !== scene.id || m === EMPTY) return;
  if (found) return scene.revealNode(found);
  const task =
    s.kind === "task"
      ? s.id
      : s.kind === "strand" || s.kind === "steal" || s.kind === "group"
        ? s.task
        : null;
  if (task === null) return;
  try {
    const request = wayRequest(scene, s);
    const asked = request
      ? await scene.source.json<WayTo>(request).then((w) => w.open, nullIfAbsent)
      : null;
    const way =
      asked ??
      (await scene.source.json<Ancestors>(requests.ancestors(scene.id, task, scene.sections)));
    if (selection.peek() !== s) return;
    const open = s.kind === "task" ? way.slice(0, -1) : way;
    const wanted = open.slice(0, MAX_LEVELS);
    const last =
      wanted.length < open.length
        ? (wanted[wanted.length - 1] ?? RUN)
        : (way[way.length - 1] ?? RUN);
    const to = new Set([...expanded.peek(), ...wanted]);
    if (sameSet(to, expanded.peek())) {
      // Expanded already as far as this source goes: select the node that contains it.
      const near = nearestShown(scene.model.peek(), way);
      if (near) {
        scene.selected.value = near;
        scene.revealNode(near);
      }
      return;
    }
    setExpanded(scene, to, last, "Expanded to the selected task");
    if (wanted.length < open.length)
      scene.note.value = `The task is ${count(open.length)} levels deep; only ${count(MAX_LEVELS)} are expanded`;
    scene.pendingSelection = s;
  } catch (e) {
    if (!(e instanceof Unavailable)) throw e;
    const near = null;
    scene.note.value = `${e.message}${e.remedy ? ` ${e.remedy}` : ""}`;
    scene.selected.value = near;
  }
}

/** After the picture changed: scrolls the sought node into view. */
export function revealPending(scene: Scene): void {
  const s = scene.pendingSelection;
  if (!s || selection.peek() !== s) return;
  const n = scene.find(scene.model.peek(), s);
  if (!n) return;
  scene.pendingSelection = null;
  scene.selected.value = n;
  const to = reveal(scene.camera, n, scene.view);
  scene.camera = to;
  scene.fitted = false;
  scene.requestDraw();
}
