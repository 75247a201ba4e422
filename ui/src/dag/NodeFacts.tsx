/** Facts about the selected node, in the panel beside the picture. */

import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { InsideDetail, StrandDetail, TaskDetail } from "../data/contract";
import { requests } from "../data/requests";
import { offCpuParts } from "../drawer/facts";
import { count, plural, percent, plainNumber, ticks, rowLabel } from "../format";
import { endOf, isInner, startOf, type DagNode } from "./model";
import { nameOf, parallelism, siteLabel, stepsOf } from "./nodeDrawing";
import type { Scene } from "./scene";

/** Largest number of tasks of a folded strand that can be opened (`view/src/inside/tree.rs`). */
const MAX_OPENED_TASKS = 300_000;

export function NodeFacts({ scene, n }: { scene: Scene; n: DagNode }) {
  if (!n.strand) return <FoldedFacts scene={scene} n={n} />;
  return isInner(n) ? <InnerFacts scene={scene} n={n} /> : <StrandFacts scene={scene} n={n} />;
}

/** The interval's end points; its length and start if both ends would read the same. */
function fromTo(start: number, end: number): string {
  const [a, b] = [ticks(start), ticks(end)];
  return a === b ? `${ticks(end - start)} at ${a}` : `${a} to ${b}`;
}

function Facts({ rows }: { rows: [string, preact.ComponentChildren][] }) {
  return (
    <dl class="dag-facts">
      {rows.map(([k, v]) => (
        <>
          <dt>{k}</dt>
          <dd>{v}</dd>
        </>
      ))}
    </dl>
  );
}

/** The answer for the selection, or null until it arrives. */
function useDetail<T>(scene: Scene, url: string | null): T | null {
  const got = useSignal<{ url: string; value: T } | null>(null);
  useEffect(() => {
    if (url === null) return;
    const stop = new AbortController();
    scene.source.json<T>(url, stop.signal).then(
      (value) => (got.value = { url, value }),
      // Without an answer, the facts are those of the node.
      () => {},
    );
    return () => stop.abort();
  }, [url]);
  return got.value?.url === url ? got.value.value : null;
}

/** The lines between which a strand ran, or its spawn site if they are unknown. */
function codePlace(
  d: Pick<StrandDetail, "from" | "to"> | null,
  site: string,
): preact.ComponentChildren {
  if (!d || !(d.from.file || d.to.file)) return <span class="dag-mono">{site}</span>;
  const { file, line, at } = d.from;
  return (
    <>
      <span class="dag-mono">{file ? `${file}${line ? `:${line}` : ""}` : (at ?? "?")}</span>
      {d.to.line && d.to.line !== line ? `→${d.to.line}` : ""}
    </>
  );
}

/** The length of a strand, with its work and its time off the CPU if the two differ. */
function tookOf(length: number, weight: number, d: StrandDetail | null): string {
  if (weight >= length * 0.995) return ticks(length);
  const off = d ? offCpuParts(d).map(([what, n]) => `${ticks(n)} ${what}`) : [];
  return [ticks(length), `${ticks(weight)} of it work`, ...off].join(", ");
}

/** The paths that a strand is on. */
function pathsOf(s: { critical: boolean; ready_path: boolean }): string {
  if (s.critical) return s.ready_path ? "critical and ready path" : "critical path";
  return s.ready_path ? "ready path" : "neither path";
}

function StrandFacts({ scene, n }: { scene: Scene; n: DagNode }) {
  const s = n.strand!;
  const meta = scene.run;
  const d = useDetail<StrandDetail>(scene, requests.strand(scene.id, s.id));
  const joins = scene.model.value.links.filter((l) => l.to === n && l.kind === "end");
  const length = s.end - s.start;
  const rows: [string, preact.ComponentChildren][] = [
    [
      "node",
      <>
        <span class="dag-mono">{nameOf(n, meta)}</span>,{" "}
        {n.folded ? `a folded strand, ${n.inside ? "expanded" : "collapsed"}` : "one strand"}
      </>,
    ],
    ["where", codePlace(d, siteLabel(meta, s.site))],
    ["runs", `${rowLabel(meta, s.row)}, ${fromTo(s.start, s.end)}`],
    ["takes", tookOf(length, s.weight, d)],
  ];
  if (d && d.meanwhile > 0)
    rows.push(["meanwhile", `${plainNumber(d.meanwhile)} of ${count(meta.workers)} workers busy`]);
  if (s.ready !== null && s.start > s.ready)
    rows.push(["ready", `${ticks(s.start - s.ready)} before it ran`]);
  if (d?.stolen)
    rows.push([
      "stolen",
      d.stolen.victim === null
        ? "from another thread"
        : `from ${rowLabel(meta, d.stolen.victim)}${d.stolen.leap ? ", while it waited" : ""}`,
    ]);
  if (s.creates.length > 0)
    rows.push([
      "creates",
      `${count(s.creates.length)} ${s.creates.length === 1 ? "task" : "tasks"}`,
    ]);
  if (joins.length > 0) {
    const some = joins.slice(0, 4);
    rows.push([
      "waits for",
      <>
        {some.map((l, i) => (
          <>
            {i > 0 && ", "}
            <span class="dag-mono">{nameOf(l.from, meta)}</span>
          </>
        ))}
        {joins.length > some.length && ` and ${count(joins.length - some.length)} more`}
      </>,
    ]);
    const most = Math.max(...joins.map((l) => l.slack));
    if (most > 0)
      rows.push([
        "slack",
        `${ticks(most)} on ${joins.length > 2 ? "the earliest side" : "one side"}, ${ticks(Math.min(...joins.map((l) => l.slack)))} on ${joins.length > 2 ? "the latest" : "the other"}`,
      ]);
  }
  const f = n.folded;
  if (f)
    rows.push(
      [
        "inside",
        `${count(f.tasks)} ${f.tasks === 1 ? "task" : "tasks"}, ${count(f.strands)} strands, folded while the trace was read`,
      ],
      ["span", `${ticks(f.span)}, parallelism ${parallelism(f.work, f.span)}`],
    );
  else if (s.folded > 0)
    rows.push([
      "folded",
      `${count(s.folded)} ${s.folded === 1 ? "task" : "tasks"} as one strand: ${meta.has.inside && s.folded > MAX_OPENED_TASKS ? "too many to expand here; zoom in on the strand in the timeline" : ONLY_SUMS_RECORDED}`,
    ]);
  rows.push(["path", pathsOf(s)]);
  return <Facts rows={rows} />;
}

