/**
 * Details of what is selected, in three columns: facts, the logical stack, the source with its
 * heat.
 */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useJson, valueOf } from "../ask";
import type {
  InsideDetail,
  Report,
  RunMeta,
  Source,
  StrandDetail,
  TaskDetail,
} from "../data/contract";
import { requests } from "../data/requests";
import { count, many, percent, ticks } from "../format";
import { dagDetails } from "../dagview/choices";
import { useSelectionReport } from "../report/SelectionReport";
import type { Part } from "../report/sums";
import { drawer, range, run, runMeta, selection, show, split, tab, type Selection } from "../store";
import { Section } from "../ui/parts";
import { SourceLines } from "../ui/SourceLines";
import { Answered, backticks } from "../ui/states";
import { insideFacts, insideTaskFacts, strandFacts, taskFacts, type Fact } from "./facts";
import { InnerStack, Stack } from "./Stack";

export function Drawer() {
  const s = selection.value;
  const r = s ? runMeta(s.run) : null;
  if (!s || !r) return null;
  const close = (
    <button
      type="button"
      class="icon close"
      aria-label="Close details"
      title="Close (Q)"
      onClick={() => ((tab.value === "dag" && !split.value ? dagDetails : drawer).value = false)}
    >
      ✕
    </button>
  );
  switch (s.kind) {
    case "strand":
      return s.inner === undefined ? (
        <OfStrand key={`s${s.id}`} id={s.id} run={r} close={close} />
      ) : (
        <OfInner key={`i${s.id}.${s.inner}`} id={s.id} at={s.inner} run={r} close={close} />
      );
    case "steal":
      return <OfStrand key={`s${s.strand}`} id={s.strand} run={r} close={close} />;
    case "task":
      return <OfTask key={`t${s.id}`} id={s.id} run={r} close={close} />;
    case "group":
      return s.id.startsWith("s") ? (
        <OfInnerTask key={s.id} id={s.id} run={r} close={close} />
      ) : (
        <OfTask key={`t${s.task}`} id={s.task} run={r} close={close} group={s.id} />
      );
    case "range":
      return (
        <OfPart
          key="range"
          title="Range"
          note="Press R to look at it alone"
          part={{ t0: s.t0, t1: s.t1, row: null }}
          run={r}
          close={close}
        />
      );
    case "row":
      return <OfRow key={`w${s.row}`} row={s.row} run={r} close={close} />;
    default:
      return <OfOther of={s} run={r} close={close} />;
  }
}

export function Facts({ of }: { of: Fact[] }) {
  return (
    <dl class="facts">
      {of.map((f, i) => [<dt key={`${i}t`}>{f.name}</dt>, <dd key={`${i}d`}>{f.value}</dd>])}
    </dl>
  );
}

function Columns({
  title,
  note,
  facts,
  stack,
  source,
  close,
  labels = ["Logical stack", "Source"],
}: {
  title: ComponentChildren;
  note: ComponentChildren;
  facts: ComponentChildren;
  stack: ComponentChildren;
  source: ComponentChildren;
  close: ComponentChildren;
  labels?: [string, string];
}) {
  return (
    <div class="drawer" role="complementary" aria-label="Details of the selection">
      <section aria-label="Selection">
        <h2>
          {title}
          <span>{note}</span>
        </h2>
        {facts}
      </section>
      <section aria-label={labels[0]}>{stack}</section>
      <section aria-label={labels[1]}>{source}</section>
      {close}
    </div>
  );
}

