/** The invented run's report. */

import type { Report } from "../contract";
import { bounds, FILE, parts, runMeta, SITE_LINES, SORT, TPS } from "./program";
import { CODES, inventedRun, SITES } from "./run";

export function report(id: string): Report {
  const r = inventedRun(id),
    p = parts(r),
    at = bounds(r.work, r.span);
  const sites = SITES.map((f, site) => {
    const own = r.strands.filter((s) => s.site === site);
    const crit = own.filter((s) => s.critical).reduce((n, s) => n + s.end - s.start, 0);
    const work = site === 0 ? r.work : own.reduce((n, s) => n + s.end - s.start, 0);
    return {
      id: site,
      site: runMeta(id).sites[site]!.label,
      file: site ? (site === 3 ? "src/gen.rs" : FILE) : null,
      line: SITE_LINES[site],
      function: site ? f : null,
      count: r.tasks.filter((t) => t.site === site).length,
      work,
      span: work / 4,
      parallelism: site === 0 ? r.work / r.span : 4,
      critical_work: crit,
      critical_percent: (100 * crit) / r.span,
      source: site ? SORT[(SITE_LINES[site] ?? 1) - 1] : null,
      blocks: [...new Set(own.map((s) => s.code))]
        .map((code) => {
          const of = own.filter((s) => s.code === code);
          return {
            from: {
              kind: "after_wait",
              at: `${FILE}:${SITE_LINES[site] ?? 19}`,
              primitive: "join",
              file: FILE,
              line: SITE_LINES[site] ?? 19,
              function: CODES[code],
            },
            to: { kind: "end", at: null, primitive: null, file: null, line: null, function: null },
            count: of.length,
            work: of.reduce((n, s) => n + s.end - s.start, 0),
            critical_work: of.filter((s) => s.critical).reduce((n, s) => n + s.end - s.start, 0),
          };
        })
        .sort((x, y) => y.critical_work - x.critical_work),
    };
  });
  const lost = r.workers * r.elapsed - r.work;
  return {
    workspan_report: 1,
    metric: "time",
    metric_unit: "ns",
    ticks_per_second: TPS,
    workers: r.workers,
    elapsed: r.elapsed,
    work: r.work,
    span: r.span,
    parallelism: r.work / r.span,
    burden: 2100,
    burdened_span: r.span + 40_000,
    burdened_parallelism: r.work / (r.span + 40_000),
    largest_speedup: r.work / r.span,
    tasks: r.tasks.length,
    spawns: r.tasks.length / 2,
    syncs: r.tasks.length / 2,
    average_maximal_strand: 963_000,
    steals: r.strands.filter((s) => s.stolenFrom !== null).length,
    mean_busy: r.work / r.elapsed,
    work_with_blocked: r.work,
    span_with_blocked: r.span,
    speedup: [1, 2, 4, 8, 16, 32, 64, 128].map(at),
    breakdown: {
      work: r.work,
      descheduled: 0,
      blocked: 0,
      recording: 0,
      oversubscribed: 0,
      delay: p.delay,
      delay_buried: p.delay / 2,
      no_work_sched: 0,
      no_work_app: r.workers * r.elapsed - r.work - p.delay,
    },
    delay_by_edge: {
      create: p.delay / 2,
      create_continuation: 0,
      wait_continuation: 0,
      yield_continuation: 0,
      end: p.delay / 2,
      depend: 0,
      signal: 0,
    },
    ready_path: { work: r.span, busy_delay: 0, scheduler_delay: 0 },
    verdict: { state: "lost", enough_for: null },
    findings: [
      {
        id: "serial-strand",
        place: { site: "root", file: FILE, line: 25, function: "merge" },
        lost: lost * 0.55,
        lost_percent: 55,
        evidence: {},
      },
    ],
    causes: [],
    alone: [],
    sites,
    regions: [],
    parts: [],
    low_parallelism: [],
    warnings: [],
  };
}
