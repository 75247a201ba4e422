/**
 * Formats numbers for people: three digits, and a unit after a no-break space. Times are given in
 * seconds (or in ticks with `…Ticks`); areas (workers times time) are worker·s, never plain s.
 */

import type { RunMeta } from "./data/contract";
import { runMeta } from "./store";

/** The no-break space between a number and its unit. */
export const NB = "\u00a0";

/**
 * 1.90 s · 548 ms · 89.8 ms · 4.63 ms · 963 µs · 2.10 µs · 51 ns. Three digits; whole nanoseconds,
 * except for times below one.
 */
export function time(seconds: number): string {
  if (!Number.isFinite(seconds)) return "–";
  const a = Math.abs(seconds);
  const sign = seconds < 0 ? "−" : "";
  if (a === 0) return `0${NB}s`;
  if (a >= 0.9995) return sign + threeDigits(a) + NB + "s";
  if (a >= 0.9995e-3) return sign + threeDigits(a * 1e3) + NB + "ms";
  if (a >= 0.9995e-6) return sign + threeDigits(a * 1e6) + NB + "µs";
  return sign + (a >= 0.5e-9 ? Math.round(a * 1e9) : threeDigits(a * 1e9)) + NB + "ns";
}

/** Sentences of the report with the page's units, as the report is written for any terminal. */
export function pageUnits(words: string): string {
  return words.replace(/(\d)[ \u00a0]us\b/g, `$1${NB}µs`).replace(/(\d)x\b/g, "$1×");
}

/** A time in ticks of the current run, or of `perSecond`. */
export function ticks(n: number, perSecond: number = runMeta()?.ticks_per_second ?? 1e9): string {
  return time(n / perSecond);
}

/** Worker-seconds: `7.49 worker·s`. */
export function workerSeconds(seconds: number): string {
  return worker(time(seconds));
}

/** Worker-ticks as `7.49 worker·s`. */
export function workerTicks(
  n: number,
  perSecond: number = runMeta()?.ticks_per_second ?? 1e9,
): string {
  return worker(ticks(n, perSecond));
}

function worker(text: string): string {
  return text.replace(NB, `${NB}worker·`);
}

/**
 * A share from 0 to 1: `49 %`, `0.7 %`, `<0.1 %`; with `digits` decimals, or as many as are useful.
 */
export function percent(share: number, digits?: number): string {
  if (!Number.isFinite(share)) return "–";
  const p = share * 100;
  const a = Math.abs(p);
  // `100.0 %` and `0.0 %` have no more to say than `100 %` and `0 %`.
  const whole = (a >= 99.95 || a === 0) && (digits ?? 0) <= 1;
  const d = whole ? 0 : (digits ?? (a >= 9.95 || a === 0 ? 0 : 1));
  if (a > 0 && a < 0.05 && d <= 1) return `<0.1${NB}%`;
  return minus(p.toFixed(d)) + NB + "%";
}

/** A change with its sign: `+8 %`, `−46 %`, `±0 %`. */
export function signedPercent(share: number): string {
  if (!Number.isFinite(share)) return "–";
  const p = share * 100;
  const digits = Math.abs(p) < 9.95 ? 1 : 0;
  const text = Math.abs(p).toFixed(digits);
  if (Number(text) === 0) return `±0${NB}%`;
  return (p > 0 ? "+" : "−") + text + NB + "%";
}

/** `3.91×` */
export function multiple(ratio: number): string {
  return Number.isFinite(ratio) ? `${plainNumber(ratio)}×` : "–";
}

/**
 * A ratio such as parallelism, with three digits as in the report: 1.00, 5.88, 12.0, 19,839; or 0.
 */
export function plainNumber(x: number): string {
  if (!Number.isFinite(x)) return "–";
  const a = Math.abs(x);
  if (a >= 999.5) return count(x);
  return a === 0 ? "0" : minus(threeDigits(x));
}

/** 7,649 */
export function count(n: number): string {
  return Number.isFinite(n) ? minus(Math.round(n).toLocaleString("en-US")) : "–";
}

