/** Facts of strands and tasks, in the report's words. */

import type { ComponentChildren } from "preact";
import type {
  InsideDetail,
  LineWords,
  PlaceWords,
  RunMeta,
  StrandDetail,
  TaskDetail,
} from "../data/contract";
import { count, fileName, plural, percent, plainNumber, ticks, rowLabel } from "../format";
import { showInTab } from "../store";
import { WAIT_KIND_NAMES } from "../timeline/waits";
import { Place } from "../components/widgets";

export interface Fact {
  name: string;
  value: ComponentChildren;
}

const EDGES: Record<string, string> = {
  create: "created",
  create_continuation: "went on after a create",
  wait_continuation: "went on after a wait",
  yield_continuation: "went on after a yield",
  end: "the end",
  depend: "a dependence",
  signal: "a signal",
};

function PlaceLink({ of }: { of: PlaceWords }) {
  const word = of.kind.replace(/^after_/, "").replace("begin", "start");
  return of.at ? (
    <>
      {word} <Place label={fileName(of.at)} file={of.file} line={of.line} />
    </>
  ) : (
    <>{word}</>
  );
}

function TaskLink({
  run: r,
  id,
  children,
}: {
  run: RunMeta;
  id: number;
  children: ComponentChildren;
}) {
  return (
    <button
      type="button"
      class="link"
      onClick={() => showInTab("timeline", null, { kind: "task", run: r.id, id })}
    >
      {children}
    </button>
  );
}

/** The name of a thread's row, if it has one. */
export const rowName = (r: RunMeta, i: number | null | undefined): string =>
  i == null ? "a thread without a row" : rowLabel(r, i);

/** Time of a strand off the CPU, by what kept it off; without what did not. */
export function offCpuParts(
  d: Pick<StrandDetail, "descheduled" | "blocked">,
): ["descheduled" | "blocked", number][] {
  const all: ["descheduled" | "blocked", number][] = [
    ["descheduled", d.descheduled],
    ["blocked", d.blocked],
  ];
  return all.filter(([, n]) => n > 0);
}

export function strandFacts(d: StrandDetail, r: RunMeta): Fact[] {
  const t = (n: number) => ticks(n, r.ticks_per_second);
  const facts: Fact[] = [
    {
      name: "code",
      value: (
        <>
          <PlaceLink of={d.from} /> → <PlaceLink of={d.to} />
        </>
      ),
    },
    {
      name: "runs",
      value: (
        <>
          {t(d.start)} to {t(d.end)}
        </>
      ),
    },
    {
      name: "ready",
      value:
        d.ready === null ? (
          "started at once"
        ) : (
          <>
            {t(d.ready)}, started <b>{t(d.start - d.ready)}</b> later
          </>
        ),
    },
    {
      name: "on CPU",
      value: (
        <>
          <b>{t(d.weight)}</b>{" "}
          <span class="dim">
            {percent(d.weight / Math.max(1, r.elapsed))} of the run
            {offCpuParts(d).map(([what, n]) => `, ${what} ${t(n)}`)}
          </span>
        </>
      ),
    },
    {
      name: "worker",
      value: (
        <>
          {rowName(r, d.row)}{" "}
          {d.stolen ? (
            <>
              stolen from {rowName(r, d.stolen.victim)}
              {d.stolen.leap && ", while that worker waited in a join"}
            </>
          ) : (
            <span class="dim">not stolen</span>
          )}
        </>
      ),
    },
  ];
  if (d.made_ready_by) {
    const by = d.made_ready_by;
    facts.push({
      name: "made ready by",
      value: (
        <button
          type="button"
          class="link"
          onClick={() =>
            showInTab("timeline", null, { kind: "strand", run: r.id, id: by.strand, task: by.task })
          }
        >
          {EDGES[by.edge] ?? by.edge}, task {count(by.task)} on {rowName(r, by.row)}
        </button>
      ),
    });
  }
  facts.push(...waitFacts(d, r));
  facts.push({
    name: "meanwhile",
    value: (
      <>
        <b class={d.meanwhile < r.workers * 0.6 ? "worse" : ""}>
          {plainNumber(d.meanwhile)} of {plural(r.workers, "worker")}
        </b>{" "}
        busy
      </>
    ),
  });
  facts.push(
    { name: "critical path", value: d.critical ? <b>yes</b> : "no" },
    { name: "ready path", value: d.ready_path ? <b>yes</b> : "no" },
  );
  if (d.folded > 0)
    facts.push({
      name: "folded",
      value: (
        <>
          one strand for a whole subtree: <b>{plural(d.folded, "task")}</b>
          {!d.sums_alone && (
            <>
              {" "}
              <button
                type="button"
                class="link"
                onClick={() =>
                  showInTab(
                    "timeline",
                    { t0: d.start, t1: d.end },
                    { kind: "strand", run: r.id, id: d.id, task: d.task },
                  )
                }
              >
                zoom in on it
              </button>
            </>
          )}
        </>
      ),
    });
  if (d.between > 0)
    facts.push({
      name: "between tasks",
      value: `${t(d.between)} in the runtime, counted as delay`,
    });
  for (const [name, n] of d.counters)
    facts.push({ name: name.replaceAll("_", " "), value: count(n) });
  if (d.functions.length)
    facts.push({
      name: "mostly in",
      value: d.functions.slice(0, 3).map((f, i) => (
        <span key={i}>
          {i > 0 && ", "}
          <span class="mono">{f.function}</span>{" "}
          <span class="faint">{plural(f.samples, "sample")}</span>
        </span>
      )),
    });
  if (d.recording > 0)
    facts.push({ name: "recording", value: `${t(d.recording)}, not counted as work` });
  return facts;
}

