/** The timeline tab: toolbar, picture, tooltip, table. */

import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { count, ticks as timeOf } from "../format";
import { registerExport } from "../export/export";
import { runMeta, selection, source } from "../store";
import { csvText, paperPage, svgText } from "./export";
import { gestures, pointAgain } from "./gestures";
import { registerKeys } from "./commands";
import { StrandTable } from "./StrandTable";
import { Toolbar } from "./Toolbar";
import { Tooltip } from "./Tooltip";
import type { Pointed } from "./Tooltip";
import { observeSize } from "./elementSize";
import { TimelineView } from "./timelineView";
import type { RunMeta } from "../data/contract";
import { noStealsSentence } from "../components/sentences";
import "./timeline.css";

export function Timeline() {
  const meta = runMeta();
  // Another run needs another view, because none of the old tiles fit.
  return meta ? <Loaded key={meta.id} meta={meta} /> : null;
}

function Loaded({ meta }: { meta: RunMeta }) {
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const view = useRef<TimelineView | null>(null);
  // A separate signal, because the pointer moves far more often than anything else changes.
  const [pointed] = useState(() => signal<Pointed | null>(null));
  const [table, setTable] = useState(false);
  const [drawn, setDrawn] = useState(0);
  const tabled = useRef(false);
  // A run that was an overview until now already has its picture on the canvas.
  const shown = useRef(false);
  tabled.current = table;

  useEffect(() => {
    if (!host.current || !canvas.current) return;
    const made = new TimelineView(
      canvas.current,
      meta,
      source,
      () => {
        if (tabled.current) setDrawn((n) => n + 1);
        // Another strand may be under the pointer now, and facts that the tooltip requested may
        // have arrived.
        pointAgain(made, pointed);
      },
      shown.current,
    );
    shown.current = true;
    view.current = made;
    // For tests: the visible contents, and their positions on the canvas.
    (window as unknown as { __timeline?: TimelineView }).__timeline = made;
    const ends = [
      observeSize(host.current, (w, h, dpr) => made.resize(w, h, dpr)),
      gestures(made, (hit, x, y) => (pointed.value = hit ? { hit, x, y } : null)),
      registerExport({
        tab: "timeline",
        csv: () => csvText(made),
        svg: () => svgText(made),
        paper: (height) => paperPage(made, height),
      }),
      registerKeys(
        () => view.current,
        () => setTable((on) => !on),
      ),
    ];
    return () => {
      for (const end of ends) end();
      made.close();
      view.current = null;
    };
  }, [meta]);

  return (
    <section class="tl" aria-label="Timeline">
      <Toolbar meta={meta} table={table} setTable={setTable} />
      <Notice meta={meta} />
      <div class="tl-body">
        <div class="tl-canvas" ref={host}>
          <canvas
            ref={canvas}
            tabIndex={0}
            role="application"
            aria-roledescription="timeline"
            aria-label={`Timeline of ${meta.name}: ${count(meta.threads.length)} rows over ${timeOf(meta.elapsed, meta.ticks_per_second)}. W and S zoom, A and D move, full stop and comma step through strands, question mark lists all keys.`}
          />
          <Tooltip view={view} pointed={pointed} />
        </div>
        {table && view.current && <StrandTable view={view.current} drawn={drawn} />}
      </div>
    </section>
  );
}

/** Runs whose notice was closed. */
const closed = signal<ReadonlySet<string>>(new Set());

/** Notice about special properties of a run. */
function Notice({ meta }: { meta: RunMeta }) {
  const says: string[] = [];
  if (meta.overview !== null) {
    // These notices are about facts that are not known yet.
  } else if (meta.strands === 0)
    says.push("This run has no strands: no parallel code was recorded.");
  else if (meta.elapsed === 0)
    says.push("No time passes in this run: all strands start and end at the same moment.");
  else if (meta.workers === 1)
    says.push("There is only one worker: nothing can be stolen, and no other worker can be free.");
  else if (meta.steals + meta.leaps === 0) says.push(noStealsSentence(meta));
  if (meta.more_threads > 0)
    says.push(`${count(meta.more_threads)} further threads have no row; all numbers include them.`);
  if (meta.folded_strands > 0)
    says.push(
      `${meta.folded_strands === 1 ? "1 box is a folded subtree" : `${count(meta.folded_strands)} boxes are folded subtrees`} (marked by two lines at the bottom)${meta.has.inside ? ". Zoom in on one to see its strands" : ": one record stands for many strands"}.`,
    );
  const chosen = selection.value;
  const dims = chosen?.run === meta.id && (chosen.kind === "code" || chosen.kind === "site");
  const label = !dims
    ? null
    : chosen.kind === "code"
      ? meta.codes[chosen.code]?.label
      : meta.sites[chosen.site]?.label;
  if (closed.value.has(meta.id)) says.length = 0;
  if (!says.length && !label) return null;
  return (
    <p class="tl-notice" role="note">
      {label && (
        <span class="tl-chosen">
          only <b>{label}</b> is highlighted
          <button type="button" onClick={() => (selection.value = null)}>
            show all
          </button>
        </span>
      )}
      {says.join(" ")}
      {says.length > 0 && (
        <button
          type="button"
          class="link"
          aria-label="Hide this notice"
          onClick={() => (closed.value = new Set([...closed.value, meta.id]))}
        >
          Hide
        </button>
      )}
    </p>
  );
}
