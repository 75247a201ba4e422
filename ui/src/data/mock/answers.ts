/** The invented run's answers for the frame and the Summary, and a table of all answers by name. */

import type { Meta, Summary } from "../contract";
import { planesOf, type Answer } from "../mock";
import { task, strand } from "./details";
import { compare, scalability, whatif } from "./predictions";
import { FILE, runMeta } from "./program";
import { report } from "./report";
import { inventedRun, profile, type Run } from "./run";
import { sites, source } from "./sites";

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
        index: 0,
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
        index: 1,
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
        index: 2,
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