function OfStrand({ id, run: r, close }: { id: number; run: RunMeta; close: ComponentChildren }) {
  const asked = useJson<StrandDetail>(requests.strand(r.id, id));
  const detail = valueOf(asked);
  const task = useJson<TaskDetail>(detail ? requests.task(r.id, detail.task) : null);
  const code = detail ? r.codes[detail.code] : undefined;
  const hot = detail?.functions.find((f) => f.file !== null);
  const at =
    hot?.file && hot.line !== null
      ? { file: hot.file, line: hot.line }
      : code?.file
        ? { file: code.file, line: code.line }
        : detail?.from.file
          ? { file: detail.from.file, line: detail.from.line }
          : null;
  return (
    <Columns
      close={close}
      title={<span class="fn">{code?.label ?? "strand"}</span>}
      note={
        <>
          strand {count(id)}
          {detail && <>, task {count(detail.task)}</>}
        </>
      }
      facts={
        <Answered asked={asked} what="the strand" height={150} small>
          {(d) => <Facts of={strandFacts(d, r)} />}
        </Answered>
      }
      stack={
        <>
          <h2>
            Logical stack<span>innermost first, across steals</span>
          </h2>
          <Answered asked={task} what="the stack" height={150} small>
            {(t) => <Stack of={t} run={r} />}
          </Answered>
        </>
      }
      source={<Around at={at} run={r} what={code?.label ?? null} />}
    />
  );
}

/** A strand inside a folded one: what its records tell. */
function OfInner({
  id,
  at: t,
  run: r,
  close,
}: {
  id: number;
  at: number;
  run: RunMeta;
  close: ComponentChildren;
}) {
  const asked = useJson<InsideDetail>(requests.insideStrand(r.id, id, t));
  const d = valueOf(asked);
  const code = d ? r.codes[d.code] : undefined;
  const at = code?.file
    ? { file: code.file, line: code.line }
    : d?.from.file
      ? { file: d.from.file, line: d.from.line }
      : null;
  return (
    <Columns
      close={close}
      title={<span class="fn">{code?.label ?? "strand"}</span>}
      note="inside a folded strand"
      facts={
        <Answered asked={asked} what="the strand" height={150} small>
          {(x) => <Facts of={insideFacts(x, r)} />}
        </Answered>
      }
      stack={
        <>
          <h2>
            Logical stack<span>innermost first, up to the folded strand</span>
          </h2>
          <Answered asked={asked} what="the stack" height={150} small>
            {(x) => <InnerStack of={x} run={r} />}
          </Answered>
        </>
      }
      source={<Around at={at} run={r} what={code?.label ?? null} />}
    />
  );
}

/** A task inside a folded strand, or a stretch of one's steps. */
function OfInnerTask({
  id,
  run: r,
  close,
}: {
  id: string;
  run: RunMeta;
  close: ComponentChildren;
}) {
  const asked = useJson<InsideDetail>(requests.insideTask(r.id, id));
  const d = valueOf(asked);
  const code = d ? r.codes[d.code] : undefined;
  const at = code?.file
    ? { file: code.file, line: code.line }
    : d?.from.file
      ? { file: d.from.file, line: d.from.line }
      : null;
  const part = /^s\d+\.\d+\.(\d+)\.(\d+)$/.exec(id);
  return (
    <Columns
      close={close}
      title={<span class="fn">{code?.label ?? "task"}</span>}
      note={
        <>
          {d?.all && d.all.number > 0
            ? `task ${d.strand}.${d.all.number}, inside a folded strand`
            : "a folded strand's own task"}
          {part &&
            `, its strands and children ${count(Number(part[1]) + 1)} to ${count(Number(part[2]))} in program order`}
        </>
      }
      facts={
        <Answered asked={asked} what="the task" height={150} small>
          {(x) => <Facts of={insideTaskFacts(x, r)} />}
        </Answered>
      }
      stack={
        <>
          <h2>
            Logical stack<span>innermost first, up to the folded strand</span>
          </h2>
          <Answered asked={asked} what="the stack" height={150} small>
            {(x) => <InnerStack of={x} run={r} />}
          </Answered>
        </>
      }
      source={<Around at={at} run={r} what={code?.label ?? null} />}
    />
  );
}

