/**
 * Details of the selected row: lengths of its strands or tasks, and its longest instances to step
 * through.
 */

import type { CodeSizes, Report, RunMeta, SiteExtra } from "../data/contract";
import { count, plural, ticks } from "../format";
import { showInTab } from "../store";
import { colours } from "../theme/theme";
import { SiteStacks } from "./SiteStacks";
import { StrandSizes } from "./StrandSizes";
import { StrandsOverTime } from "./StrandsOverTime";
import type { Row } from "./siteRows";

export function SiteDetail({
  row,
  extra,
  codes,
  report,
  run: r,
}: {
  row: Row;
  extra: SiteExtra | null;
  codes: CodeSizes[];
  report: Report;
  run: RunMeta;
}) {
  const tps = r.ticks_per_second;
  const tasks = report.sites[row.site]?.count ?? row.count;
  const name = r.sites[row.site]?.function ?? r.sites[row.site]?.label ?? row.name;
  const statistics = ((report.statistics?.sites ?? []) as any[]).find(
    (s) => s.id === extra?.place || s.site === r.sites[row.site]?.label,
  );
  const histogram = (statistics?.task_lengths?.histogram ?? []) as number[];
  if (!extra) return null;
  const block = row.kind === "block" ? extra.blocks.find((b) => b.code === row.code) : undefined;
  // For a site, the code that ran longest there.
  const number = (block ?? extra.blocks[0])?.code;
  const of = codes.find((c) => c.code === number);
  const code = of ? r.codes[of.code] : undefined;
  const l = extra.lengths;
  return (
    <section class="detail" aria-label={`Details of ${row.kind === "block" ? row.name : name}`}>
      {of && code && of.sizes.length > 0 && <StrandSizes of={of} label={code.label} run={r} />}
      <div class="head">
        <h2>
          <span class="fn">{name}</span> <span>CPU time of its strands</span>
        </h2>
        <span class="end">
          <button
            type="button"
            class="link"
            onClick={() => showInTab("timeline", null, { kind: "site", run: r.id, site: row.site })}
          >
            {tasks === 1 ? "Show it in the timeline" : `Show these ${count(tasks)} in the timeline`}{" "}
            →
          </button>
        </span>
      </div>
      <div class="lengths">
        {(
          [
            ["shortest", l.min],
            ["median", l.median],
            ["90 % below", l.p90],
            ["longest", l.max],
          ] as const
        ).map(([word, n]) => (
          <div key={word}>
            <b>{ticks(n, tps)}</b>
            {word}
          </div>
        ))}
        {tasks > 1 && histogram.some((n) => n > 0) && report.metric === "time" && (
          <Histogram bins={histogram} perSecond={tps} what="tasks" />
        )}
      </div>
      {extra.longest.length > 0 && (
        <>
          <h2 class="below">
            Longest tasks <span>from first start to last end, on the CPU or not</span>
          </h2>
          <div class="longest">
            {extra.longest.slice(0, 8).map((i, n) => (
              <button
                key={n}
                type="button"
                class="toggle"
                title={`task ${i.task}, from ${ticks(i.start, tps)} to ${ticks(i.end, tps)}`}
                onClick={() => {
                  const pad = (i.end - i.start) * 0.25;
                  showInTab(
                    "timeline",
                    { t0: Math.max(0, i.start - pad), t1: Math.min(r.elapsed, i.end + pad) },
                    { kind: "task", run: r.id, id: i.task },
                  );
                }}
              >
                {ticks(i.end - i.start, tps)} <span class="faint">at {ticks(i.start, tps)}</span>
              </button>
            ))}
          </div>
        </>
      )}
      <SiteStacks row={row} run={r} />
      <StrandsOverTime row={row} extra={extra} run={r} />
    </section>
  );
}

/** A histogram of lengths by powers of two, from the shortest to the longest. */
function Histogram({ bins, perSecond, what }: { bins: number[]; perSecond: number; what: string }) {
  const t = colours.value;
  const from = bins.findIndex((n) => n > 0),
    to = bins.findLastIndex((n) => n > 0) + 1;
  const shown = bins.slice(from, to),
    top = Math.max(...shown),
    w = 10,
    h = 34;
  return (
    <figure class="histogram" aria-label={`${what} by length`}>
      <svg
        width={Math.max(60, shown.length * w)}
        height={h}
        role="img"
        aria-label={`${plural(
          bins.reduce((a, b) => a + b, 0),
          what.replace(/s$/, ""),
        )} by length, powers of two from ${ticks(2 ** from, perSecond)} to ${ticks(2 ** to, perSecond)}`}
      >
        {shown.map(
          (n, i) =>
            n > 0 && (
              <rect
                key={i}
                x={i * w}
                y={h - Math.max(1.5, (n / top) * h)}
                width={w - 1.5}
                height={Math.max(1.5, (n / top) * h)}
                fill={t.fg2}
              >
                <title>{`${count(n)} ${what} of ${ticks(2 ** (from + i), perSecond)} to ${ticks(2 ** (from + i + 1), perSecond)}`}</title>
              </rect>
            ),
        )}
        <line
          x1="0"
          x2={Math.max(60, shown.length * w)}
          y1={h - 0.5}
          y2={h - 0.5}
          stroke={t.line2}
        />
      </svg>
      <figcaption>
        <span>{ticks(2 ** from, perSecond)}</span>
        <span>{what} by length</span>
        <span>{ticks(2 ** to, perSecond)}</span>
      </figcaption>
    </figure>
  );
}
