/**
 * Details of the selection in three columns: its facts, its logical stack and its source; or a
 * small report of a range, of rows, or of tasks.
 */

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { useJson, valueOf } from "../answers";
import type { CodeSizes, Flame, RunMeta, SiteExtras } from "../data/contract";
import { requests } from "../data/requests";
import { count, plural, percent, ticks } from "../format";
import { siteNames } from "../sites/SiteStacks";
import { stacksOf } from "../sites/stacks";
import { dagDrawer } from "../dag/toolbarOptions";
import { useSelectionReport } from "../report/SelectionReport";
import type { RunPart } from "../report/tileSums";
import { drawer, range, runMeta, selection, split, tab, type Selection } from "../store";
import { SourceAround, DrawerColumns, FactTable, SiteActions } from "./DrawerColumns";
import type { Fact } from "./facts";
import { InnerStrandDetails, InnerTaskDetails, StrandDetails } from "./StrandDetails";
import { SiteTasksDetails, TaskDetails } from "./TaskDetails";

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
      onClick={() => ((tab.value === "dag" && !split.value ? dagDrawer : drawer).value = false)}
    >
      ✕
    </button>
  );
  switch (s.kind) {
    case "strand":
      return s.inner === undefined ? (
        <StrandDetails key={`s${s.id}`} id={s.id} run={r} close={close} />
      ) : (
        <InnerStrandDetails
          key={`i${s.id}.${s.inner}`}
          id={s.id}
          at={s.inner}
          run={r}
          close={close}
        />
      );
    case "steal":
      return <StrandDetails key={`s${s.strand}`} id={s.strand} run={r} close={close} />;
    case "task":
      return <TaskDetails key={`t${s.id}`} id={s.id} run={r} close={close} />;
    case "group":
      return s.id.startsWith("s") ? (
        <InnerTaskDetails key={s.id} id={s.id} run={r} close={close} />
      ) : (
        <TaskDetails key={`t${s.task}`} id={s.task} run={r} close={close} group={s.id} />
      );
    case "range":
      return (
        <RangeReport
          key="range"
          title="Range"
          note={
            tab.value === "flame" ? "the same report as in the timeline" : "Press R to zoom to it"
          }
          part={{ t0: s.t0, t1: s.t1, rows: null }}
          run={r}
          close={close}
        />
      );
    case "row":
      return <RowsReport rows={[s.row, ...(s.others ?? [])]} run={r} close={close} />;
    case "site":
      return <SiteTasksDetails key={`p${s.site}`} of={s} run={r} close={close} />;
    default:
      return <CodeOrLineDetails of={s} run={r} close={close} />;
  }
}

/** A report of rows in the shown window. */
function RowsReport({
  rows,
  run: r,
  close,
}: {
  rows: readonly number[];
  run: RunMeta;
  close: ComponentChildren;
}) {
  const [first] = rows.map((row) => r.threads[row]);
  const window = range.value ?? { t0: 0, t1: r.elapsed };
  const time = range.value ? "in this window" : "in the whole run";
  const kind = first?.worker ? "worker of the pool" : "thread outside the pool";
  return (
    <RangeReport
      title={rows.length > 1 ? plural(rows.length, "row") : (first?.label ?? "row")}
      note={rows.length > 1 ? time : `${kind}, ${time}`}
      part={{ ...window, rows }}
      run={r}
      close={close}
    />
  );
}

/** A small report of a part of the run. */
function RangeReport(p: {
  title: string;
  note: string;
  part: RunPart;
  run: RunMeta;
  close: ComponentChildren;
}) {
  const { where, code, more } = useSelectionReport(p.part, p.run);
  return (
    <DrawerColumns
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

/** What Sites has on a code, of all its sites together. */
function codeFacts({ critical, count: strands, sizes }: CodeSizes, perSecond: number): Fact[] {
  const longest = sizes.reduce((n, x) => Math.max(n, x.total / x.strands), 0);
  const free = sizes.some((x) => x.free === null)
    ? null
    : sizes.reduce((n, x) => n + (x.free ?? 0), 0);
  return [
    {
      name: "on the critical path",
      value: ticks(critical, perSecond),
    },
    { name: "strands", value: count(strands) },
    ...(longest > 0 ? [{ name: "the longest, about", value: ticks(longest, perSecond) }] : []),
    {
      name: "free workers meanwhile",
      value: free === null ? "–" : `${ticks(free, perSecond)} of worker time`,
    },
  ];
}

const MAX_STACKS = 4;

/** The stacks that end in a code, with its time in each. */
function CodeStacks({ code, run: r }: { code: number; run: RunMeta }) {
  const flame = valueOf(useJson<Flame>(requests.flame(r.id, "all", null, true)));
  const stacks = useMemo(() => (flame ? stacksOf(flame, null, code) : []), [flame, code]);
  if (stacks.length === 0) return null;
  return (
    <div class="code-stacks">
      <h2>
        Logical stacks <span>recursion merged</span>
      </h2>
      <dl class="facts">
        {stacks.slice(0, MAX_STACKS).map((s) => [
          <dt key={`${s.sites.join()}t`}>{ticks(s.ticks, r.ticks_per_second)}</dt>,
          <dd key={`${s.sites.join()}d`} class="mono">
            {siteNames(s, r).join(" › ")}
          </dd>,
        ])}
      </dl>
      {stacks.length > MAX_STACKS && (
        <p class="faint">and {plural(stacks.length - MAX_STACKS, "more stack")}</p>
      )}
    </div>
  );
}

/** Code and lines: numbers of the whole run. */
function CodeOrLineDetails({
  of: s,
  run: r,
  close,
}: {
  of: Extract<Selection, { kind: "code" | "line" }>;
  run: RunMeta;
  close: ComponentChildren;
}) {
  const tps = r.ticks_per_second;
  const t = (n: number) => ticks(n, tps);
  const extras = valueOf(useJson<SiteExtras>(s.kind === "code" ? requests.sites(r.id) : null));
  let title: string,
    note: string,
    facts: Fact[] = [],
    at: { file: string; line: number | null } | null = null;
  if (s.kind === "code") {
    const code = r.codes[s.code];
    const known = extras?.codes.find((c) => c.code === s.code);
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
      ...(known ? codeFacts(known, tps) : []),
    ];
  } else {
    title = `${s.file.replace(/^.*[/\\]/, "")}:${s.line}`;
    note = "line";
    at = { file: s.file, line: s.line };
  }
  const name =
    s.kind === "code" ? "The timeline and the DAG highlight every strand of this code." : "";
  return (
    <DrawerColumns
      close={close}
      title={<span class="fn">{title}</span>}
      note={note}
      facts={<FactTable of={facts} />}
      stack={
        <>
          {s.kind === "code" && <CodeStacks code={s.code} run={r} />}
          <h2>Go on</h2>
          {name && (
            <p class="dim" style={{ fontSize: "12px", lineHeight: "18px", marginTop: "6px" }}>
              {name}
            </p>
          )}
          {s.kind === "code" && <SiteActions of={s} />}
        </>
      }
      source={<SourceAround at={at} run={r} what={s.kind === "code" ? title : null} />}
    />
  );
}
