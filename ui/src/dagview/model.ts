/**
 * What of the DAG is shown: a tree of nodes (a task or group that is expanded has an inside) and
 * the links between them. Built anew from the insides that were loaded and the set of expanded ids;
 * time and memory are linear in what is shown.
 */

import type { DagFolded, DagInside, DagItem, DagStrand } from "../data/contract";

/** Id of the run: its inside are the root tasks. */
export const RUN = "r";

export interface Shown {
  /** `s<strand>`, `s<strand>/<inner>`, or the node id of the contract. */
  key: string;
  kind: "run" | "strand" | "task" | "group";
  strand: DagStrand | null;
  /** Also of a folded strand that can be opened: what is inside of it. */
  folded: DagFolded | null;
  parent: Shown | null;
  /** Expanded nodes around it. */
  depth: number;
  /** Creates from the root; of a strand its task's, of a group its children's. */
  level: number;
  /** Place in the parent's inside. */
  index: number;
  /** Program order, when expanded; null when there is one box. */
  inside: Shown[] | null;
  /** On the ready path, as far as what is shown tells. */
  ready: boolean;
  /**
   * Box in the layout's units; of an expanded node the frame around its inside. `spine` is the x of
   * its axis.
   */
  x: number;
  y: number;
  w: number;
  h: number;
  spine: number;
  /**
   * Something of the same lane lies above or below: links go round it by the lane's gutter at this
   * distance outside of the box.
   */
  above: boolean;
  below: boolean;
  gutter: number;
}

/**
 * `order`: stretches of one task, one after the other; what is created in one may still run in the
 * next.
 */
export type LinkKind = "create" | "continue" | "end" | "depend" | "signal" | "order";

export interface Link {
  from: Shown;
  to: Shown;
  kind: LinkKind;
  critical: boolean;
  ready: boolean;
  /** End links: ticks between the end and what the wait went on after. */
  slack: number;
  /** `continue` over a fork whose children stand in its way. */
  across: boolean;
}

export interface Model {
  top: Shown;
  /** Strands and collapsed nodes: what has a box. In program order, outer first. */
  boxes: Shown[];
  /** Expanded nodes, outer before inner, the run first. */
  frames: Shown[];
  links: Link[];
  byKey: Map<string, Shown>;
  /** Tasks inside of what is collapsed. */
  hidden: number;
}

export const strandKey = (id: number): string => `s${id}`;

const keyOf = (item: DagItem): string =>
  item.kind !== "strand"
    ? item.id
    : item.inner == null
      ? strandKey(item.id)
      : `${strandKey(item.id)}/${item.inner}`;

/** True for what lies inside of a folded strand: the run's graph does not know it. */
export const isInner = (n: Shown): boolean =>
  n.strand ? n.strand.inner != null : n.key.startsWith("s");

/** A folded strand as what is collapsed: it ran on one thread. */
function opening(s: DagStrand): DagFolded | null {
  const all = s.inside;
  return !all
    ? null
    : {
        kind: "group",
        id: strandKey(s.id),
        site: s.site,
        code: s.code,
        label: "",
        task: s.task,
        tasks: all.tasks,
        strands: all.strands,
        children: 0,
        work: all.work,
        span: all.span,
        start: s.start,
        end: s.end,
        ready: s.ready,
        critical: s.critical,
        critical_work: all.critical_work,
        rows: [[s.row, s.end - s.start]],
        running: new Array(24).fill(1),
        depends: [],
        expandable: true,
        section: false,
      };
}

/** Where a node starts and ends in time, in ticks. */
export const startOf = (n: Shown): number => (n.strand ?? n.folded)?.start ?? 0;
export const endOf = (n: Shown): number => (n.strand ?? n.folded)?.end ?? 0;
export const criticalOf = (n: Shown): boolean => (n.strand ?? n.folded)?.critical ?? true;
/** Number of the task a node belongs to (of a group: the task whose children they are). */
export const taskOf = (n: Shown): number => (n.strand ?? n.folded)?.task ?? 0;

function node(item: DagItem | null, key: string, parent: Shown | null, index: number): Shown {
  return {
    key,
    parent,
    index,
    inside: null,
    ready: false,
    kind: item === null ? "run" : item.kind,
    strand: item?.kind === "strand" ? item : null,
    folded: !item ? null : item.kind !== "strand" ? item : opening(item),
    depth: parent ? parent.depth + 1 : 0,
    level: levelOf(item, parent),
    x: 0,
    y: 0,
    w: 0,
    h: 0,
    spine: 0,
    above: false,
    below: false,
    gutter: 0,
  };
}

function levelOf(item: DagItem | null, parent: Shown | null): number {
  if (!item || !parent) return -1;
  if (item.kind === "strand" && (parent.kind === "task" || parent.kind === "strand"))
    return parent.level;
  return parent.kind === "group" ? parent.level : parent.level + 1;
}

/** True when the node can be expanded (it may have to be loaded first). */
export const expandable = (n: Shown): boolean =>
  n.inside === null && n.folded !== null && n.folded.expandable;

/**
 * Builds the model. Ids in `expanded` whose inside is not loaded stay collapsed; an item that
 * occurs twice counts once.
 */
