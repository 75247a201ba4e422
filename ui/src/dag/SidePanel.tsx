/** The panel beside the picture: the critical path, the selection, and how to read the picture. */

import { useEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { InsideDetail, StrandDetail, TaskDetail } from "../data/contract";
import { requests } from "../data/requests";
import { codeColour } from "../codeColours";
import { count, plural, percent, plainNumber, ticks, rowLabel } from "../format";
import { hover, layout, selection, runMeta } from "../store";
import { dagDrawer } from "./toolbarOptions";
import { fillOf } from "../patterns";
import { colours, dark } from "../theme/theme";
import { codeLabel, nameOf, parallelism, siteLabel, stepsOf } from "./nodeDrawing";
import { endOf, expandable, isInner, startOf, type DagNode } from "./model";
import type { Scene } from "./scene";
import { showInTimeline } from "./timelineLink";
import { collapse, expand } from "./expandCollapse";
import { selectStrand } from "./selection";
import { paintOf } from "../components/widgets";
import { offCpuParts } from "../drawer/facts";

/** Largest number of tasks of a folded strand that can be opened (`view/src/inside/tree.rs`). */
const MAX_OPENED_TASKS = 300_000;

export function SidePanel({ scene }: { scene: Scene }) {
  return (
    <aside class="dag-side" aria-label="Critical path and selection">
      <CriticalPathList scene={scene} />
      <SelectedNode scene={scene} />
      <ReadingGuide scene={scene} />
    </aside>
  );
}

function Swatch({ scene, code }: { scene: Scene; code: number }) {
  const c = codeColour(scene.run.codes, code, dark.value);
  return <i class="dag-swatch" style={paintOf(c)} />;
}

function CriticalPathList({ scene }: { scene: Scene }) {
  const path = scene.critical.value;
  const box = useRef<HTMLDivElement>(null);
  // Scrolls to the heaviest strand first, as the list is about it.
  useEffect(() => {
    const list = box.current;
    const row = list?.querySelector<HTMLElement>(".dag-most");
    if (!list || !row) return;
    const foot = list.querySelector("tfoot")?.clientHeight ?? 0;
    const below = row.offsetTop + row.offsetHeight + foot - list.clientHeight;
    list.scrollTop = Math.max(0, below + row.offsetHeight);
  }, [path]);
  if (!path) return null;
  const most = Math.max(1, ...path.rows.map((r) => r.weight));
  const selected = selection.value;
  // The shortest strands matter little: the list ends with a row that sums them up.
  const told = path.rows.filter((r) => r.weight >= path.span / 2000);
  const rest = path.rows.length - told.length;
  const biggest = path.rows.reduce((a, b) => (b.weight > a.weight ? b : a), path.rows[0]!);
  return (
    <section>
      <h2>
        Critical path <span>{ticks(path.span)} of strands, root first</span>
      </h2>
      <div
        class="dag-scroll"
        ref={box}
        tabIndex={0}
        role="group"
        aria-label="Critical path, root first"
      >
        <table class="dag-critical" aria-label="Critical path">
          <thead>
            <tr>
              <th>code</th>
              <th>
                <span class="unseen">worker</span>
              </th>
              <th>
                <span class="unseen">share</span>
              </th>
              <th class="dag-r">{runMeta()?.unread ? "time" : "on CPU"}</th>
              <th class="dag-r">busy</th>
            </tr>
          </thead>
          <tbody>
            {told.map((r) => {
              const on =
                selected?.kind === "strand" &&
                selected.run === scene.id &&
                selected.id === r.strand;
              const name = codeLabel(scene.run, r.code);
              return (
                <tr
                  key={r.strand}
                  class={on ? "dag-on" : r === biggest ? "dag-most" : ""}
                  onMouseEnter={() => (hover.value = { kind: "code", run: scene.id, code: r.code })}
                  onMouseLeave={() => (hover.value = null)}
                  onClick={() => selectStrand(scene, r.strand, r.code)}
                >
                  <td class="dag-code" title={`${name}, ${siteLabel(scene.run, r.site)}`}>
                    <button
                      aria-pressed={on}
                      aria-label={`${name}${r.strands > 1 ? ` ${count(r.strands)}` : ""}, ${ticks(r.weight)} on ${rowLabel(scene.run, r.row)}, ${plainNumber(r.busy)} workers busy`}
                    >
                      <Swatch scene={scene} code={r.code} />
                      {name}
                      {r.strands > 1 && <small> {count(r.strands)}</small>}
                    </button>
                  </td>
                  <td class={`dag-dim ${rowLabel(scene.run, r.row).length > 5 ? "dag-long" : ""}`}>
                    {rowLabel(scene.run, r.row)}
                  </td>
                  <td class="dag-share">
                    <i
                      class="dag-bar"
                      style={{
                        width: `${(100 * r.weight) / most}%`,
                        ...paintOf(codeColour(scene.run.codes, r.code, dark.value)),
                      }}
                    />
                  </td>
                  <td class="dag-r">{ticks(r.weight)}</td>
                  <td class="dag-r">{r.busy.toFixed(1)}</td>
                </tr>
              );
            })}
          </tbody>
          <tfoot>
            {rest > 0 && (
              <tr class="dag-dim">
                <td colSpan={3}>{plural(rest, "shorter strand")}</td>
                <td class="dag-r">
                  {ticks(
                    path.rows.reduce(
                      (sum, r) => sum + (r.weight < path.span / 2000 ? r.weight : 0),
                      0,
                    ),
                  )}
                </td>
                <td />
              </tr>
            )}
            <tr>
              <td colSpan={3}>
                <b>span</b>
              </td>
              <td class="dag-r">
                <b>{ticks(path.span)}</b>
              </td>
              <td />
            </tr>
          </tfoot>
        </table>
      </div>
      <p class="dag-dim">
        <b>busy</b>: mean number of busy workers while it ran.{" "}
        <span class="dag-mono">{codeLabel(scene.run, biggest.code)}</span> is{" "}
        {percent(
          path.rows.reduce((sum, r) => sum + (r.code === biggest.code ? r.weight : 0), 0) /
            Math.max(1, path.span),
        )}{" "}
        of the span.
      </p>
    </section>
  );
}

function SelectedNode({ scene }: { scene: Scene }) {
  const n = scene.selected.value;
  const meta = scene.run;
  if (!n)
    return (
      <section>
        <h2>Selected</h2>
        <p class="dag-dim">Click a node, or press an arrow key.</p>
      </section>
    );
  const s = n.strand;
  return (
    <section aria-live="off">
      <h2>
        Selected{" "}
        <span>
          {n.kind === "group"
            ? n.folded?.section
              ? "section of a task"
              : "group of tasks"
            : s && n.folded
              ? "folded strand"
              : isInner(n)
                ? `${n.kind} inside a folded strand`
                : n.kind}
        </span>
      </h2>
      {s && isInner(n) ? (
        <InnerFacts scene={scene} n={n} />
      ) : s ? (
        <StrandFacts scene={scene} n={n} />
      ) : (
        <FoldedFacts scene={scene} n={n} />
      )}
      <div class="dag-buttons">
        <button class="dag-main-button" onClick={() => showInTimeline(scene, n)}>
          Show in timeline
        </button>
        {expandable(n) && <button onClick={() => expand(scene, n)}>Expand</button>}
        {(n.inside || (n.parent && n.parent.kind !== "run")) && (
          <button onClick={() => collapse(scene, n)}>
            {n.inside ? "Collapse" : `Collapse ${short(nameOf(n.parent!, meta))}`}
          </button>
        )}
        <button aria-pressed={dagDrawer.value} onClick={() => (dagDrawer.value = !dagDrawer.value)}>
          Details <kbd>Q</kbd>
        </button>
      </div>
    </section>
  );
}

/** The interval's end points; its length and start if both ends would read the same. */
function fromTo(start: number, end: number): string {
  const [a, b] = [ticks(start), ticks(end)];
  return a === b ? `${ticks(end - start)} at ${a}` : `${a} to ${b}`;
}

const short = (name: string): string => (name.length > 22 ? `${name.slice(0, 20)}…` : name);

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

/** How long a strand took, and what of it was not work. */
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

/** Key to the kinds of time in the strip beside the picture. */
function StripGlyph() {
  const kinds = ["work", "descheduled", "delay", "sched", "app"] as const;
  return (
    <svg width="34" height="22" aria-hidden="true">
      {kinds.map((kind, i) => (
        <rect
          key={kind}
          x={2 + i * 6}
          y="3"
          width="6"
          height="16"
          fill={fillOf(kind, dark.value)}
        />
      ))}
    </svg>
  );
}

function ReadingGuide({ scene }: { scene: Scene }) {
  const t = colours.value;
  const line = (dash: string, width: number, colour: string) => (
    <svg width="34" height="22" aria-hidden="true">
      <path
        d="M4 3H20Q26 3 26 9V20"
        fill="none"
        stroke={colour}
        stroke-width={width}
        stroke-dasharray={dash}
      />
    </svg>
  );
  return (
    <section>
      <h2>How to read it</h2>
      <ul class="dag-how">
        {layout.value === "time" && (
          <li>
            <StripGlyph />
            On the left: what the workers did at that time. Blue: running. Lines: descheduled.
            Crosses: blocked. Orange: delay. Dots: no work, scheduler. Grey: no work, program. Lines
            in a strand: descheduled. Crosses in it: blocked.
            {runMeta()?.unread && " Dark hatch: not read."}
          </li>
        )}
        <li>
          <svg width="34" height="26" aria-hidden="true">
            <rect x="7" y="6" width="24" height="18" rx="4" fill={t.panel2} stroke={t.line2} />
            <rect x="3" y="2" width="24" height="18" rx="4" fill={t.panel} stroke={t.line2} />
            <path d="M4 4h8v4h5v4h-9v4h-4z" fill="#44aa99" />
          </svg>
          A collapsed task. Inside: its running workers over time, downwards. Below: the workers
          that ran it. Double-click to expand it.
        </li>
        <li>{line("", 3, t.fg)}Critical path: the heaviest chain of strands.</li>
        <li>
          {line("2 3", 2, t.fg)}Ready path: the chain that the run waited for, from its last strand
          back to the start.
        </li>
        <li>{line("1.5 3", 1.1, t.fg3)}Slack: this side ended early and waited for its sibling.</li>
        {scene.model.value.links.some((l) => l.kind === "depend" || l.kind === "signal") && (
          <li>{line("", 1.3, t.accent)}Dependence between tasks; dashed: a signal.</li>
        )}
      </ul>
      <p class="dag-dim dag-keys">
        <kbd>Enter</kbd> expand <kbd>⇧ Enter</kbd> collapse <kbd>X</kbd> <kbd>C</kbd> expand,
        collapse one level <kbd>F</kbd> fit <kbd>T</kbd> timeline <kbd>.</kbd> <kbd>,</kbd> along
        the critical path
      </p>
    </section>
  );
}
