/**
 * The shown part of the DAG: a tree of nodes, in which an expanded task or group has an inside, and
 * the links between them. It is rebuilt from the loaded insides and the set of expanded ids, in
 * time and memory linear in the shown nodes.
 */

import type { DagFolded, DagInside, DagItem, DagStrand } from "../data/contract";

/** Id of the run, whose inside are the root tasks. */
export const RUN = "r";

export interface DagNode {
  /** `s<strand>`, `s<strand>/<inner>`, or the contract's node id. */
  key: string;
  kind: "run" | "strand" | "task" | "group";
  strand: DagStrand | null;
  /** For a folded strand that can be opened too: the sums of its inside. */
  folded: DagFolded | null;
  parent: DagNode | null;
  /** Number of expanded nodes around it. */
  depth: number;
  /** Creates from the root to the node's task; for a group, to its children. */
  level: number;
  /** Position in the parent's inside. */
  index: number;
  /** In program order; null while the node is collapsed. */
  inside: DagNode[] | null;
  /** On the ready path, as far as the shown nodes determine it. */
  ready: boolean;
  /**
   * Box in layout units; for an expanded node, the frame around its inside. `spine` is the x of its
   * axis.
   */
  x: number;
  y: number;
  w: number;
  h: number;
  spine: number;
  /**
   * Another node of the same lane lies above or below. Links pass it in the lane's gutter, at this
   * distance outside the box.
   */
  above: boolean;
  below: boolean;
  gutter: number;
}

/**
 * `order` links consecutive stretches of one task; tasks created in one may still run in the next.
 */
export type LinkKind = "create" | "continue" | "end" | "depend" | "signal" | "order";

export interface Link {
  from: DagNode;
  to: DagNode;
  kind: LinkKind;
  critical: boolean;
  ready: boolean;
  /** End links: ticks between the end and the time at which the wait went on. */
  slack: number;
  /** `continue` past a fork whose children are in the way. */
  across: boolean;
}

export interface Model {
  top: DagNode;
  /** Strands and collapsed nodes, which have a box. In program order, outer first. */
  boxes: DagNode[];
  /** Expanded nodes, outer before inner, starting with the run. */
  frames: DagNode[];
  links: Link[];
  byKey: Map<string, DagNode>;
  /** Tasks inside collapsed nodes. */
  hidden: number;
}

export const strandKey = (id: number): string => `s${id}`;

const keyOf = (item: DagItem): string =>
  item.kind !== "strand"
    ? item.id
    : item.inner == null
      ? strandKey(item.id)
      : `${strandKey(item.id)}/${item.inner}`;

/** True for nodes inside a folded strand, which the run's graph does not contain. */
export const isInner = (n: DagNode): boolean =>
  n.strand ? n.strand.inner != null : n.key.startsWith("s");

