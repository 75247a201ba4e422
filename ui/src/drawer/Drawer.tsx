/**
 * Details of the selection in three columns: its facts, its logical stack and its source; or a
 * small report of a range, of rows, or of tasks.
 */

import type { ComponentChildren } from "preact";
import type { RunMeta } from "../data/contract";
import { many, percent, ticks } from "../format";
import { dagDetails } from "../dagview/choices";
import { useSelectionReport } from "../report/SelectionReport";
import type { Part } from "../report/sums";
import { drawer, range, runMeta, selection, show, split, tab, type Selection } from "../store";
import { Around, Columns, Facts } from "./Columns";
import type { Fact } from "./facts";
import { OfInner, OfInnerTask, OfStrand } from "./strands";
import { OfSite, OfTask } from "./tasks";

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
          note={tab.value === "flame" ? "as in the timeline" : "Press R to look at it alone"}
          part={{ t0: s.t0, t1: s.t1, rows: null }}
          run={r}
          close={close}
        />
      );
    case "row":
      return <OfRows rows={[s.row, ...(s.others ?? [])]} run={r} close={close} />;
    case "site":
      return <OfSite key={`p${s.site}`} of={s} run={r} close={close} />;
    default:
      return <OfOther of={s} run={r} close={close} />;
  }
}

/** A report of rows in the shown window. */
function OfRows({
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
  const kind = first?.worker ? "worker of the pool" : "thread outside of the pool";
  return (
    <OfPart
      title={rows.length > 1 ? many(rows.length, "row") : (first?.label ?? "row")}
      note={rows.length > 1 ? time : `${kind}, ${time}`}
      part={{ ...window, rows }}
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

/** Code and lines: numbers of the whole run. */
function OfOther({
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
  let title: string,
    note: string,
    facts: Fact[] = [],
    at: { file: string; line: number | null } | null = null;
  if (s.kind === "code") {
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
    s.kind === "code" ? "Every strand of this code is lit in the timeline and the DAG." : "";
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
          {s.kind === "code" && (
            <p class="actions">
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
