/**
 * The parallelism strip. Up to the line of P its areas are the breakdown of the workers' time:
 * running, off the CPU, delay by kind of edge, no work by its reason. Above P are the ready strands
 * beyond the free workers, on a log scale.
 */

import { runningWords } from "../components/sentences";
import { threeDigits } from "../format";
import { readyCreate } from "./tileStyle";
import type { Paint, Pen } from "./pen";
import { READY, profileColumns, steppedArea } from "./parallelismProfile";
import type { ProfileColumns } from "./parallelismProfile";
import { pixelAt as pixel } from "./timeScale";
import type { Scene } from "./scene";

/** Heights in the strip for numbers of strands. */
export interface StripHeight {
  y(n: number): number;
  /** The number at the top edge. */
  cap: number;
}

export function stripHeight(s: Scene, most: number): StripHeight {
  const { strip } = s.bands;
  const p = Math.max(1, s.meta.workers);
  let cap = 2 * p;
  while (cap < most && cap < p * 2 ** 40) cap *= 2;
  const above = strip.h - strip.p - 6;
  const line = strip.base - strip.p;
  return {
    cap,
    y: (n) =>
      n <= p
        ? strip.base - (Math.max(0, n) / p) * strip.p
        : line - (Math.log(n / p) / Math.log(cap / p)) * above,
  };
}

/**
 * Kinds of ready strands by colour: ready since its creation, and ready after a wait or a
 * dependence.
 */
export const READY_KINDS: {
  name: string;
  of: readonly (typeof READY)[number][];
  paint: (dark: boolean) => Paint;
}[] = [
  {
    name: "ready, join",
    of: ["end", "wait_continuation", "create_continuation", "yield_continuation"],
    paint: () => ({ ground: "delay", strong: true }),
  },
  { name: "ready, depend", of: ["depend", "signal"], paint: () => ({ ground: "delay" }) },
  { name: "ready, spawn", of: ["create"], paint: (dark) => readyCreate(dark) },
];

