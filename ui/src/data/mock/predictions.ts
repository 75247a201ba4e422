/** The invented run's answers to `scalability`, `compare` and `whatif`. */

import type { Compare, Scalability, WhatIf } from "../contract";
import { bounds, CODE_LINES, COUNTS, FILE, name, parts } from "./program";
import { CODES, inventedRun, type Run } from "./run";

export function scalability(): Scalability {
  return {
    runs: ["a", "b"].map((run) => {
      const r = inventedRun(run),
        at = bounds(r.work, r.span);
      return {
        run,
        work: r.work,
        span: r.span,
        burdened_span: r.span + 40_000,
        limit: r.work / r.span,
        known_to: null,
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
        simulated: false,
        against_serial: false,
        warning: null,
      };
    }),
  };
}

export function compare(a: string, b: string): Compare {
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
    codes: CODES.map((_, code) => [code, code]),
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

export function whatif(q: URLSearchParams): WhatIf {
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