export function build(
  loaded: ReadonlyMap<string, DagInside>,
  expanded: ReadonlySet<string>,
): Model {
  const top = node(null, RUN, null, 0);
  const byKey = new Map([[RUN, top]]);
  const frames: Shown[] = [];
  const boxes: Shown[] = [];
  let hidden = 0;
  // Depth first without recursion: how deep a program nests its tasks is its own affair.
  const open: Shown[] = [top];
  while (open.length > 0) {
    const n = open.pop()!;
    const inside = n.kind === "strand" && !n.folded ? undefined : loaded.get(n.key);
    if (
      n.kind === "run" ||
      (inside !== undefined && inside.items.length > 0 && expanded.has(n.key))
    ) {
      frames.push(n);
      n.inside = [];
      for (const item of inside?.items ?? []) {
        const key = keyOf(item);
        if (byKey.has(key)) continue;
        const child = node(item, key, n, n.inside.length);
        byKey.set(key, child);
        n.inside.push(child);
      }
      for (let i = n.inside.length - 1; i >= 0; i--) open.push(n.inside[i]!);
    } else {
      boxes.push(n);
      hidden += n.folded?.tasks ?? 0;
    }
  }
  const links: Link[] = [];
  for (const f of frames) linksOf(f, byKey, links);
  return { top, boxes, frames, links, byKey, hidden };
}

/**
 * The path through an inside: its marked items by time. Neighbours in it are the links the path
 * takes.
 */
function chain(items: Shown[]): Map<Shown, Shown> {
  const sorted = [...items].sort((a, b) => startOf(a) - startOf(b) || a.index - b.index);
  const next = new Map<Shown, Shown>();
  for (let i = 1; i < sorted.length; i++) next.set(sorted[i - 1]!, sorted[i]!);
  return next;
}

function linksOf(f: Shown, byKey: ReadonlyMap<string, Shown>, out: Link[]): void {
  const items = f.inside!;
  const mine = (id: string): Shown | null => {
    const n = byKey.get(id);
    return n && n.parent === f ? n : null;
  };
  markReady(items, mine);
  const critical = f.kind === "run" ? new Map<Shown, Shown>() : chain(items.filter(criticalOf));
  const ready = f.kind === "run" ? new Map<Shown, Shown>() : chain(items.filter((n) => n.ready));
  const link = (from: Shown, to: Shown, kind: LinkKind, slack = 0, across = false) => {
    out.push({
      from,
      to,
      kind,
      slack,
      across,
      critical: critical.get(from) === to,
      ready: ready.get(from) === to,
    });
  };
  // What others depend on isn't what a wait waits for alone: its end tells of no slack.
  const needed = new Set<string>();
  for (const n of items) for (const id of n.folded?.depends ?? []) needed.add(id);
  let previous: Shown | null = null;
  let before: Shown | null = null;
  for (const n of items) {
    const s = n.strand;
    // A section, or a stretch, and what comes before and after it.
    if (n.kind === "group" && before && before.kind !== "task" && f.kind !== "run")
      link(before, n, "order");
    const joined = s ? s.joins.map(mine).filter((c) => c !== null) : [];
    if (s && before?.kind === "group" && !joined.includes(before)) link(before, n, "order");
    before = n;
    if (s) {
      if (previous) {
        const across =
          joined.length > 0 && previous.strand!.creates.some((id) => s.joins.includes(id));
        if (!across || critical.get(previous) === n) link(previous, n, "continue", 0, across);
      }
      const latest = Math.max(previous ? endOf(previous) : 0, ...joined.map(endOf));
      for (const c of joined) link(c, n, "end", needed.has(c.key) ? 0 : latest - endOf(c));
      for (const id of s.creates) {
        const c = mine(id);
        if (c) link(n, c, "create");
      }
      for (const id of s.signals) {
        const c = byKey.get(strandKey(id));
        if (c)
          out.push({
            from: c,
            to: n,
            kind: "signal",
            critical: criticalOf(c) && s.critical && c.parent !== f,
            ready: false,
            slack: 0,
            across: false,
          });
      }
      previous = n;
    } else {
      for (const id of n.folded!.depends) {
        const c = mine(id);
        if (c && c !== n) link(c, n, "depend");
      }
    }
  }
}

/**
 * A collapsed node doesn't say whether the ready path goes through it; the wait that it ended last
 * does.
 */
function markReady(items: Shown[], mine: (id: string) => Shown | null): void {
  let previous: Shown | null = null;
  for (const n of items) {
    const s = n.strand;
    if (!s) continue;
    n.ready = s.ready_path;
    if (s.ready_path) {
      let last = previous;
      for (const id of s.joins) {
        const c = mine(id);
        if (c && (last === null || endOf(c) > endOf(last))) last = c;
      }
      if (last) last.ready = true;
    }
    previous = n;
  }
}

/**
 * The boxes a link into `n` leads to: the first inside of what is expanded, each root of an
 * expanded group.
 */
export function entry(n: Shown): Shown {
  let at = n;
  while (at.inside && (at.kind === "task" || at.strand) && at.inside.length > 0) at = at.inside[0]!;
  return at;
}

/** The box a link out of `n` leaves from: the last strand of what is expanded. */
export function exit(n: Shown): Shown {
  let at = n;
  while (at.inside && (at.kind === "task" || at.strand) && at.inside.length > 0) {
    let last: Shown | null = null;
    for (let i = at.inside.length - 1; i >= 0 && !last; i--)
      if (at.inside[i]!.strand) last = at.inside[i]!;
    at = last ?? at.inside[at.inside.length - 1]!;
  }
  return at;
}

/**
 * The nearest shown node that is or holds task `task`, given the node ids from the root down to it.
 */
export function holder(model: Model, ancestors: readonly string[]): Shown | null {
  for (let i = ancestors.length - 1; i >= 0; i--) {
    const n = model.byKey.get(ancestors[i]!);
    if (n) return n;
  }
  return null;
}
