/** The invented program: source, places, facts, and division of its time. */

import type { RunMeta } from "../contract";
import { CODES, inventedRun, profile, SITES, type Run } from "./run";

export const SORT = `//! Top-down merge sort; parallel quicksort below MERGE_MIN.
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
export const FILE = "src/sort.rs";
export const CODE_LINES = [6, 25, 8, 3, 1];
export const SITE_LINES = [null, 19, 10, 14];
export const HEAT: Record<number, Record<number, number>> = {
  0: { 6: 1 },
  1: { 22: 0.14, 28: 0.06, 29: 0.12, 30: 0.42, 31: 0.14, 32: 0.12 },
  2: { 8: 0.9, 9: 0.1 },
};

export const TPS = 1e9;
export const name = (id: string) => (id === "b" ? "sort-pmerge" : "sort");

export function runMeta(id: string): RunMeta {
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
      name: null,
      busy: b / r.elapsed,
      pool: null,
    })),
    more_threads: 0,
    pools: [],
    begin: 0,
    elapsed: r.elapsed,
    ticks_per_second: TPS,
    top_level: Math.max(0, Math.ceil(Math.log2(r.elapsed / 1024))),
    tasks: r.tasks.length,
    numbered_tasks: r.tasks.length,
    strands: r.strands.length,
    steals: r.strands.filter((s) => s.stolenFrom !== null).length,
    leaps: r.strands.filter((s) => s.leap).length,
    first_spawn: null,
    waits: 0,
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
      attempts: false,
      sleeps: false,
      samples: true,
      regions: false,
      counters: [],
      leaps: true,
      inside: false,
      sizes: false,
    },
    overview: null,
    parts: [],
    only: null,
    warnings: [],
    unread: false,
    facts: [
      ["command", "target/release/sort 10240000"],
      ["runtime", "Rayon 1.12"],
      ["clock", "TSC, 2.50 GHz, invariant"],
    ],
  };
}

/** Work, delay, and the two kinds of no-work over [t0, t1). */
export function parts(r: Run, t0 = 0, t1 = r.elapsed) {
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

export function bounds(work: number, span: number, burdened = span) {
  return (workers: number) => ({
    workers,
    lower: work / (work / workers + 1.7 * (1 - 1 / workers) * burdened),
    upper: Math.min(workers, work / span),
  });
}

export const COUNTS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128];