/** A folded strand as a collapsed node: it ran on one thread. */
function foldedOf(s: DagStrand): DagFolded | null {
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

/** Start and end of a node, in ticks. */
export const startOf = (n: DagNode): number => (n.strand ?? n.folded)?.start ?? 0;
export const endOf = (n: DagNode): number => (n.strand ?? n.folded)?.end ?? 0;
export const criticalOf = (n: DagNode): boolean => (n.strand ?? n.folded)?.critical ?? true;
/** Number of the node's task; for a group, the task that created its children. */
export const taskOf = (n: DagNode): number => (n.strand ?? n.folded)?.task ?? 0;

function node(item: DagItem | null, key: string, parent: DagNode | null, index: number): DagNode {
  return {
    key,
    parent,
    index,
    inside: null,
    ready: false,
    kind: item === null ? "run" : item.kind,
    strand: item?.kind === "strand" ? item : null,
    folded: !item ? null : item.kind !== "strand" ? item : foldedOf(item),
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

function levelOf(item: DagItem | null, parent: DagNode | null): number {
  if (!item || !parent) return -1;
  if (item.kind === "strand" && (parent.kind === "task" || parent.kind === "strand"))
    return parent.level;
  return parent.kind === "group" ? parent.level : parent.level + 1;
}

/** True if the node can be expanded (it may have to be loaded first). */
export const expandable = (n: DagNode): boolean =>
  n.inside === null && n.folded !== null && n.folded.expandable;

/**
 * Builds the model. Ids in `expanded` without a loaded inside stay collapsed; duplicate items count
 * once.
 */
export function buildModel(
  loaded: ReadonlyMap<string, DagInside>,
  expanded: ReadonlySet<string>,
): Model {
  const top = node(null, RUN, null, 0);
  const byKey = new Map([[RUN, top]]);
  const frames: DagNode[] = [];
  const boxes: DagNode[] = [];
  let hidden = 0;
  // Depth first without recursion, because programs may nest tasks arbitrarily deep.
  const open: DagNode[] = [top];
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

/** The path through an inside: its marked items by time. The path's links join neighbours. */
function chain(items: DagNode[]): Map<DagNode, DagNode> {
  const sorted = [...items].sort((a, b) => startOf(a) - startOf(b) || a.index - b.index);
  const next = new Map<DagNode, DagNode>();
  for (let i = 1; i < sorted.length; i++) next.set(sorted[i - 1]!, sorted[i]!);
  return next;
}

function linksOf(f: DagNode, byKey: ReadonlyMap<string, DagNode>, out: Link[]): void {
  const items = f.inside!;
  const mine = (id: string): DagNode | null => {
    const n = byKey.get(id);
    return n && n.parent === f ? n : null;
  };
  markReady(items, mine);
  const critical = f.kind === "run" ? new Map<DagNode, DagNode>() : chain(items.filter(criticalOf));
  const ready =
    f.kind === "run" ? new Map<DagNode, DagNode>() : chain(items.filter((n) => n.ready));
  // `item` is the item of `f` that `from` is, or is the end of.
  const link = (
    from: DagNode,
    to: DagNode,
    kind: LinkKind,
    { slack = 0, across = false, item = from } = {},
  ) => {
    out.push({
      from,
      to,
      kind,
      slack,
      across,
      critical: critical.get(item) === to && isLastIn(item, from, criticalOf),
      ready: ready.get(item) === to && isLastIn(item, from, (n) => n.ready),
    });
  };
  // If others depend on a task, more than the wait needs it, so its end has no slack.
  const needed = new Set<string>();
  for (const n of items) for (const id of n.folded?.depends ?? []) needed.add(id);
  let previous: DagNode | null = null;
  let before: DagNode | null = null;
  for (const n of items) {
    const s = n.strand;
    // A section or a stretch, with its predecessor and successor.
    if (n.kind === "group" && before && before.kind !== "task" && f.kind !== "run")
      link(before, n, isOpenSection(n) ? "continue" : "order");
    const joined = s ? s.joins.map(mine).filter((c) => c !== null) : [];
    if (s && before?.kind === "group" && !joined.includes(before)) link(before, n, "order");
    const throughSection = before !== null && isOpenSection(before) && joined.includes(before);
    before = n;
    if (s) {
      if (previous && !throughSection) {
        const across =
          joined.length > 0 && previous.strand!.creates.some((id) => s.joins.includes(id));
        if (!across || critical.get(previous) === n) link(previous, n, "continue", { across });
      }
      const latest = Math.max(previous ? endOf(previous) : 0, ...joined.map(endOf));
      for (const item of joined)
        for (const c of waitedFor(item))
          link(c, n, "end", { slack: needed.has(c.key) ? 0 : latest - endOf(c), item });
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
 * A collapsed node does not show whether the ready path goes through it, but the wait that it ended
 * last does.
 */
function markReady(items: DagNode[], mine: (id: string) => DagNode | null): void {
  let previous: DagNode | null = null;
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
      for (let at = last; at; at = isOpenSection(at) ? latestOf(waitedFor(at)) : null)
        at.ready = true;
    }
    previous = n;
  }
}

const isOpenSection = (n: DagNode): boolean =>
  n.inside !== null && n.inside.length > 0 && n.folded?.section === true;

/** What a wait for `n` waits for: the tasks of an opened section, otherwise the node itself. */
function waitedFor(n: DagNode): DagNode[] {
  if (!isOpenSection(n)) return [n];
  const joined = new Set(n.inside!.flatMap((c) => c.strand?.joins ?? []));
  const tasks = n.inside!.filter((c) => !c.strand && !joined.has(c.key)).flatMap(waitedFor);
  return tasks.length > 0 ? tasks : [n];
}

const latestOf = (nodes: readonly DagNode[]): DagNode | null =>
  nodes.reduce<DagNode | null>((last, n) => (last && endOf(last) >= endOf(n) ? last : n), null);

/** Whether a path that leaves `item` does so from `n`: `item`, or the last marked node inside. */
function isLastIn(item: DagNode, n: DagNode, marked: (n: DagNode) => boolean): boolean {
  for (let at = n; at !== item; at = at.parent!) {
    const on = at.parent!.inside!.filter(marked);
    if (on.some((other) => startOf(other) > startOf(at)) || !on.includes(at)) return false;
  }
  return true;
}

/** Where a link into `n` ends: the first box inside an expanded task, section or folded strand. */
export function entryBox(n: DagNode): DagNode {
  let at = n;
  while (
    at.inside &&
    (at.kind === "task" || at.strand || isOpenSection(at)) &&
    at.inside.length > 0
  )
    at = at.inside[0]!;
  return at;
}

/** Where a link out of `n` starts: the last strand inside an expanded task or folded strand. */
export function exitBox(n: DagNode): DagNode {
  let at = n;
  while (at.inside && (at.kind === "task" || at.strand) && at.inside.length > 0) {
    let last: DagNode | null = null;
    for (let i = at.inside.length - 1; i >= 0 && !last; i--)
      if (at.inside[i]!.strand) last = at.inside[i]!;
    at = last ?? at.inside[at.inside.length - 1]!;
  }
  return at;
}

/**
 * The nearest shown node that is or contains task `task`, given the node ids from the root down to
 * it.
 */
export function nearestShown(model: Model, ancestors: readonly string[]): DagNode | null {
  for (let i = ancestors.length - 1; i >= 0; i--) {
    const n = model.byKey.get(ancestors[i]!);
    if (n) return n;
  }
  return null;
}
