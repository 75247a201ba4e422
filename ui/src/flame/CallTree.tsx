/** The stacks of the flame graph as a table with numbers. */

import { useSignal } from "@preact/signals";
import type { RunMeta } from "../data/contract";
import { count, percent, ticks } from "../format";
import { dark } from "../theme/theme";
import { Swatch } from "../components/widgets";
import { csv, Table, type Column } from "../components/Table";
import { colourOf, nameOf, placeOf } from "./frameLook";
import { callTree, keyOf, type FlameNode } from "./tree";

function columns(
  root: FlameNode,
  r: RunMeta,
  closed: ReadonlySet<string>,
  flip: (key: string) => void,
): Column<FlameNode>[] {
  const seconds = (n: number) => Number((n / r.ticks_per_second).toPrecision(9));
  return [
    {
      id: "name",
      title: "stack",
      left: true,
      csv: (n) => `${"  ".repeat(n.depth)}${nameOf(n, r)} ${placeOf(n, r)}`.trimEnd(),
      cell: (n) => (
        <span class="name" style={{ paddingLeft: `${n.depth * 16}px` }}>
          {n.children.length > 0 ? (
            <button
              type="button"
              class="fold"
              aria-expanded={!closed.has(keyOf(n))}
              aria-label={`${closed.has(keyOf(n)) ? "Show" : "Hide"} the children of ${nameOf(n, r)}`}
              onClick={(e) => {
                e.stopPropagation();
                flip(keyOf(n));
              }}
            >
              {closed.has(keyOf(n)) ? "▸" : "▾"}
            </button>
          ) : (
            <span class="fold" />
          )}
          <Swatch of={colourOf(n, r, dark.value)} /> <span class="mono">{nameOf(n, r)}</span>{" "}
          <span class="faint">{placeOf(n, r)}</span>
        </span>
      ),
    },
    {
      id: "share",
      title: "share",
      left: true,
      csv: (n) => n.total / root.total,
      cell: (n) => (
        <span class="cell-bar">
          <i style={{ width: `${Math.max(1.5, (90 * n.total) / root.total)}px` }} />
          {percent(n.total / root.total, 1)}
        </span>
      ),
    },
    {
      id: "total",
      title: "total",
      unit: "s",
      csv: (n) => seconds(n.total),
      cell: (n) => ticks(n.total, r.ticks_per_second),
    },
    {
      id: "own",
      title: "own",
      unit: "s",
      csv: (n) => seconds(n.own),
      cell: (n) => (n.own > 0 ? ticks(n.own, r.ticks_per_second) : null),
    },
    { id: "strands", title: "strands", csv: (n) => n.strands, cell: (n) => count(n.strands) },
    {
      id: "stolen",
      title: "stolen",
      hint: "The part of its time that ran in stolen tasks",
      csv: (n) => n.stolen / Math.max(1, n.total),
      cell: (n) => (n.stolen > 0 ? percent(n.stolen / n.total) : <span class="faint">0</span>),
    },
  ];
}

export function csvOf(root: FlameNode, r: RunMeta): string {
  const none = new Set<string>();
  return csv(
    columns(root, r, none, () => undefined),
    callTree(root, none),
  );
}

export function CallTree(p: {
  root: FlameNode;
  run: RunMeta;
  selected: FlameNode | null;
  onSelect: (n: FlameNode) => void;
}) {
  const closed = useSignal<ReadonlySet<string>>(new Set());
  const flip = (key: string) => {
    const next = new Set(closed.value);
    if (!next.delete(key)) next.add(key);
    closed.value = next;
  };
  return (
    <Table
      label="Call tree"
      columns={columns(p.root, p.run, closed.value, flip)}
      rows={callTree(p.root, closed.value)}
      id={(n) => String(n.id)}
      selected={(n) => n === p.selected}
      onSelect={p.onSelect}
    />
  );
}
