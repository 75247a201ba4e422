/** Describes what is under the pointer. Everything in it is also in the drawer after a click. */

import { runningWords } from "../components/sentences";
import { READY_KINDS } from "./parallelismStrip";
import type { Signal } from "@preact/signals";
import { count, plural, percent, sized, threeDigits, ticks as timeOf, rowLabel } from "../format";
import { FLAG } from "./strandBoxes";
import { boxesOf } from "./selection";
import { binAt } from "./hitTest";
import type { Hit } from "./hitTest";
import { columnAt } from "./parallelismProfile";
import { exact } from "./timeScale";
import type { TimelineView } from "./timelineView";
import { WAIT_KIND_NAMES } from "./waits";

export interface Pointed {
  hit: Hit;
  x: number;
  y: number;
}

type Line = [string, string];

export function Tooltip({
  view: of,
  pointed: at,
}: {
  view: { current: TimelineView | null };
  pointed: Signal<Pointed | null>;
}) {
  const pointed = at.value;
  const view = of.current;
  const said = view && pointed && tooltipText(view, pointed.hit);
  if (!said) return null;
  const width = view.canvas.clientWidth;
  const left = pointed.x > width - 320;
  const high = pointed.y > view.canvas.clientHeight - 170;
  return (
    <div
      class="tl-tip"
      aria-hidden="true"
      style={{
        [left ? "right" : "left"]: `${left ? width - pointed.x + 14 : pointed.x + 14}px`,
        [high ? "bottom" : "top"]:
          `${high ? view.canvas.clientHeight - pointed.y + 10 : pointed.y + 14}px`,
      }}
    >
      <b>{said.title}</b>
      {said.lines.map(([name, value]) => (
        <div key={name}>
          <span>{name}</span> {value}
        </div>
      ))}
    </div>
  );
}