function OfTask({
  id,
  run: r,
  close,
  group,
}: {
  id: number;
  run: RunMeta;
  close: ComponentChildren;
  group?: string;
}) {
  const asked = useJson<TaskDetail>(requests.task(r.id, id));
  const d = valueOf(asked);
  const site = d ? r.sites[d.site] : undefined;
  const top = d?.stack[0];
  const code = d ? r.codes[d.code] : undefined;
  const at = code?.file
    ? { file: code.file, line: code.line }
    : top?.file
      ? { file: top.file, line: top.line }
      : site?.file
        ? { file: site.file, line: site.line }
        : null;
  const part = group ? /^g\d+\.(\d+)\.(\d+)$/.exec(group) : null;
  return (
    <Columns
      close={close}
      title={
        <span class="fn">
          {d?.kind === "root" ? "root task" : (site?.function ?? site?.label ?? "task")}
        </span>
      }
      note={
        <>
          task {count(d?.number ?? id)}
          {r.numbered_tasks < r.tasks && ", those that are folded not counted"}
          {part &&
            `, its strands and children ${count(Number(part[1]) + 1)} to ${count(Number(part[2]))} in program order`}
        </>
      }
      facts={
        <Answered asked={asked} what="the task" height={150} small>
          {(t) => <Facts of={taskFacts(t, r)} />}
        </Answered>
      }
      stack={
        <>
          <h2>
            Logical stack<span>innermost first, across steals</span>
          </h2>
          <Answered asked={asked} what="the stack" height={150} small>
            {(t) => <Stack of={t} run={r} />}
          </Answered>
        </>
      }
      source={<Around at={at} run={r} what={code?.label ?? null} />}
    />
  );
}

/** A row, in the window that is looked at. */
function OfRow({ row, run: r, close }: { row: number; run: RunMeta; close: ComponentChildren }) {
  const thread = r.threads[row];
  const window = range.value ?? { t0: 0, t1: r.elapsed };
  return (
    <OfPart
      title={thread?.label ?? "row"}
      note={`${thread?.worker ? "worker of the pool" : "thread outside of the pool"}, ${
        range.value ? "in this window" : "in the whole run"
      }`}
      part={{ ...window, row }}
      run={r}
      close={close}
    />
  );
}

/** A small report of a part of the run. */
function OfPart(p: {
  title: string;
  note: string;
  part: Part;
  run: RunMeta;
  close: ComponentChildren;
}) {
  const { where, code, more } = useSelectionReport(p.part, p.run);
  return (
    <Columns
      close={p.close}
      title={<span class="fn">{p.title}</span>}
      note={p.note}
      facts={where}
      labels={["Code by time", "Steals and findings"]}
      stack={code}
      source={more}
    />
  );
}

/** Sites, code and lines: what the run as a whole says of them. */
function OfOther({
  of: s,
  run: r,
  close,
}: {
  of: Exclude<Selection, { kind: "strand" | "steal" | "task" | "group" | "row" | "range" }>;
  run: RunMeta;
  close: ComponentChildren;
}) {
  const report = valueOf(useJson<Report>(requests.report(r.id)));
  const tps = r.ticks_per_second;
  const t = (n: number) => ticks(n, tps);
  let title: string,
    note: string,
    facts: Fact[] = [],
    at: { file: string; line: number | null } | null = null;
  if (s.kind === "site") {
    const site = r.sites[s.site],
      row = report?.sites?.[s.site];
    title = site?.function ?? site?.label ?? "site";
    note = site?.function ? `spawn site ${site.label}` : "spawn site";
    if (site?.file) at = { file: site.file, line: site.line };
    if (row)
      facts = [
        { name: "tasks", value: count(row.count) },
        { name: "work", value: t(row.work) },
        { name: "span", value: t(row.span) },
        { name: "parallelism", value: row.parallelism?.toFixed(2) ?? "–" },
        {
          name: "critical path",
          value: `${percent(row.critical_percent / 100, 1)}, ${t(row.critical_work)}`,
        },
      ];
  } else if (s.kind === "code") {
    const code = r.codes[s.code];
    title = code?.label ?? "code";
    note = code?.file ? `${code.file}:${code.line ?? "?"}` : "code";
    if (code?.file) at = { file: code.file, line: code.line };
    facts = [
      {
        name: "time, all workers",
        value: code
          ? `${t(code.ticks)}, ${percent(code.ticks / Math.max(1, r.elapsed * r.workers))} of the capacity`
          : "–",
      },
    ];
  } else {
    title = `${s.file.replace(/^.*[/\\]/, "")}:${s.line}`;
    note = "line";
    at = { file: s.file, line: s.line };
  }
  const name =
    s.kind === "site"
      ? "Every task of this site is lit in the timeline and the DAG."
      : s.kind === "code"
        ? "Every strand of this code is lit in the timeline and the DAG."
        : "";
  return (
    <Columns
      close={close}
      title={<span class="fn">{title}</span>}
      note={note}
      facts={<Facts of={facts} />}
      stack={
        <>
          <h2>Go on</h2>
          {name && (
            <p class="dim" style={{ fontSize: "12px", lineHeight: "18px", marginTop: "6px" }}>
              {name}
            </p>
          )}
          {(s.kind === "site" || s.kind === "code") && (
            <p style={{ display: "flex", gap: "8px", marginTop: "10px" }}>
              <button type="button" class="button" onClick={() => show("sites", null, s)}>
                Open in Sites
              </button>
              <button type="button" class="button" onClick={() => show("whatif", null, s)}>
                What if it were faster
              </button>
            </p>
          )}
        </>
      }
      source={<Around at={at} run={r} what={s.kind === "code" ? title : null} />}
    />
  );
}

