/**
 * The invented run's answers for the timeline, by brute force: a reference for the server's tiles.
 */

import type { Answer } from "../mock";
import { planesOf } from "../mock";
import { TILE_BINS } from "../contract";
import { inventedRun, type Run, type Strand } from "./run";

interface Piece {
  from: number;
  to: number;
  running: number;
  ready: number[];
  free: ("delay" | "sched" | "app" | null)[];
}

const KINDS = [
  "create",
  "create_continuation",
  "wait_continuation",
  "yield_continuation",
  "end",
  "depend",
  "signal",
];
const swept = new Map<string, Piece[]>();

/** Intervals within which nothing starts, ends or becomes ready. */
function sweep(run: Run, id: string): Piece[] {
  const kept = swept.get(id);
  if (kept) return kept;
  const times = [...new Set(run.strands.flatMap((s) => [s.start, s.end, s.ready]))].sort(
    (a, b) => a - b,
  );
  const opens = new Map<number, Strand[]>();
  const readies = new Map<number, Strand[]>();
  for (const s of run.strands) {
    opens.set(s.start, [...(opens.get(s.start) ?? []), s]);
    if (s.ready < s.start) readies.set(s.ready, [...(readies.get(s.ready) ?? []), s]);
  }
  const running = new Set<Strand>();
  const waiting = new Set<Strand>();
  const pieces: Piece[] = [];
  times.forEach((from, i) => {
    for (const s of [...running]) if (s.end <= from) running.delete(s);
    for (const s of readies.get(from) ?? []) waiting.add(s);
    for (const s of opens.get(from) ?? []) {
      waiting.delete(s);
      running.add(s);
    }
    const to = times[i + 1];
    if (to === undefined) return;
    const ready = KINDS.map(() => 0);
    for (const s of waiting) ready[s.preds.length > 1 ? 4 : 0]!++;
    const busy = new Set([...running].map((s) => s.row));
    const onPath = [...running].some((s) => s.readyPath);
    let left = waiting.size;
    const free = Array.from({ length: run.workers }, (_, row) =>
      busy.has(row)
        ? null
        : left-- > 0
          ? ("delay" as const)
          : onPath
            ? ("app" as const)
            : ("sched" as const),
    );
    pieces.push({ from, to, running: running.size, ready, free });
  });
  swept.set(id, pieces);
  return pieces;
}

function tile(p: URLSearchParams) {
  const id = p.get("run") ?? "a";
  const size = 2 ** Number(p.get("level"));
  const t0 = Number(p.get("index")) * TILE_BINS * size;
  return { id, run: inventedRun(id), size, t0, t1: t0 + TILE_BINS * size };
}

/** Calls back with each bin that [from, to) touches, and the share of the bin that is covered. */
function bins(
  t: { t0: number; t1: number; size: number },
  from: number,
  to: number,
  each: (bin: number, share: number) => void,
) {
  const a = Math.max(from, t.t0);
  const b = Math.min(to, t.t1);
  if (b < a || (b === a && to !== from)) return;
  for (
    let bin = Math.floor((a - t.t0) / t.size);
    bin < TILE_BINS && t.t0 + bin * t.size < b;
    bin++
  ) {
    const low = t.t0 + bin * t.size;
    each(bin, (Math.min(b, low + t.size) - Math.max(a, low)) / t.size);
  }
}

const inside = (t: { t0: number; t1: number }, s: Strand) => s.end > t.t0 && s.start < t.t1;

