/**
 * The invented run's answers to what the frame, the Summary, Sites, Scalability, What-if and
 * Compare ask.
 */

import type {
  Compare,
  Meta,
  Report,
  RunMeta,
  Scalability,
  SiteExtra,
  Source,
  StrandDetail,
  Summary,
  TaskDetail,
  WhatIf,
} from "../contract";
import { planesOf, type Answer } from "../mock";
import { Unavailable } from "../source";
import { CODES, inventedRun, profile, SITES, type Run } from "./run";

const SORT = `//! Top-down merge sort; parallel quicksort below MERGE_MIN.
use rayon::join;

fn qsort(v: &mut [Key]) {
    if v.len() <= LEAF {
        return v.sort_unstable();
    }
    let k = partition(v);
    let (lo, hi) = v.split_at_mut(k);
    join(|| qsort(lo), || qsort(hi));
}

pub fn msort(v: &mut [Key], buf: &mut [Key]) {
    if v.len() <= MERGE_MIN { return qsort(v); }
    let m = v.len() / 2;
    {
        let (a, b) = v.split_at_mut(m);
        let (sa, sb) = buf.split_at_mut(m);
        join(|| msort(a, sa), || msort(b, sb));
    }
    merge(v, m, buf); // serial: this is what limits the run
    v.copy_from_slice(buf);
}

fn merge(v: &[Key], m: usize, out: &mut [Key]) {
    let (mut i, mut j) = (0, m);
    for o in out.iter_mut() {
        let left = j == v.len()
            || (i < m && v[i] <= v[j]);
        *o = if left { i += 1; v[i - 1] }
             else { j += 1; v[j - 1] };
    }
}`.split("\n");
const FILE = "src/sort.rs";
const CODE_LINES = [6, 25, 8, 3, 1];
const SITE_LINES = [null, 19, 10, 14];
const HEAT: Record<number, Record<number, number>> = {
  0: { 6: 1 },
  1: { 22: 0.14, 28: 0.06, 29: 0.12, 30: 0.42, 31: 0.14, 32: 0.12 },
  2: { 8: 0.9, 9: 0.1 },
};

const TPS = 1e9;
const name = (id: string) => (id === "b" ? "sort-pmerge" : "sort");

function runMeta(id: string): RunMeta {
  const r = inventedRun(id);
  const busy = new Array<number>(r.workers).fill(0);
  const ofCode = new Array<number>(CODES.length).fill(0);
  for (const s of r.strands) {
    busy[s.row]! += s.end - s.start;
    ofCode[s.code]! += s.end - s.start;
  }
  return {
    id,
    name: name(id),
    file: `${name(id)}.wspan`,
    bytes: 412_000,
    runtime: "Rayon 1.12",
    command: "target/release/sort 10240000",
    host: "eight",
    recorded: "2026-11-20 14:07",
    cpus: 8,
    workers: r.workers,
    threads: busy.map((b, i) => ({
      thread: i + 1,
      label: `W${i}`,
      worker: true,
      busy: b / r.elapsed,
    })),
    more_threads: 0,
    begin: 0,
    elapsed: r.elapsed,
    ticks_per_second: TPS,
    top_level: Math.max(0, Math.ceil(Math.log2(r.elapsed / 1024))),
    tasks: r.tasks.length,
    numbered_tasks: r.tasks.length,
    strands: r.strands.length,
    steals: r.strands.filter((s) => s.stolenFrom !== null).length,
    leaps: r.strands.filter((s) => s.leap).length,
    folded_strands: 0,
    samples: 7120,
    sites: SITES.map((f, place) => ({
      place,
      label: place ? `${place === 3 ? "src/gen.rs" : FILE}:${SITE_LINES[place]}` : "root",
      function: f,
      file: place ? (place === 3 ? "src/gen.rs" : FILE) : null,
      line: SITE_LINES[place] ?? null,
    })),
    more_sites: 0,
    codes: CODES.map((label, i) => ({
      label,
      function: label,
      file: i === 3 ? "src/gen.rs" : i === 4 ? "src/main.rs" : FILE,
      line: CODE_LINES[i]!,
      ticks: ofCode[i]!,
    })),
    has: {
      cpu: true,
      queue: true,
      samples: true,
      regions: false,
      counters: [],
      leaps: true,
      inside: false,
    },
    overview: null,
    warnings: [],
    facts: [
      ["command", "target/release/sort 10240000"],
      ["runtime", "Rayon 1.12"],
      ["clock", "TSC, 2.50 GHz, invariant"],
    ],
  };
}