function tooltipText(view: TimelineView, hit: Hit): { title: string; lines: Line[] } | null {
  const { meta } = view;
  const time = (n: number) => timeOf(n, meta.ticks_per_second);
  const code = (i: number) => meta.codes[i]?.label ?? "unknown code";
  const site = (i: number) => meta.sites[i]?.label ?? "unknown site";
  const row = (i: number) => rowLabel(meta, i);
  switch (hit.kind) {
    case "box": {
      const b = view.scene && boxesOf(view.scene, hit);
      if (!b || hit.index >= b.n) return null;
      const i = hit.index;
      const flags = b.flags[i]!;
      const lines: Line[] = [
        [
          "took",
          `${time(b.end[i]! - b.start[i]!)}, from ${exact(b.start[i]!, view.window, meta.ticks_per_second)}`,
        ],
        ["on", row(b.row[i]!)],
        ["spawned at", site(b.site[i]!)],
        hit.inside
          ? ["level", `${b.level[i]}`]
          : ["task", `${count(b.task[i]!)}, level ${b.level[i]}`],
      ];
      if (hit.inside) lines.push(["inside", `a folded strand of task ${count(b.task[i]!)}`]);
      if (!Number.isNaN(b.ready[i]!) && b.start[i]! > b.ready[i]!)
        lines.push([
          "ready",
          `${time(b.start[i]! - b.ready[i]!)} before it started${flags & FLAG.buried ? ": its thread was inside an unrelated task" : ""}`,
        ]);
      if (flags & FLAG.stolen) lines.push(["stolen", "yes"]);
      const on = [
        flags & FLAG.critical ? "critical path" : "",
        flags & FLAG.ready ? "ready path" : "",
      ]
        .filter(Boolean)
        .join(", ");
      if (on) lines.push(["on the", on]);
      if (flags & FLAG.folded)
        lines.push([
          "folded",
          flags & FLAG.sums
            ? "one strand for a whole subtree; the trace has only its sums"
            : "one strand for a whole subtree; zoom in to see it",
        ]);
      return { title: sized(code(b.code[i]!), b.size[i]), lines };
    }
    case "column":
      return {
        title:
          hit.strands > 1
            ? `${plural(hit.strands, "strand")}${hit.strands >= 65535 ? " or more" : ""} in this column`
            : code(hit.code),
        lines: [
          ["longest", code(hit.code)],
          ["spawned at", site(hit.site)],
          ["on", row(hit.row)],
          ["at", time(hit.t)],
        ],
      };
    case "free": {
      if (!hit.what) return null;
      const kind = {
        delay: "Delay",
        sched: "No work, scheduler",
        app: "No work, program",
        unread: "Not read",
      }[hit.what];
      const why = {
        delay: "a strand was ready while this worker was free; drawn in the lowest free rows",
        sched: "no strand was ready, because the next strand of the ready path had not started",
        app: "no strand was ready: the program had no more parallelism here",
        unread: "records are missing from here on, so it is unknown what this worker did",
      }[hit.what];
      return {
        title: kind,
        lines: [
          ["", why],
          ["on", row(hit.row)],
          ["at", time(hit.t)],
        ],
      };
    }
    case "strip": {
      const c = view.drawn?.columns;
      const s = view.scene;
      const v = c && s && view.pointer ? columnAt(c, s.scale, view.pointer.x) : null;
      if (!v) return null;
      const lines: Line[] = [[runningWords(meta), threeDigits(v.running!)]];
      // The legend's words and sums.
      for (const kind of READY_KINDS) {
        const ready = kind.of.reduce((sum, k) => sum + (v[`ready_${k}`] || 0), 0);
        if (ready > 0.005) lines.push([kind.name, threeDigits(ready)]);
      }
      for (const [name, key] of [
        ["delay", "delay"],
        ["no work, scheduler", "no_work_sched"],
        ["no work, program", "no_work_app"],
        ["descheduled", "descheduled"],
        ["blocked", "blocked"],
        ["not read", "unread"],
      ] as const) {
        if (v[key]! > 0.005) lines.push([name, `${threeDigits(v[key]!)} of ${meta.workers}`]);
      }
      return { title: time(hit.t), lines };
    }
    case "arc": {
      const a = hit.arc;
      return {
        title: a.leap ? "Leapfrog steal" : "Steal",
        lines: [
          ["thief", row(a.to)],
          ["victim", row(a.from)],
          ["at", time(a.toT)],
          ["ready for", time(Math.max(0, a.toT - a.fromT))],
        ],
      };
    }
    case "wait": {
      const w = hit.wait;
      return {
        title: `Wait for ${WAIT_KIND_NAMES[w.kind] ?? w.kind}`,
        lines: [
          ["who", row(w.row)],
          [
            "took",
            `${time(w.end - w.start)}, from ${exact(w.start, view.window, meta.ticks_per_second)}`,
          ],
          ["ended by", w.by === null ? "unknown" : row(w.by)],
          ...(w.end > w.released && w.by !== null
            ? [["continued", `${time(w.end - w.released)} after that`] as Line]
            : []),
          ...(w.critical ? [["on the", "critical path"] as Line] : []),
        ],
      };
    }
    case "dot": {
      const lines: Line[] = [
        ["on", row(hit.dot.row)],
        ["at", time(hit.dot.t)],
      ];
      const there = view.facts.spawned(hit.dot.row, hit.dot.level, hit.dot.bin);
      if (there && there.total > 0) {
        const names = there.sites.map(([s, n]) =>
          there.total > 1 ? `${site(s)} (${count(n)})` : site(s),
        );
        if (there.more_sites > 0) names.push(`${there.more_sites} more`);
        lines.unshift(["site", names.join(", ")]);
        lines.push(["before", `${plural(there.before, "spawn")} by this worker`]);
        return { title: plural(there.total, "spawn"), lines };
      }
      const id = creatorOf(view, hit) ?? hit.dot.strand;
      const s = id === null ? null : view.facts.strand(id);
      const to = s && s.end >= hit.dot.t - (view.window.t1 - view.window.t0) / 200 ? s.to : null;
      const name = to?.at ?? to?.function;
      if (name) lines.unshift(["site", name]);
      else if (s !== undefined) lines.unshift(["site", "zoom in to see it"]);
      if (to?.function && to.at) lines.push(["in", to.function]);
      return { title: plural(hit.dot.creates, "spawn"), lines };
    }
    case "load": {
      const found = view.scene && binAt(view.scene, hit.row, hit.t);
      if (!found) return null;
      const { planes: p, at, ticks } = found;
      const lines: Line[] = [
        ["on", row(hit.row)],
        ["at", time(hit.t)],
      ];
      const cpu = p.cpu?.[at];
      if (cpu !== undefined) lines.push(["on a CPU", percent(cpu / 255)]);
      const queue = p.queue?.[at];
      if (queue !== undefined) lines.push(["in its queue", `${threeDigits(queue)} tasks`]);
      if (p.failed) lines.push(["failed attempts", count(p.failed[at] ?? 0)]);
      if (p.asleep) lines.push(["asleep", percent((p.asleep[at] ?? 0) / 255)]);
      lines.push(["mean of", time(ticks)]);
      return { title: hit.of === "cpu" ? "CPU" : "Queue", lines };
    }
    case "label": {
      const thread = meta.threads[hit.row];
      return thread
        ? {
            title: thread.label,
            lines: [
              ["busy", thread.busy === null ? "unknown" : percent(thread.busy)],
              ["thread", `${thread.thread}${thread.worker ? "" : ", outside the pool"}`],
              ...(thread.name === null ? [] : [["name", thread.name] as Line]),
            ],
          }
        : null;
    }
    case "head":
      return {
        title: hit.group.title,
        lines: [
          ["rows", hit.group.note],
          ["click", "show a report on these rows"],
        ],
      };
    case "region":
      return {
        title: hit.region.label,
        lines: [
          [hit.region.part ? "part" : "region", time(hit.region.end - hit.region.start)],
          ["from", time(hit.region.start)],
          ["on", row(hit.region.row)],
        ],
      };
    case "matrix": {
      // A cell of a large matrix stands for several rows.
      const last = meta.threads.length - 1;
      const rows = (first: number): string =>
        hit.by > 1 ? `${row(first)} to ${row(Math.min(last, first + hit.by - 1))}` : row(first);
      return {
        title: plural(hit.n, "steal"),
        lines: [
          [hit.by > 1 ? "thieves" : "thief", rows(hit.thief)],
          [hit.by > 1 ? "victims" : "victim", rows(hit.victim)],
        ],
      };
    }
    default:
      return null;
  }
}

/**
 * The box ending in creates that is nearest to a dot: the longest strand of a column need not be
 * the one that creates.
 */
function creatorOf(view: TimelineView, hit: Extract<Hit, { kind: "dot" }>): number | null {
  const b = view.scene?.boxes;
  const reach = ((view.window.t1 - view.window.t0) / (view.scene?.scale.width ?? 1000)) * 2;
  let best: number | null = null;
  let least = reach;
  for (let i = 0; b && i < b.n; i++) {
    if (b.row[i] !== hit.dot.row || !b.creates[i]) continue;
    const away = Math.abs(b.end[i]! - hit.dot.t);
    if (away < least) [least, best] = [away, b.id[i]!];
  }
  return best;
}