/** 7.65 k, 1.25 M: a short form for narrow places. */
export function shortCount(n: number): string {
  const a = Math.abs(n);
  for (const [limit, unit] of [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ] as const) {
    if (a >= limit * 0.9995) return minus(threeDigits(n / limit)) + NB + unit;
  }
  return minus(String(Math.round(n)));
}

/**
 * The name of a task or of its code with the number of elements that the task works on, or with the
 * smallest and the largest number of several tasks: `msort 1.25 M`, `msort 625 k–1.25 M`. The name
 * alone where that is not known.
 */
export function sized(name: string, size?: number | readonly [number, number] | null): string {
  const words = sizeWords(size);
  return words ? `${name} ${words}` : name;
}

/** The size that `sized` adds; empty if it is not known. */
export function sizeWords(size?: number | readonly [number, number] | null): string {
  if (size === undefined || size === null || Number.isNaN(size)) return "";
  const [least, most] = typeof size === "number" ? [size, size] : size;
  return [...new Set([shortCount(least), shortCount(most)])].join("–");
}

/** A place or a file without its folders: `sort.rs:37` of `src/sort.rs:37`. */
export function fileName(label: string): string {
  return label.replace(/^.*[/\\](?=[^/\\]+$)/, "");
}

/** 412 KB, as in the report: powers of 1000. */
export function bytes(n: number): string {
  if (n < 1000) return `${n}${NB}B`;
  for (const [limit, unit] of [
    [1e9, "GB"],
    [1e6, "MB"],
    [1e3, "KB"],
  ] as const)
    if (n >= limit * 0.9995) return threeDigits(n / limit) + NB + unit;
  return `1.00${NB}KB`;
}

/** Three digits, a plain number below 1000. */
export function threeDigits(x: number): string {
  const a = Math.abs(x);
  return x.toFixed(a < 9.995 ? 2 : a < 99.95 ? 1 : 0);
}

/** Round steps (1, 2, 5 times a power of ten) between `from` and `to`, about `n` of them. */
export function roundSteps(from: number, to: number, n: number): { step: number; at: number[] } {
  const width = to - from;
  if (!(width > 0) || !(n > 0)) return { step: 1, at: [] };
  const raw = width / n;
  const ten = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 5, 10].find((k) => k * ten >= raw * (1 - 1e-9)) ?? 10) * ten;
  const at: number[] = [];
  const first = Math.ceil(from / step - 1e-9);
  for (let i = 0; (first + i) * step <= to + step * 1e-9 && i < 1000; i++)
    at.push((first + i) * step);
  return { step, at };
}

/**
 * A position on a time axis whose marks are `step` seconds apart: all marks of an axis have the
 * same unit and number of decimals.
 */
export function axisTime(seconds: number, step: number): string {
  const [scale, unit] =
    step >= 0.0999
      ? [1, "s"]
      : step >= 0.999e-4
        ? [1e3, "ms"]
        : step >= 0.999e-7
          ? [1e6, "µs"]
          : [1e9, "ns"];
  if (Math.abs(seconds) < step * 1e-6) return "0";
  const digits = Math.max(0, -Math.floor(Math.log10(step * scale * 1.000001)));
  return minus((seconds * scale).toFixed(Math.min(digits, 6))) + NB + unit;
}

/** One worker, 8 workers: the number with the noun in singular or plural. */
export function plural(n: number, one: string, more = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : more}`;
}

function minus(text: string): string {
  return text.replace("-", "−");
}

/** The name of a row of the timeline: its thread's label. */
export function rowLabel(run: Pick<RunMeta, "threads">, row: number): string {
  return run.threads[row]?.label ?? `thread ${row}`;
}

/**
 * A label's line number or address, by which code of one function or library differs, or the size
 * that `sized` adds.
 */
export const labelEnd = (label: string): string =>
  /(?::\d+|\+0x[0-9a-f]+| \d[\d.]*(?:\u00a0[kMGT])?(?:–\d[\d.]*(?:\u00a0[kMGT])?)?)$/.exec(
    label,
  )?.[0] ?? "";