/** Work, delay, the two kinds of no-work, over [t0, t1). */
function parts(r: Run, t0 = 0, t1 = r.elapsed) {
  const o = { work: 0, delay: 0, sched: 0, app: 0 };
  for (const [a, b, running, ready] of profile(r)) {
    const d = Math.min(b, t1) - Math.max(a, t0);
    if (d <= 0) continue;
    const q = Math.max(0, r.workers - running),
      delay = Math.min(q, ready);
    o.work += running * d;
    o.delay += delay * d;
    o.app += (q - delay) * d;
  }
  return o;
}

function bounds(work: number, span: number, burdened = span) {
  return (workers: number) => ({
    workers,
    lower: work / (work / workers + 1.7 * (1 - 1 / workers) * burdened),
    upper: Math.min(workers, work / span),
  });
}

const COUNTS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128];

function report(id: string): Report {
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

function lastMerge(r: Run) {
  return r.strands.reduce((b, s) => (s.end > b.end ? s : b));
}

function summary(id: string): Summary {
  const r = inventedRun(id),
    last = lastMerge(r),
    lost = r.workers * r.elapsed - r.work;
  const share = ((last.end - last.start) * (r.workers - 1)) / lost;
  return {
    verdict: `${(r.work / r.elapsed).toFixed(1)}× on 8 workers; the program allows at most ${(r.work / r.span).toFixed(1)}× on any number.`,
    why: [
      [
        { text: "src/sort.rs:25", as: "place", file: FILE, line: 25 },
        { text: " " },
        { text: "merge", as: "code" },
        { text: " ran " },
        {
          text: `alone for ${((last.end - last.start) / 1e9).toFixed(2)} s while 7 workers had nothing to do`,
          as: "strong",
        },
        { text: ": " },
        { text: `${Math.round(share * 100)} % of the lost time.`, as: "strong" },
      ],
      [
        { text: "Twice as fast there gives parallelism " },
        { text: "8.4", as: "strong" },
        { text: "." },
      ],
    ],
    findings: [
      {
        id: "serial-strand",
        title: [
          { text: "Split the last " },
          { text: "merge", as: "code" },
          { text: " " },
          { text: "src/sort.rs:25", as: "place", file: FILE, line: 25 },
        ],
        evidence: [
          { text: "One task on worker 0; 48 % of the span. A parallel merge removes it." },
        ],
        share,
        lost: lost * share,
        gain: (lost * share) / r.workers,
        show: { t0: last.start, t1: last.end, strand: last.id, site: 0, code: 1 },
        source: { file: FILE, line: 30 },
      },
      {
        id: "low-parallelism",
        title: [{ text: "The merges before it keep 2 to 4 workers busy" }],
        evidence: [{ text: "Same line. The same change fixes both." }],
        share: (1 - share) * 0.9,
        lost: lost * (1 - share) * 0.9,
        gain: (lost * (1 - share) * 0.9) / r.workers,
        show: { t0: last.start - 5e8, t1: last.start, strand: null, site: 1, code: 1 },
        source: null,
      },
      {
        id: "buried",
        title: [{ text: "A ready merge waited for a busy worker" }],
        evidence: [
          { text: "src/sort.rs:19", as: "place", file: FILE, line: 19 },
          { text: " " },
          { text: "join", as: "code" },
          { text: " stole other work while it waited; nobody else may resume it." },
        ],
        share: 0.03,
        lost: lost * 0.03,
        gain: (lost * 0.03) / r.workers,
        show: { t0: last.start - 9e8, t1: last.start - 4e8, strand: null, site: 1, code: null },
        source: null,
      },
    ],
    checked: [
      { state: "good", what: "Scheduler delay", value: "1.0 %" },
      { state: "good", what: "Average maximal strand", value: "963 µs" },
      { state: "good", what: "Added by recording", value: "0.6 ms · 0.03 %" },
      { state: "bad", what: "Stretch: merge slower than on 1 worker", value: "+8 %" },
      { state: "absent", what: "Hardware counters", value: "not on this machine" },
    ],
  };
}

function profilePlanes(q: URLSearchParams) {
  const r = inventedRun(q.get("run") ?? "a"),
    width = 2 ** Number(q.get("level")),
    t0 = Number(q.get("index")) * 1024 * width;
  const names = [
    "running",
    "ready_create",
    "ready_create_continuation",
    "ready_wait_continuation",
    "ready_yield_continuation",
    "ready_end",
    "ready_depend",
    "ready_signal",
    "delay",
    "no_work_sched",
    "no_work_app",
    "descheduled",
    "blocked",
  ];
  const planes = Object.fromEntries(names.map((n) => [n, new Float32Array(1024)])) as Record<
    string,
    Float32Array<ArrayBuffer>
  >;
  for (const [a, b, running, ready] of profile(r)) {
    const from = Math.max(a, t0),
      to = Math.min(b, t0 + 1024 * width);
    for (let i = Math.floor((from - t0) / width); i < 1024 && t0 + i * width < to; i++) {
      const f = (Math.min(to, t0 + (i + 1) * width) - Math.max(from, t0 + i * width)) / width;
      if (f <= 0) continue;
      const q2 = Math.max(0, r.workers - running),
        delay = Math.min(q2, ready);
      planes.running![i]! += running * f;
      planes.ready_create![i]! += (ready / 2) * f;
      planes.ready_end![i]! += (ready / 2) * f;
      planes.delay![i]! += delay * f;
      planes.no_work_app![i]! += (q2 - delay) * f;
    }
  }
  return planesOf(planes);
}

function spark(r: Run, of: (s: Run["strands"][number]) => boolean): number[] {
  const bins = new Array<number>(64).fill(0),
    width = r.elapsed / 64;
  for (const s of r.strands)
    if (of(s))
      for (let i = Math.floor(s.start / width); i < 64 && i * width < s.end; i++)
        bins[i]! += (Math.min(s.end, (i + 1) * width) - Math.max(s.start, i * width)) / width;
  return bins;
}

function sites(id: string): SiteExtra[] {
  const r = inventedRun(id),
    rep = report(id);
  return SITES.map((_, place) => {
    const own = r.strands.filter((s) => s.site === place),
      by = own.map((s) => s.end - s.start).sort((x, y) => x - y);
    return {
      place,
      delay: own.reduce((n, s) => n + s.start - s.ready, 0),
      buried: 0,
      spark: spark(r, (s) => s.site === place),
      lengths: {
        min: by[0] ?? 0,
        median: by[by.length >> 1] ?? 0,
        p90: by[Math.floor(by.length * 0.9)] ?? 0,
        max: by[by.length - 1] ?? 0,
      },
      stretch: place === 1 ? 0.08 : null,
      longest: [...own]
        .sort((x, y) => y.end - y.start - (x.end - x.start))
        .slice(0, 8)
        .map((s) => ({ task: s.task, start: s.start, end: s.end })),
      blocks: rep.sites[place].blocks.map((b: { from: { function: string } }) => {
        const code = CODES.indexOf(b.from.function);
        const of = own.filter((s) => s.code === code),
          sum = (l: typeof of) => l.reduce((n, s) => n + s.end - s.start, 0);
        return {
          code,
          work: sum(of),
          critical: sum(of.filter((s) => s.critical)),
          count: of.length,
          spark: spark(r, (s) => s.site === place && s.code === code),
          stretch: code === 1 ? 0.08 : null,
        };
      }),
    };
  });
}

function source(id: string, file: string): Source {
  if (file !== FILE)
    return {
      file,
      missing: `${file} was not found where the program was built.`,
      part: null,
      changed: false,
      lines: [],
    };
  const r = inventedRun(id),
    heat: Record<number, { ticks: number; critical: number }> = {};
  for (const s of r.strands)
    for (const [line, share] of Object.entries(HEAT[s.code] ?? {})) {
      const h = (heat[Number(line)] ??= { ticks: 0, critical: 0 });
      h.ticks += (s.end - s.start) * share;
      if (s.critical) h.critical += (s.end - s.start) * share;
    }
  return {
    file,
    missing: null,
    part: null,
    changed: false,
    lines: SORT.map((text, i) => ({
      line: i + 1,
      text,
      samples: Math.round((heat[i + 1]?.ticks ?? 0) / 1e6),
      critical: heat[i + 1]?.critical ?? 0,
      ticks: heat[i + 1]?.ticks ?? 0,
    })),
  };
}

function scalability(): Scalability {
  return {
    runs: ["a", "b"].map((run) => {
      const r = inventedRun(run),
        at = bounds(r.work, r.span);
      return {
        run,
        work: r.work,
        span: r.span,
        burdened_span: r.span + 40_000,
        points: COUNTS.map(at),
        note: null,
      };
    }),
    measured: ["a", "b"].map((run) => {
      const r = inventedRun(run);
      return {
        run,
        workers: r.workers,
        speedup: r.work / r.elapsed,
        how: "workers busy on average",
      };
    }),
  };
}

function compare(a: string, b: string): Compare {
  const [x, y] = [inventedRun(a), inventedRun(b)],
    [p, q] = [parts(x), parts(y)];
  const value = (n: number) => ({ mean: n, min: n, max: n, deviation: null, runs: 1 });
  const row = (unit: string, m: number, n: number) => ({
    unit,
    values: [value(m), value(n)],
    differences: [
      { absolute: n - m, relative: m ? n / m - 1 : null, interval: null, noise: "unknown" },
    ],
  });
  const of = (r: Run, code: number) => r.strands.filter((s) => s.code === code);
  const sum = (l: Run["strands"], critical = false) =>
    l.reduce((n, s) => n + (critical && !s.critical ? 0 : s.end - s.start), 0);
  return {
    words: {
      title: `${name(b)} is ${(x.elapsed / y.elapsed).toFixed(2)}× faster: ${(x.elapsed / 1e9).toFixed(2)} s → ${(y.elapsed / 1e9).toFixed(2)} s`,
      lines: [
        `The span fell from ${(x.span / 1e6).toFixed(0)} ms to ${(y.span / 1e6).toFixed(0)} ms; the work by ${Math.round(100 - (100 * y.work) / x.work)} %.`,
      ],
    },
    table: {
      workspan_compare: 1,
      sides: [a, b].map((s) => ({ name: name(s), runs: 1, workers: 8, runtime: "Rayon" })),
      quantities: {
        elapsed: row("ns", x.elapsed, y.elapsed),
        work: row("ns", x.work, y.work),
        span: row("ns", x.span, y.span),
        parallelism: row("count", x.work / x.span, y.work / y.span),
        delay: row("ns", p.delay, q.delay),
        no_work_sched: row("ns", 0, 0),
        no_work_app: row("ns", p.app, q.app),
        tasks: row("count", x.tasks.length, y.tasks.length),
      },
      sites: [],
      blocks: CODES.map((c, code) => ({
        site: { at: `${FILE}:19`, file: FILE, line: 19, function: "msort", primitive: "join" },
        block: {
          from_kind: "after_wait",
          from: {
            at: `${FILE}:${CODE_LINES[code]}`,
            file: FILE,
            line: CODE_LINES[code],
            function: c,
            primitive: "join",
          },
          to_kind: "end",
          to: null,
        },
        work: [value(sum(of(x, code))), value(sum(of(y, code)))],
        work_differences: [
          {
            absolute: sum(of(y, code)) - sum(of(x, code)),
            relative: null,
            interval: null,
            noise: "unknown",
          },
        ],
        critical_work: [value(sum(of(x, code), true)), value(sum(of(y, code), true))],
        critical_differences: [
          {
            absolute: sum(of(y, code), true) - sum(of(x, code), true),
            relative: null,
            interval: null,
            noise: "unknown",
          },
        ],
        count: [value(of(x, code).length), value(of(y, code).length)],
      })),
      positions_recognised_by_source: 0,
      noise_known: false,
      warnings: [],
    },
  };
}

function whatif(q: URLSearchParams): WhatIf {
  const r = inventedRun(q.get("run") ?? "a"),
    what = (q.get("what") ?? "").split(",").filter(Boolean),
    factors = (q.get("factors") ?? "2").split(",").map(Number);
  const hit = (s: Run["strands"][number]) =>
    what.includes(`code:${s.code}`) ||
    what.includes(`site:${s.site}`) ||
    what.some((w) => w.startsWith("lines:") && s.code === 1);
  const at = (factor: number) => {
    const heavy: number[] = [];
    for (const s of r.strands)
      heavy.push(
        Math.max(0, ...s.preds.map((p) => heavy[p]!)) + (s.end - s.start) / (hit(s) ? factor : 1),
      );
    return Math.max(...heavy);
  };
  const critical = CODES.map((_, code) => ({
    code,
    weight: r.strands
      .filter((s) => s.critical && s.code === code)
      .reduce((n, s) => n + (s.end - s.start) / (hit(s) ? factors[0]! : 1), 0),
  }))
    .filter((c) => c.weight > 0)
    .sort((x, y) => y.weight - x.weight);
  return {
    rows: factors.map((factor) => {
      const span = at(factor),
        b = bounds(r.work, span);
      return { factor, span, parallelism: r.work / span, speedups: COUNTS.map(b) };
    }),
    critical,
  };
}

function strand(id: string, n: number): StrandDetail {
  const r = inventedRun(id),
    s = r.strands[n];
  if (!s) throw new Unavailable(`There is no strand ${n}.`, "refused");
  const task = r.tasks[s.task]!,
    at = task.strands.indexOf(n),
    onRow = r.strands.filter((x) => x.row === s.row).sort((x, y) => x.start - y.start),
    i = onRow.indexOf(s),
    by = s.preds.map((p) => r.strands[p]!).sort((x, y) => y.end - x.end)[0];
  return {
    id: n,
    task: s.task,
    of: task.strands.length,
    row: s.row,
    start: s.start,
    end: s.end,
    weight: s.end - s.start,
    descheduled: 0,
    blocked: 0,
    recording: 0,
    between: 0,
    code: s.code,
    site: s.site,
    from: { kind: "after_wait", at: `${FILE}:19`, file: FILE, line: 19, function: "msort" },
    to: { kind: "end", at: null, file: null, line: null, function: null },
    critical: s.critical,
    ready_path: s.readyPath,
    ready: s.start > s.ready ? s.ready : null,
    made_ready_by: by
      ? {
          strand: by.id,
          task: by.task,
          row: by.row,
          edge: by.task === s.task ? "wait_continuation" : "end",
        }
      : null,
    stolen: s.stolenFrom === null ? null : { victim: s.stolenFrom, leap: s.leap },
    meanwhile: 4,
    counters: [],
    functions: [{ function: CODES[s.code]!, file: FILE, line: CODE_LINES[s.code]!, samples: 40 }],
    previous: task.strands[at - 1] ?? null,
    next: task.strands[at + 1] ?? null,
    previous_on_row: onRow[i - 1]?.id ?? null,
    next_on_row: onRow[i + 1]?.id ?? null,
    folded: 0,
    sums_alone: false,
  };
}

function task(id: string, n: number): TaskDetail {
  const r = inventedRun(id),
    t = r.tasks[n];
  if (!t) throw new Unavailable(`There is no task ${n}.`, "refused");
  const stack: TaskDetail["stack"] = [];
  for (let at: number | null = n; at !== null; at = r.tasks[at]!.parent) {
    const x = r.tasks[at]!,
      first = r.strands[x.strands[0]!]!;
    stack.push({
      task: at,
      site: x.site,
      code: x.code,
      row: first.row,
      start: first.start,
      spawned_on: first.stolenFrom ?? first.row,
      stolen_by: first.stolenFrom === null ? null : first.row,
      function: SITES[x.site]!,
      file: FILE,
      line: SITE_LINES[x.site] ?? null,
    });
  }
  const first = r.strands[t.strands[0]!]!,
    last = r.strands[t.strands[t.strands.length - 1]!]!;
  return {
    task: n,
    number: n,
    kind: n === 0 ? "root" : t.inline ? "inline" : "deferred",
    level: t.level,
    site: t.site,
    code: t.code,
    first: first.id,
    last: last.id,
    start: first.start,
    end: last.end,
    strands: t.strands,
    more_strands: 0,
    children: t.children.length,
    first_children: t.children.slice(0, 8),
    work: t.strands.reduce((w, s) => w + r.strands[s]!.end - r.strands[s]!.start, 0),
    span: last.end - first.start,
    tasks: 1,
    stack,
    joined_by: null,
    waits: [],
    depends: [],
    longest: false,
  };
}

const run = (q: URLSearchParams) => q.get("run") ?? "a";

export const pageAnswers: Record<string, Answer> = {
  meta: (): Meta => ({
    workspan_view: 1,
    version: "0.1.0",
    mode: "server",
    runs: [runMeta("a"), runMeta("b")],
    finest_level: 0,
  }),
  report: (q) => report(run(q)),
  summary: (q) => summary(run(q)),
  profile: profilePlanes,
  sites: (q) => sites(run(q)),
  source: (q) => source(run(q), q.get("file") ?? ""),
  scalability: () => scalability(),
  compare: (q) => compare(q.get("a") ?? "a", q.get("b") ?? "b"),
  whatif: (q) => whatif(q),
  strand: (q) => strand(run(q), Number(q.get("id"))),
  task: (q) => task(run(q), Number(q.get("id"))),
  regions: () => [],
};