/** The source around a place. */
function Around({
  at,
  run: r,
  what,
}: {
  at: { file: string; line: number | null } | null;
  run: RunMeta;
  what: string | null;
}) {
  const asked = useJson<Source>(at ? requests.source(r.id, at.file) : null);
  const box = useRef<HTMLDivElement>(null);
  const s = valueOf(asked);
  useEffect(() => {
    const line = box.current?.querySelector<HTMLElement>(`[data-line="${at?.line}"]`);
    const scroller = box.current?.closest<HTMLElement>(".drawer > section");
    if (!line || !scroller) return;
    const below = line.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
    scroller.scrollTop += below - scroller.clientHeight / 2;
  }, [s, at?.line]);
  if (!at)
    return (
      <>
        <h2>Source</h2>
        <p class="dim" style={{ marginTop: "6px", fontSize: "12px" }}>
          No source place is known.
        </p>
      </>
    );
  return (
    <Section
      style={{ marginTop: "0" }}
      title={
        <span class="mono" style={{ fontWeight: 600 }}>
          {at.file.length > 48 ? "…" + at.file.slice(-47) : at.file}
        </span>
      }
      end={
        <button
          type="button"
          class="link"
          style={{ marginRight: "28px" }}
          onClick={() =>
            show("sites", null, { kind: "line", run: run.value, file: at.file, line: at.line ?? 1 })
          }
        >
          open in Sites
        </button>
      }
    >
      <div ref={box}>
        <Answered asked={asked} what="the source" height={120} small>
          {(x) =>
            x.missing || x.lines.length === 0 ? (
              <p class="dim" style={{ fontSize: "12px" }}>
                {backticks(x.missing ?? "There are no lines of it here.")}
              </p>
            ) : (
              <SourceLines
                lines={near(x.lines, at.line)}
                top={Math.max(0, ...x.lines.map((l) => l.ticks))}
                perSecond={r.ticks_per_second}
                at={at.line}
              />
            )
          }
        </Answered>
        {what && s && !s.missing && r.samples === 0 && (
          <p class="faint" style={{ fontSize: "11px", marginTop: "4px" }}>
            {many(0, "sample")}: no heat per line in this run
          </p>
        )}
      </div>
    </Section>
  );
}

/** The lines around one; all that are there when none is near. */
function near(lines: Source["lines"], line: number | null): Source["lines"] {
  const close =
    line === null ? [] : lines.filter((l) => l.line >= line - 12 && l.line <= line + 48);
  return close.length ? close : lines.slice(0, 60);
}
