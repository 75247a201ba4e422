/**
 * Time by logical stack: through the spawn sites of a task's ancestors to the code, wherever tasks
 * were stolen to. As a flame graph or as a call tree; for the run or a range; of the CPU time, of
 * the critical path, or of the time of free workers.
 */

import { signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { useJson } from "../answers";
import type { Flame as Answer, FlameOf, RunMeta } from "../data/contract";
import { requests } from "../data/requests";
import { registerExport } from "../export/export";
import { count, plural, percent, ticks } from "../format";
import { drawer, meta, range, runMeta, selection, showInTab, status } from "../store";
import { Term } from "../terms/Term";
import { dark } from "../theme/theme";
import { Choice, Toggle } from "../components/widgets";
import { WhenAnswered, EmptyState } from "../components/placeholders";
import { CallTree, csvOf } from "./CallTree";
import { FlameGraph } from "./FlameGraph";
import { lookOf, nameOf, placeOf } from "./frameLook";
import { OtherMeasures } from "./OtherMeasures";
import type { Range } from "./range";
import { RangeStrip } from "./RangeStrip";
import { find, keyOf, levels, treeOf, type FlameNode } from "./tree";
import "./flame.css";

/** The shown measure; kept while other tabs are shown. */
const measure = signal<FlameOf>("all");
/** Whether only the selected range is shown; null: the range if there is one, otherwise the run. */
const inPart = signal<boolean | null>(null);
const asTable = signal(false);
const recursion = signal(true);

const MEASURE_NAMES: Record<FlameOf, string> = {
  all: "CPU time",
  critical: "time on the critical path",
  free: "time of free workers, divided among the code that ran meanwhile",
};

function selectedIn(r: RunMeta): Range | null {
  const s = selection.value;
  return s?.kind === "range" && s.run === r.id ? { t0: s.t0, t1: s.t1 } : null;
}

/** The selected range, or the timeline's window if it is not the whole run. */
function partOf(r: RunMeta): Range | null {
  const selected = selectedIn(r);
  if (selected) return selected;
  const w = range.value;
  return w && (w.t0 > 0 || w.t1 < r.elapsed)
    ? { t0: Math.max(0, w.t0), t1: Math.min(r.elapsed, w.t1) }
    : null;
}

export function Flame() {
  const r = runMeta();
  if (!r) return null;
  return <RunFlame run={r} />;
}

function RunFlame({ run: r }: { run: RunMeta }) {
  // A report carries only stacks of whole runs.
  const isReport = meta.value?.mode === "report";
  const there = isReport ? null : partOf(r);
  const isSelected = selection.value?.kind === "range";
  const part = (inPart.value ?? isSelected) ? there : null;
  const asked = useJson<Answer>(requests.flame(r.id, measure.value, part, recursion.value));
  const whole = part ? `${ticks(part.t0)} to ${ticks(part.t1)}` : "the whole run";
  return (
    <div class="flame">
      <div class="toolbar">
        <Choice
          label="Measure of the widths"
          value={measure.value}
          of={[
            { value: "all", label: "CPU time" },
            { value: "critical", label: "Critical path" },
            { value: "free", label: "Free workers" },
          ]}
          onChange={(v) => (measure.value = v)}
        />
        <span class="rule" />
        <Choice
          label="Part of the run"
          value={part ? "part" : "run"}
          of={[
            { value: "run", label: "Whole run" },
            ...(there
              ? [
                  {
                    value: "part" as const,
                    label: isSelected ? "Selected range" : "Timeline's window",
                  },
                ]
              : []),
          ]}
          onChange={(v) => (inPart.value = v === "part")}
        />
        <span class="rule" />
        <Toggle
          on={recursion.value}
          onChange={(v) => (recursion.value = v)}
          label="Recursion"
          title="Off: a spawn site appears only once in a stack, so recursion is one frame"
        />
        <Toggle
          on={asTable.value}
          onChange={(v) => (asTable.value = v)}
          label="Call tree"
          title="As a table with one row per stack"
        />
      </div>
      <RangeStrip
        run={r}
        part={isReport ? selectedIn(r) : part}
        onChange={(to) => {
          inPart.value = null;
          selection.value = to && { kind: "range", run: r.id, ...to };
          if (to) drawer.value = true;
        }}
      />
      {isReport && isSelected && (
        <p class="hint beside">
          The drawer shows the range, the graph shows the whole run: a report has no stacks of a
          range. <code>workspan view</code> has them.
        </p>
      )}
      <WhenAnswered answer={asked} what="the stacks" height={420}>
        {(answer) => (
          <FlameAnswer
            answer={answer}
            run={r}
            of={measure.value}
            where={whole}
            others={
              <OtherMeasures
                of={measure.value}
                run={r}
                part={part}
                recursion={recursion.value}
                onChange={(to) => (measure.value = to)}
              />
            }
          />
        )}
      </WhenAnswered>
    </div>
  );
}

/** Height of the window from which on the call tree of a few frames is below the graph. */
const TALL_WINDOW = 1200;
/** Height of the page around the rows of a graph, and of a row. */
const AROUND_GRAPH = 620;
const ROW = 26;
/** Number of frames up to which there is a call tree below, also in a tall window. */
const FEW_FRAMES = 60;
const MANY_FRAMES = 400;

function FlameAnswer(p: {
  answer: Answer;
  run: RunMeta;
  of: FlameOf;
  where: string;
  others: ComponentChildren;
}) {
  const { run: r } = p;
  const root = useMemo(() => treeOf(p.answer), [p.answer]);
  const zoomed = useSignal<string | null>(null);
  const chosen = useSignal<string | null>(null);
  useEffect(
    () => registerExport({ tab: "flame", csv: () => (root ? csvOf(root, r) : "") }),
    [root, r],
  );
  useEffect(() => {
    status.value = `${plural(p.answer.frames.length, "frame")} of ${p.where}, ${ticks(p.answer.total)} of ${MEASURE_NAMES[p.of]}${
      p.answer.left_out > 0 ? `; ${ticks(p.answer.left_out)} in smaller frames` : ""
    }`;
    return () => {
      status.value = "";
    };
  }, [p.answer, p.where, p.of]);
  if (!root)
    return (
      <EmptyState title="Nothing to show">
        {p.of === "free"
          ? "No worker was free while code ran here."
          : p.of === "critical"
            ? "The critical path has no strand here."
            : "No strand ran here."}
      </EmptyState>
    );
  const at = find(root, zoomed.value) ?? root;
  const selected = find(root, chosen.value);
  const select = (n: FlameNode) => (chosen.value = keyOf(n));
  const zoom = (n: FlameNode) => (zoomed.value = n === root || n === at ? null : keyOf(n));
  return (
    <div class="scroll main">
      <div class="head">
        <h1>
          Logical stacks, across steals{" "}
          <span>
            frame width: {MEASURE_NAMES[p.of]} in {p.where}; {ticks(root.total)} in total
            {r.unread && " (it may include time off the CPU)"}
          </span>
        </h1>
        {at !== root && (
          <span class="end">
            <button type="button" class="link" onClick={() => (zoomed.value = null)}>
              Show all
            </button>
          </span>
        )}
      </div>
      {asTable.value ? (
        <CallTree root={root} run={r} selected={selected} onSelect={select} />
      ) : (
        <FlameGraph
          root={root}
          zoomed={at}
          look={lookOf(root, r, dark.value)}
          label="Flame graph"
          alone
          selected={selected}
          onSelect={select}
          onZoom={zoom}
        />
      )}
      <Facts of={selected ?? root} root={root} run={r} what={p.of} onZoom={zoom} />
      <p class="hint">
        {!recursion.value &&
          "A spawn site appears only once in a stack, so recursion is one frame. "}
        <i class="stolen-key" /> The part of a frame that ran in <Term of="steal">stolen</Term>{" "}
        tasks.
      </p>
      {p.others}
      {!asTable.value &&
        window.innerHeight >= Math.min(TALL_WINDOW, AROUND_GRAPH + ROW * levels(root)) &&
        p.answer.frames.length <= (innerHeight >= TALL_WINDOW ? MANY_FRAMES : FEW_FRAMES) && (
          <section aria-label="Call tree">
            <h2 class="below">Call tree</h2>
            <CallTree root={root} run={r} selected={selected} onSelect={select} />
          </section>
        )}
    </div>
  );
}

/** Facts of the selected frame, and links from it. */
function Facts(p: {
  of: FlameNode;
  root: FlameNode;
  run: RunMeta;
  what: FlameOf;
  onZoom: (n: FlameNode) => void;
}) {
  const { of: n, run: r } = p;
  const code = n.code;
  const facts: [string, string][] = [
    [ticks(n.total), MEASURE_NAMES[p.what].split(",")[0]!],
    [percent(n.total / p.root.total, 1), "of the whole graph"],
    [ticks(n.own || ownTime(n)), "own time"],
    [count(n.strands), n.strands === 1 ? "strand" : "strands"],
    [percent(n.total > 0 ? n.stolen / n.total : 0), "in stolen tasks"],
  ];
  return (
    <section class="facts-card" aria-label="The selected frame">
      <h2>
        <span class="fn">{nameOf(n, r)}</span> <span>{placeOf(n, r)}</span>
      </h2>
      <div class="figures">
        {facts.map(([value, word]) => (
          <div key={word}>
            <b>{value}</b>
            {word}
          </div>
        ))}
      </div>
      <div class="buttons">
        <button
          type="button"
          class="button"
          onClick={() =>
            showInTab(
              "timeline",
              null,
              code !== null
                ? { kind: "code", run: r.id, code }
                : { kind: "site", run: r.id, site: n.site },
            )
          }
        >
          Show in timeline
        </button>
        <button
          type="button"
          class="button"
          onClick={() => showInTab("sites", null, { kind: "site", run: r.id, site: n.site })}
        >
          Show in Sites
        </button>
        {n !== p.root && (
          <button type="button" class="button" onClick={() => p.onZoom(n)}>
            Zoom
          </button>
        )}
      </div>
    </section>
  );
}

/** Own time of the tasks of a site: its frames of code. */
const ownTime = (n: FlameNode): number =>
  n.children.reduce((sum, c) => sum + (c.code === null ? 0 : c.own), 0);