export function drawStrip(s: Scene, pen: Pen): ProfileColumns {
  const { strip: band, x0, plot } = s.bands;
  const n = Math.max(1, Math.floor(plot));
  const c = profileColumns(s.tiles.slots("profile", s.scale), s.scale, n);
  const v = c.values;
  const p = Math.max(1, s.meta.workers);
  let most = p;
  const excess = new Float32Array(n);
  const all = new Float32Array(n);
  for (const k of READY) {
    const of = v[`ready_${k}`]!;
    for (let i = 0; i < n; i++) all[i]! += of[i] || 0;
  }
  // Each kind's share of the ready strands, which is also its share of the delay and of the queue.
  const parts = READY_KINDS.map((kind) => {
    const part = new Float32Array(n);
    for (const k of kind.of) {
      const of = v[`ready_${k}`]!;
      for (let i = 0; i < n; i++) if (all[i]! > 0) part[i]! += (of[i] || 0) / all[i]!;
    }
    return part;
  });
  for (let i = 0; i < n; i++) {
    const ready = s.meta.only ? 0 : all[i]!;
    excess[i] = Math.max(0, ready - (v.delay![i] || 0));
    if (excess[i]! > 0.01) most = Math.max(most, p + excess[i]!);
    if (v.running![i]! > p) most = Math.max(most, v.running![i]!);
  }
  const h = stripHeight(s, most);
  const line = Math.round(h.y(p)) + 0.5;
  const middle = most > p ? middleOf(h, p, line) : null;
  drawLegend(s, pen, c, [h.y(p), ...(middle === null ? [] : [h.y(middle)])]);
  const t = s.tokens;
  pen.clip(x0, band.y, plot, band.h + 1, () => {
    const from = Math.max(x0, pixel(s.scale, 0));
    const to = Math.min(x0 + plot, pixel(s.scale, s.meta.elapsed));
    pen.patternShift(pixel(s.scale, 0) - x0);
    // Until everything is read, it is unknown what the other workers do.
    if (s.layers.has("nowork") && s.meta.overview === null)
      pen.rect(from, band.base - band.p, Math.max(0, to - from), band.p, {
        ground: "app",
        strong: true,
      });
    const level = new Float64Array(n);
    const y = new Float64Array(n).fill(band.base);
    const stack = (amount: (i: number) => number, paint: Paint, least = 0, alpha = 1) => {
      const top = new Float64Array(n);
      let any = false;
      for (let i = 0; i < n; i++) {
        const a = amount(i);
        const on = a > least;
        if (on) level[i]! += a;
        top[i] = on ? h.y(level[i]!) : y[i]!;
        any ||= on;
      }
      if (any) pen.area(steppedArea(n, s.scale, y, top), paint, alpha);
      y.set(top);
    };
    stack((i) => v.running![i]!, t.work);
    stack((i) => v.descheduled![i]!, { ground: "descheduled", strong: true }, 0.01, 0.6);
    stack((i) => v.blocked![i]!, { ground: "blocked", strong: true }, 0.01, 0.6);
    if (s.layers.has("delay")) {
      READY_KINDS.forEach((kind, k) =>
        stack((i) => v.delay![i]! * parts[k]![i]!, kind.paint(s.dark), 0.004),
      );
    } else for (let i = 0; i < n; i++) level[i]! += v.delay![i] || 0;
    if (s.layers.has("nowork"))
      stack((i) => v.no_work_sched![i]!, { ground: "sched", strong: true }, 0.02);
    drawUnread(s, pen, c, h);
    if (s.layers.has("delay")) {
      // The queue is above the line of P, independent of the areas below.
      for (let i = 0; i < n; i++) {
        level[i] = Math.max(p, v.running![i] || 0);
        y[i] = h.y(level[i]!);
      }
      READY_KINDS.forEach((kind, k) =>
        stack((i) => excess[i]! * parts[k]![i]!, kind.paint(s.dark), 0.01),
      );
    }
    for (let i = 0, from = -1; i <= n; i++) {
      const unknown = i < n && Number.isNaN(v.running![i]!);
      if (unknown && from < 0) from = i;
      if (!unknown && from >= 0) {
        pen.rect(x0 + (from * plot) / n, band.y, ((i - from) * plot) / n, band.h, t.inset);
        from = -1;
      }
    }
    drawLevels(s, pen, c, h);
  });
  pen.rect(x0, band.base, plot, 1, t.line2);
  pen.line([x0, line, x0 + plot, line], t.fg, { dash: [6, 3] });
  pen.text("0", x0 - 6, band.base + 3, { align: "right", size: 10.5, colour: t.fg3 });
  pen.text(`P ${p}`, x0 - 6, line + 4, { align: "right", size: 10.5, weight: 650, colour: t.fg });
  if (most > p) {
    const top = h.y(h.cap);
    pen.text(String(h.cap), x0 - 6, Math.max(top, band.y) + 8, {
      align: "right",
      size: 10.5,
      colour: t.fg3,
    });
    pen.rect(x0, top, plot, 0.5, t.line2);
    if (middle !== null) {
      pen.text(String(middle), x0 - 6, h.y(middle) + 4, {
        align: "right",
        size: 10.5,
        colour: t.fg3,
      });
    }
  }
  return c;
}

/** Workers without records, from the line of P down, whatever layers are shown. */
function drawUnread(s: Scene, pen: Pen, c: ProfileColumns, h: StripHeight): void {
  const of = c.values.unread!;
  if (!isPartial(c)) return;
  const p = s.meta.workers;
  const low = Float64Array.from(of, (n) => h.y(p - (n > 0.01 ? n : 0)));
  const high = new Float64Array(c.n).fill(h.y(p));
  pen.area(steppedArea(c.n, s.scale, low, high), { ground: "unread", strong: true });
}

/** True if a visible part of the trace could not be read. */
const isPartial = (c: ProfileColumns): boolean => c.values.unread!.some((n) => n > 0.01);

/** The number between P and the top with room for its label, if any. */
function middleOf(h: StripHeight, p: number, line: number): number | null {
  const middle = p * 2 ** Math.round(Math.log2(h.cap / p) / 2);
  const at = h.y(middle);
  const fits = middle !== h.cap && middle !== p && at - h.y(h.cap) > 14 && line - at > 14;
  return fits ? middle : null;
}