export const timelineAnswers: Record<string, Answer> = {
  profile: (p) => {
    const t = tile(p);
    const names = [
      "running",
      ...KINDS.map((k) => `ready_${k}`),
      "delay",
      "no_work_sched",
      "no_work_app",
      "descheduled",
      "blocked",
    ];
    const planes = Object.fromEntries(names.map((n) => [n, new Float32Array(TILE_BINS)]));
    for (const piece of sweep(t.run, t.id))
      bins(t, piece.from, piece.to, (bin, share) => {
        planes.running![bin]! += piece.running * share;
        piece.ready.forEach((r, k) => (planes[`ready_${KINDS[k]}`]![bin]! += r * share));
        for (const f of piece.free)
          if (f) planes[f === "delay" ? "delay" : `no_work_${f}`]![bin]! += share;
      });
    return planesOf(planes);
  },
  rows: (p) => {
    const t = tile(p);
    const n = t.run.workers * TILE_BINS;
    const share: Record<string, Float64Array> = {};
    for (const name of ["work", "critical", "ready_path", "delay", "sched", "app", "longest"])
      share[name] = new Float64Array(n);
    const planes = {
      strands: new Uint16Array(n),
      creates: new Uint16Array(n),
      strand: new Uint32Array(n).fill(0xffffffff),
      code: new Uint16Array(n).fill(0xffff),
      site: new Uint16Array(n).fill(0xffff),
      level: new Uint16Array(n),
      queue: new Float32Array(n),
    };
    for (const s of t.run.strands) {
      if (!inside(t, s)) continue;
      bins(t, s.start, s.end, (bin, part) => {
        const at = s.row * TILE_BINS + bin;
        share.work![at]! += part;
        if (s.critical) share.critical![at]! += part;
        if (s.readyPath) share.ready_path![at]! += part;
        planes.strands[at]!++;
        if (part <= share.longest![at]!) return;
        share.longest![at] = part;
        planes.strand[at] = s.id;
        planes.code[at] = s.code;
        planes.site[at] = s.site;
        planes.level[at] = s.level;
      });
      const bin = Math.floor((s.end - t.t0) / t.size);
      if (s.creates.length && bin >= 0 && bin < TILE_BINS)
        planes.creates[s.row * TILE_BINS + bin]!++;
    }
    for (const piece of sweep(t.run, t.id))
      piece.free.forEach((kind, row) => {
        if (kind)
          bins(
            t,
            piece.from,
            piece.to,
            (bin, part) => (share[kind]![row * TILE_BINS + bin]! += part),
          );
        bins(
          t,
          piece.from,
          piece.to,
          (bin, part) =>
            (planes.queue[row * TILE_BINS + bin]! += (part * piece.ready[0]!) / t.run.workers),
        );
      });
    const u8 = (name: string) =>
      Uint8Array.from(share[name]!, (v) => Math.round(Math.min(1, v) * 255));
    return planesOf({
      work: u8("work"),
      descheduled: new Uint8Array(n),
      blocked: new Uint8Array(n),
      ...planes,
      cpu: u8("work"),
      critical: u8("critical"),
      ready_path: u8("ready_path"),
      delay: u8("delay"),
      no_work_sched: u8("sched"),
      no_work_app: u8("app"),
    });
  },
  strands: (p) => {
    const t = tile(p);
    const all = t.run.strands.filter((s) => inside(t, s));
    const list = [...all]
      .sort((a, b) => b.end - b.start - (a.end - a.start))
      .slice(0, 8192)
      .sort((a, b) => a.start - b.start || a.id - b.id);
    const flags = (s: Strand) =>
      (s.critical ? 1 : 0) |
      (s.readyPath ? 2 : 0) |
      (s.stolenFrom !== null ? 4 : 0) |
      (s.preds.length > 1 && s.start - s.ready > 10_000 ? 16 : 0) |
      (s.from === 0 ? 32 : 0);
    return planesOf(
      {
        id: Uint32Array.from(list, (s) => s.id),
        row: Uint16Array.from(list, (s) => s.row),
        start: Float64Array.from(list, (s) => s.start),
        end: Float64Array.from(list, (s) => s.end),
        task: Uint32Array.from(list, (s) => s.task),
        code: Uint16Array.from(list, (s) => s.code),
        site: Uint16Array.from(list, (s) => s.site),
        level: Uint16Array.from(list, (s) => s.level),
        flags: Uint8Array.from(list, flags),
        creates: Uint16Array.from(list, (s) => s.creates.length),
        end_kind: Uint8Array.from(list, (s) => s.endKind),
        ready: Float64Array.from(list, (s) => (s.start > s.ready ? s.ready : NaN)),
      },
      { total: all.length, truncated: all.length > list.length },
    );
  },
  arcs: (p) => {
    const t = tile(p);
    const all = t.run.strands.filter(
      (s) => s.stolenFrom !== null && s.start >= t.t0 && s.start < t.t1,
    );
    const pairs = new Map<string, [number, number, number]>();
    for (const s of all) {
      const key = `${s.row} ${s.stolenFrom}`;
      const pair = pairs.get(key) ?? [s.row, s.stolenFrom ?? 0, 0];
      pair[2]++;
      pairs.set(key, pair);
    }
    const list = all.length > 2000 ? [] : all;
    return planesOf(
      {
        from_row: Uint16Array.from(list, (s) => s.stolenFrom ?? 0),
        from_t: Float64Array.from(list, (s) => s.ready),
        to_row: Uint16Array.from(list, (s) => s.row),
        to_t: Float64Array.from(list, (s) => s.start),
        strand: Uint32Array.from(list, (s) => s.id),
        leap: Uint8Array.from(list, (s) => (s.leap ? 1 : 0)),
      },
      { total: all.length, truncated: all.length > 2000, pairs: [...pairs.values()] },
    );
  },
  path: (p) => {
    const t = tile(p);
    const on = (s: Strand) => (p.get("kind") === "critical" ? s.critical : s.readyPath);
    const list = t.run.strands.filter(on).sort((a, b) => a.start - b.start || a.end - b.end);
    const pieces: {
      row: number;
      start: number;
      end: number;
      strand: number;
      gap: number;
      longest: number;
    }[] = [];
    list.forEach((s, i) => {
      const before = list[i - 1];
      const gap = before !== undefined && (before.row !== s.row || s.start > before.end);
      const last = pieces[pieces.length - 1];
      if (last && last.row === s.row && s.start - last.end < t.size) {
        last.end = s.end;
        if (s.end - s.start > last.longest) [last.longest, last.strand] = [s.end - s.start, s.id];
      } else
        pieces.push({
          row: s.row,
          start: s.start,
          end: s.end,
          strand: s.id,
          gap: gap ? 1 : 0,
          longest: s.end - s.start,
        });
    });
    const shown = pieces.filter((s) => s.end > t.t0 && s.start < t.t1);
    return planesOf({
      row: Uint16Array.from(shown, (s) => s.row),
      start: Float64Array.from(shown, (s) => s.start),
      end: Float64Array.from(shown, (s) => s.end),
      strand: Uint32Array.from(shown, (s) => s.strand),
      gap: Uint8Array.from(shown, (s) => s.gap),
    });
  },
  regions: (p) => {
    const run = inventedRun(p.get("run") ?? "a");
    const root = run.strands.filter((s) => s.task === 0);
    return root.length < 3
      ? []
      : [
          {
            label: "fill",
            task: 0,
            row: 0,
            start: root[0]!.end,
            end: root[1]!.start,
            tree: true,
            part: false,
          },
          {
            label: "sort",
            task: 0,
            row: 0,
            start: root[1]!.end,
            end: root[2]!.end,
            tree: true,
            part: true,
          },
        ];
  },
};
