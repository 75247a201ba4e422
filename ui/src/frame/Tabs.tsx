/** The tabs, and a short verdict on every tab except Summary and Compare. */

import { useJson, valueOf } from "../answers";
import { codeColour } from "../codeColours";
import type { Report, Summary } from "../data/contract";
import { requests } from "../data/requests";
import { count, fileName, plainNumber } from "../format";
import { meta, run, runMeta, tab, TABS, type Tab } from "../store";
import { dark } from "../theme/theme";
import { Place, Swatch } from "../components/widgets";
import { lineOf } from "../summary/findingTitles";

export const TITLES: Record<Tab, string> = {
  summary: "Summary",
  timeline: "Timeline",
  dag: "DAG",
  flame: "Flame",
  scalability: "Scalability",
  sites: "Sites",
  whatif: "What-if",
  compare: "Compare",
  statistics: "Statistics",
  sql: "SQL",
};

export function Tabs() {
  const key = (e: KeyboardEvent) => {
    if (e.key !== "ArrowLeft" && e.key !== "ArrowRight") return;
    e.preventDefault();
    const list = (e.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("[role=tab]");
    const next =
      (TABS.indexOf(tab.value) + (e.key === "ArrowRight" ? 1 : -1) + TABS.length) % TABS.length;
    tab.value = TABS[next]!;
    list[next]?.focus();
  };
  return (
    <nav class="tabs" aria-label="Views">
      <div role="tablist" onKeyDown={key}>
        {TABS.map((t, i) => (
          <button
            key={t}
            type="button"
            role="tab"
            id={`tab-${t}`}
            aria-selected={t === tab.value}
            aria-controls="view"
            tabIndex={t === tab.value ? 0 : -1}
            onClick={() => (tab.value = t)}
          >
            {TITLES[t]}
            {i < 9 && <i aria-hidden="true">{i + 1}</i>}
          </button>
        ))}
      </div>
      {meta.value &&
        runMeta()?.overview === null &&
        tab.value !== "summary" &&
        tab.value !== "compare" && <VerdictChip />}
    </nav>
  );
}

function VerdictChip() {
  const report = valueOf(useJson<Report>(requests.report(run.value)));
  const summary = valueOf(useJson<Summary>(requests.summary(run.value)));
  const r = runMeta();
  if (!report || !r || !(report.work > 0)) return null;
  const first = summary?.findings[0];
  const place = first && lineOf(first);
  return (
    <span class="verdict-chip">
      {r.only && (
        <span>
          <b>{fileName(r.only.label)}</b>:
        </span>
      )}
      {report.unread && <span class="worse">partly read:</span>}
      <span>
        <b>{plainNumber(report.mean_busy)}</b> of {count(r.workers)}
        <span class="unit"> {r.workers === 1 ? "worker" : "workers"}</span>
      </span>
      <span class="bound">
        <span class="faint">·</span> at most <b>{plainNumber(report.largest_speedup)}×</b>
      </span>
      {place && (
        <span class="limit">
          <span class="faint">·</span>
          {first.show.code !== null && (
            <Swatch of={codeColour(r.codes, first.show.code, dark.value)} />
          )}
          limited by{" "}
          <Place
            label={`${fileName(place.file)}:${place.line}`}
            file={place.file}
            line={place.line}
          />
        </span>
      )}
    </span>
  );
}