const ONLY_SUMS_RECORDED = "the trace has only their sums, so they cannot be expanded";

/** Facts of a strand inside a folded one. */
function InnerFacts({ scene, n }: { scene: Scene; n: DagNode }) {
  const s = n.strand!;
  const meta = scene.run;
  const d = useDetail<InsideDetail>(scene, requests.insideStrand(scene.id, s.id, s.start));
  const length = s.end - s.start;
  const rows: [string, preact.ComponentChildren][] = [
    [
      "node",
      <>
        <span class="dag-mono">{nameOf(n, meta)}</span>,{" "}
        {s.folded > 0 ? "folded while it was recorded" : "one strand"}
      </>,
    ],
    ["where", codePlace(d, siteLabel(meta, s.site))],
    ["runs", `${rowLabel(meta, s.row)}, ${fromTo(s.start, s.end)}`],
    [
      "takes",
      s.weight < length * 0.995 ? `${ticks(length)}, ${ticks(s.weight)} of it work` : ticks(length),
    ],
  ];
  if (s.ready !== null && s.start > s.ready)
    rows.push(["ready", `${ticks(s.start - s.ready)} before it ran`]);
  if (s.creates.length > 0)
    rows.push([
      "creates",
      `${count(s.creates.length)} ${s.creates.length === 1 ? "task" : "tasks"}`,
    ]);
  if (s.joins.length > 0)
    rows.push(["waits for", `${count(s.joins.length)} ${s.joins.length === 1 ? "task" : "tasks"}`]);
  if (s.folded > 0)
    rows.push(["folded", `${plural(s.folded, "task")} as one strand: ${ONLY_SUMS_RECORDED}`]);
  if (d?.stands_for)
    rows.push([
      "span",
      `${ticks(d.stands_for.span)}, parallelism ${parallelism(d.stands_for.work, d.stands_for.span)}`,
    ]);
  if (d)
    rows.push(
      ["level", count(d.level)],
      ["inside", `a folded strand of ${count(d.folded.tasks)} tasks`],
    );
  rows.push(["path", pathsOf(s)]);
  return <Facts rows={rows} />;
}

function FoldedFacts({ scene, n }: { scene: Scene; n: DagNode }) {
  const f = n.folded!;
  const meta = scene.run;
  const inner = isInner(n);
  const ran = Math.max(
    f.work,
    f.rows.reduce((sum, [, busy]) => sum + busy, 0),
  );
  const d = useDetail<TaskDetail>(scene, inner ? null : requests.task(scene.id, f.task));
  const span = scene.critical.value?.span ?? 0;
  const rows: [string, preact.ComponentChildren][] = [
    [
      "node",
      <>
        <span class="dag-mono">{nameOf(n, meta)}</span>
        {stepsOf(n) && `, ${stepsOf(n)}`}
        {n.inside ? ", expanded" : ", collapsed"}
      </>,
    ],
    ["where", <span class="dag-mono">{siteLabel(meta, f.site)}</span>],
    [
      "inside",
      `${count(f.tasks)} ${f.tasks === 1 ? "task" : "tasks"}, ${count(f.strands)} strands`,
    ],
    ["work", ticks(f.work)],
    ["span", ticks(f.span)],
    ["parallelism", parallelism(f.work, f.span)],
    ["runs", fromTo(startOf(n), endOf(n))],
    [
      "workers",
      f.rows
        .map(([row, busy]) => `${rowLabel(meta, row)} ${percent(ran > 0 ? busy / ran : 0)}`)
        .join(", "),
    ],
  ];
  if (inner && n.kind === "task")
    rows.splice(1, 0, [
      "task",
      `number ${count(Number(n.key.split(".")[1] ?? 0))} inside the folded strand`,
    ]);
  if (n.kind === "task" && d)
    rows.splice(1, 0, ["task", `${count(d.number)}, ${d.kind}, level ${count(d.level)}`]);
  if (f.ready !== null && f.start > f.ready)
    rows.push(["ready", `${ticks(f.start - f.ready)} before it ran`]);
  rows.push([
    "path",
    f.critical
      ? `${ticks(f.critical_work)} of the critical path${span > 0 ? `, ${percent(f.critical_work / span)}` : ""}`
      : "not on the critical path",
  ]);
  return <Facts rows={rows} />;
}