/** A line of the program, with its function if known. */
function Line({ of }: { of: LineWords }) {
  return (
    <>
      <span class="mono">{of.function}</span>
      {of.file && (
        <>
          {" "}
          <Place
            label={`${fileName(of.file)}${of.line === null ? "" : `:${of.line}`}`}
            file={of.file}
            line={of.line}
          />
        </>
      )}
    </>
  );
}

/** The strand's waits for other threads, and waits of others that it ended. */
function waitFacts(d: StrandDetail, r: RunMeta): Fact[] {
  const t = (n: number) => ticks(n, r.ticks_per_second);
  const goTo = (strand: number, task: number | null, words: string) => (
    <button
      type="button"
      class="link"
      onClick={() =>
        showInTab("timeline", null, { kind: "strand", run: r.id, id: strand, task: task ?? 0 })
      }
    >
      {words}
    </button>
  );
  const facts: Fact[] = d.waits.slice(0, 3).map((w) => ({
    name: "waited",
    value: (
      <>
        <b>{t(w.end - w.start)}</b> for {WAIT_KIND_NAMES[w.kind] ?? w.kind}
        {w.at && (
          <>
            {" "}
            in <Line of={w.at} />
          </>
        )}
        {w.by ? (
          <>
            ; <b>{rowName(r, w.by.row)}</b> ended it
            {w.released_at && (
              <>
                {" "}
                at <Line of={w.released_at} />
              </>
            )}
            {w.by.strand !== null && <> ({goTo(w.by.strand, w.by.task, "show it")})</>}
          </>
        ) : (
          <span class="dim">; the thread that ended it is unknown</span>
        )}
        {w.critical && <span class="dim">; on the critical path</span>}
      </>
    ),
  }));
  const more = d.all_waits.count - facts.length;
  if (more > 0)
    facts.push({
      name: "all waits",
      value: `${plural(d.all_waits.count, "wait")}, ${t(d.all_waits.ticks)} in all`,
    });
  const { count: n, ticks: all, longest } = d.ended_waits;
  if (n > 0)
    facts.push({
      name: "others waited",
      value: (
        <>
          <b>{t(all)}</b> for this strand, {plural(n, "time")}
          {longest && (
            <>
              ; longest{" "}
              {goTo(
                longest.strand,
                longest.task,
                `${t(longest.end - longest.start)} on ${rowName(r, longest.row)}`,
              )}
            </>
          )}
        </>
      ),
    });
  return facts;
}

/** Sums of a subtree that was folded during recording. */
const foldedSums = (of: NonNullable<InsideDetail["stands_for"]>, t: (n: number) => string) => (
  <>
    folded while it was recorded: <b>{plural(of.tasks, "task")}</b>, work <b>{t(of.work)}</b>, span{" "}
    <b>{t(of.span)}</b>; the trace has only these sums
  </>
);