type Entry = [Paint, string];

/** True if a visible strand became ready by a dependence or a signal. */
const hasDepends = (c: ProfileColumns): boolean =>
  [c.values.ready_depend, c.values.ready_signal].some((v) => v?.some((n) => n > 0.01));

/** `numbers`: positions of the axis' numbers, which the legend's names avoid. */
function drawLegend(s: Scene, pen: Pen, c: ProfileColumns, numbers: readonly number[]): void {
  const { strip: band } = s.bands;
  const t = s.tokens;
  pen.text("Parallelism", 16, band.y + 13, { size: 11.5, weight: 600, colour: t.fg });
  const off: Entry[] = [
    [{ ground: "descheduled", strong: true }, "descheduled"],
    [{ ground: "blocked", strong: true }, "blocked"],
  ];
  const none: Entry[] = [
    [{ ground: "sched", strong: true }, "no work, scheduler"],
    [{ ground: "app", strong: true }, "no work, program"],
  ];
  const entries: Entry[] = [
    ...READY_KINDS.map((k): Entry => [k.paint(s.dark), k.name]).filter(
      ([, name]) => !s.meta.only && (name !== "ready, depend" || hasDepends(c)),
    ),
    [t.work, runningWords(s.meta)],
    ...off,
    ...(isPartial(c) ? [[{ ground: "unread", strong: true }, "not read"] as Entry] : []),
    // For a part of a run, it is unknown why its workers were free.
    ...(s.meta.only ? [] : none),
  ];
  const room = Math.max(0, Math.floor((band.h - 24) / 16));
  // Without room for all entries, two of a kind share a line, each with half a swatch.
  const lines: [Paint, Paint, string][] = [];
  for (const [i, [paint, name]] of entries.entries()) {
    const pair =
      entries.length > room
        ? paint === off[0]![0]
          ? "off the CPU"
          : paint === none[0]![0]
            ? "no work"
            : null
        : null;
    if (pair) lines.push([paint, entries[i + 1]![0], pair]);
    else if (entries.length <= room || (name !== "blocked" && name !== "no work, program"))
      lines.push([paint, paint, name]);
  }
  let y = band.y + 24;
  for (const [left, right, label] of lines.slice(0, room)) {
    // A long name would overlap a number of workers, which has a fixed height.
    const number = pen.textWidth(`P ${s.meta.workers}`, 10.5, 650);
    const long = 31 + pen.textWidth(label, 11, 400) > s.bands.x0 - number - 12;
    const struck = long && numbers.find((line) => Math.abs(y + 4 - line) < 11);
    if (struck) y = struck + 9;
    if (y + 9 > band.base + 2) break;
    pen.rect(16, y, 5, 9, left);
    pen.rect(21, y, 5, 9, right);
    pen.text(label, 31, y + 8, { colour: t.fg2 });
    y += 16;
  }
}

/** Labels such as "4 running" where the profile is constant for long, below P. */
function drawLevels(s: Scene, pen: Pen, c: ProfileColumns, h: StripHeight): void {
  const v = c.values.running!;
  const p = s.meta.workers;
  const shown = new Set<string>();
  for (let from = 0; from < c.n && shown.size < 5;) {
    const value = v[from]!;
    let to = from + 1;
    while (to < c.n && Math.abs(v[to]! - value) < 0.08) to++;
    const width = ((to - from) * s.scale.width) / c.n;
    const number =
      Math.abs(value - Math.round(value)) < 0.08 ? Math.round(value) : threeDigits(value);
    const label = `${number} ${runningWords(s.meta)}`;
    const isNew = !shown.has(label);
    if (isNew && width > 110 && value > 0.2 && h.y(value) - h.y(p) > 18) {
      // Inside the free part, which begins above the running workers.
      const at = Math.min(h.y(value) - 5, s.bands.strip.base - 4);
      pen.text(label, s.scale.x0 + (from * s.scale.width) / c.n + 8, at, {
        size: 11.5,
        weight: 600,
        colour: s.tokens.fg,
        halo: s.layers.has("nowork") ? s.tokens.appBg : s.tokens.panel,
      });
      shown.add(label);
    }
    from = to;
  }
}