/** Facts of a strand inside a folded one, from its records. */
export function insideFacts(d: InsideDetail, r: RunMeta): Fact[] {
  const t = (n: number) => ticks(n, r.ticks_per_second);
  return [
    {
      name: "code",
      value: (
        <>
          <PlaceLink of={d.from} /> → <PlaceLink of={d.to} />
        </>
      ),
    },
    {
      name: "runs",
      value: (
        <>
          <b>{t(d.end - d.start)}</b>, from {t(d.start - d.folded.start)} after the start of the
          folded strand
        </>
      ),
    },
    {
      name: "worker",
      value: (
        <>
          {rowName(r, d.row)}{" "}
          <span class="dim">not stolen: a folded subtree ran on one thread</span>
        </>
      ),
    },
    { name: "level", value: count(d.level) },
    ...(d.stands_for ? [{ name: "folded", value: foldedSums(d.stands_for, t) }] : []),
    {
      name: "folded into",
      value: (
        <button
          type="button"
          class="link"
          onClick={() =>
            showInTab("timeline", null, { kind: "strand", run: r.id, id: d.strand, task: d.task })
          }
        >
          a strand of task {count(d.task)}: {plural(d.folded.tasks, "task")} in{" "}
          {t(d.folded.end - d.folded.start)}
        </button>
      ),
    },
    {
      name: "whole folded strand",
      value: (
        <>
          work <b>{t(d.folded.work)}</b>, span <b>{t(d.folded.span)}</b>,{" "}
          {plural(d.folded.strands, "strand")}
        </>
      ),
    },
  ];
}

/** Facts of a task inside a folded strand. */
export function insideTaskFacts(d: InsideDetail, r: RunMeta): Fact[] {
  const t = (n: number) => ticks(n, r.ticks_per_second);
  const facts = insideFacts(d, r).filter((f) => f.name !== "code");
  if (d.from.at)
    facts.unshift({
      name: "created at",
      value: <Place label={fileName(d.from.at)} file={d.from.file} line={d.from.line} />,
    });
  if (d.all)
    facts.push(
      {
        name: "with descendants",
        value: (
          <>
            work <b>{t(d.all.work)}</b>, span <b>{t(d.all.span)}</b>, {plural(d.all.tasks, "task")},{" "}
            {plural(d.all.strands, "strand")}
          </>
        ),
      },
      { name: "children", value: d.all.children === 0 ? "none" : count(d.all.children) },
    );
  return facts;
}

const KINDS = {
  root: "root",
  deferred: "spawned: another worker may take it",
  inline: "inline: run at once by the thread that created it",
  detached: "detached: no task waits for it",
} as const;

export function taskFacts(d: TaskDetail, r: RunMeta): Fact[] {
  const t = (n: number) => ticks(n, r.ticks_per_second);
  const site = r.sites[d.site];
  const facts: Fact[] = [
    {
      name: "created at",
      value:
        d.kind === "root" ? (
          "the program's main thread"
        ) : site ? (
          <Place label={fileName(site.label)} file={site.file} line={site.line} />
        ) : (
          "–"
        ),
    },
    { name: "kind", value: KINDS[d.kind] ?? d.kind },
    { name: "level", value: count(d.level) },
    {
      name: "runs",
      value: (
        <>
          {t(d.start)} to {t(d.end)}, {plural(d.strands.length + d.more_strands, "strand")}
        </>
      ),
    },
    {
      name: "with descendants",
      value: (
        <>
          work <b>{t(d.work)}</b>, span <b>{t(d.span)}</b>
          {d.span > 0 && `, parallelism ${plainNumber(d.work / d.span)}`}, {plural(d.tasks, "task")}
        </>
      ),
    },
    {
      name: "children",
      value:
        d.children === 0 ? (
          "none"
        ) : (
          <>
            {count(d.children)}:{" "}
            {d.first_children.slice(0, 6).map((c, i) => (
              <span key={c}>
                {i > 0 && ", "}
                <TaskLink run={r} id={c}>
                  {count(c)}
                </TaskLink>
              </span>
            ))}
            {d.children > 6 && " …"}
          </>
        ),
    },
  ];
  if (d.joined_by !== null)
    facts.push({
      name: "waited for by",
      value: (
        <TaskLink run={r} id={d.joined_by}>
          task {count(d.joined_by)}
        </TaskLink>
      ),
    });
  for (const w of d.waits.slice(0, 4))
    facts.push({
      name: "waited",
      value: (
        <>
          {t(w.to - w.from)} for {plural(w.tasks, "task")} at <PlaceLink of={w.at} />
        </>
      ),
    });
  if (d.depends.length)
    facts.push({
      name: "depends on",
      value: d.depends.slice(0, 8).map((c, i) => (
        <span key={c}>
          {i > 0 && ", "}
          <TaskLink run={r} id={c}>
            {count(c)}
          </TaskLink>
        </span>
      )),
    });
  if (d.longest) facts.push({ name: "longest", value: "the longest task of its site" });
  return facts;
}
