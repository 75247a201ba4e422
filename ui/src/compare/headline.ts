/**
 * The first line of a comparison: how much faster or slower the second run is, and the one thing
 * that explains most of it. It names code only if the table shows that this code explains at least
 * half of the change; otherwise the kind of worker time that does; otherwise nothing.
 */

import type { RunMeta } from "../data/contract";
import { fileName, labelEnd, multiple, percent, time, workerSeconds } from "../format";
import type { ChangedPlace } from "./changes";

export interface Headline {
  /** `runs 1.83× as fast` */
  change: string;
  /** The code to which `cause` applies: `merge at sort.rs:43`. */
  code: { name: string; run: string; index: number } | null;
  /** `no longer holds it` of code, `1.22 worker·s less “no work, program”` of worker time. */
  cause: string;
}

/** Smaller changes of the elapsed time get no cause. */
const MIN_CHANGE = 0.05;
/** A cause explains at least this part of the change. */
const MOST = 0.5;
/** Code with a smaller part of the run does not hold it. */
const MIN_HELD = 0.1;

const KINDS: readonly [key: string, words: string][] = [
  ["work", "work"],
  ["descheduled", "descheduled time"],
  ["blocked", "blocked time"],
  ["recording", "recording"],
  ["delay", "delay"],
  ["no_work_sched", "“no work, scheduler”"],
  ["no_work_app", "“no work, program”"],
];

/** Null without elapsed times. `rows` are the code blocks of the table. */
export function headline(
  table: Record<string, any>,
  rows: readonly ChangedPlace[],
  a: RunMeta,
  b: RunMeta,
): Headline | null {
  const quantity = (key: string): [number, number] => {
    const values = table.quantities?.[key]?.values;
    return [Number(values?.[0]?.mean ?? 0), Number(values?.[1]?.mean ?? 0)];
  };
  const [before, after] = quantity("elapsed");
  if (!(before > 0 && after > 0)) return null;
  const change = elapsedChange(before, after);
  const alone: Headline = { change, code: null, cause: "" };
  if (table.quantities.elapsed.differences?.[0]?.noise === "within")
    return { ...alone, change: `takes ${time(after / 1e9)}, no other time within the noise` };
  if (a.workers !== b.workers) {
    const workers = `on ${b.workers} instead of ${a.workers} workers`;
    return { ...alone, change: `${change} ${workers}` };
  }
  if (Math.abs(after - before) < MIN_CHANGE * before) return alone;

  const elapsed = after - before;
  const kinds = KINDS.map(([key, words]) => {
    const [x, y] = quantity(key);
    return { key, words, change: y - x };
  });
  // At least `MOST` of what the workers have less or more, in the direction of the elapsed time.
  const explains = (change: number, whole: number) => change / whole >= MOST;
  const kind = kinds.sort((x, y) => y.change / elapsed - x.change / elapsed)[0]!;
  if (!explains(kind.change, elapsed * a.workers)) return alone;
  const [spanBefore, spanAfter] = quantity("span");
  const found =
    kind.key === "work"
      ? mostOf(rows, "work", [kind.change, elapsed * a.workers])
      : kind.key === "no_work_app"
        ? mostOf(rows, "critical", [spanAfter - spanBefore, elapsed])
        : null;
  const name = found && codeName(found.code, a, b);
  if (!found || !name) {
    const much = workerSeconds(Math.abs(kind.change) / 1e9);
    return { ...alone, cause: `${much} ${kind.change < 0 ? "less" : "more"} ${kind.words}` };
  }
  const code = { name, run: found.code.run, index: found.code.code };
  const [x, y] = found.values;
  if (kind.key === "work") {
    const cause = `does ${time(Math.abs(y - x) / 1e9)} ${y < x ? "less" : "more"} work`;
    return { change, code, cause };
  }
  if (y <= MIN_HELD * x && x >= MIN_HELD * before)
    return { change, code, cause: "no longer holds it" };
  if (x <= MIN_HELD * y && y >= MIN_HELD * after) return { change, code, cause: "now holds it" };
  const cause = `is on its critical path for ${time(y / 1e9)} instead of ${time(x / 1e9)}`;
  return { change, code, cause };
}

/** `runs 1.83× as fast`; small changes in per cent, as a ratio hides them. */
function elapsedChange(before: number, after: number): string {
  const relative = after / before - 1;
  if (Math.abs(relative) < 0.0005) return "takes as long";
  if (relative > 0)
    return relative < 0.1
      ? `takes ${percent(relative)} longer`
      : `takes ${multiple(after / before)} as long`;
  return -relative < 0.1
    ? `takes ${percent(-relative)} less time`
    : `runs ${multiple(before / after)} as fast`;
}

/**
 * The code whose change is at least `MOST` of each of `wholes`, summed over its blocks. None if
 * other code changes by half as much in the other direction: then time only moved to other code.
 */
function mostOf(
  rows: readonly ChangedPlace[],
  measure: "work" | "critical",
  wholes: readonly number[],
): { code: { run: string; code: number }; values: [number, number] } | null {
  const sums = new Map<string, { code: ChangedPlace["code"]; values: [number, number] }>();
  for (const row of rows) {
    const sum = sums.get(row.name) ?? { code: row.code, values: [0, 0] };
    sum.values[0] += row[measure][0];
    sum.values[1] += row[measure][1];
    sums.set(row.name, sum);
  }
  const direction = Math.sign(wholes[0]!);
  const changed = (s: { values: [number, number] }) => direction * (s.values[1] - s.values[0]);
  const all = [...sums.values()].sort((x, y) => changed(y) - changed(x));
  const [first, last] = [all[0], all.at(-1)];
  if (!first?.code || wholes.some((w) => !((direction * changed(first)) / w >= MOST))) return null;
  if (-changed(last!) > changed(first) / 2) return null;
  return { code: first.code, values: first.values };
}

/** `merge at sort.rs:43`, `the code after sort:55`. */
function codeName(code: { run: string; code: number }, a: RunMeta, b: RunMeta): string | null {
  const of = (code.run === a.id ? a : b).codes[code.code];
  if (!of) return null;
  if (of.label.startsWith("after ")) return `the code ${of.label}`;
  if (!of.file || of.line === null) return of.label;
  const name = of.label.slice(0, of.label.length - labelEnd(of.label).length);
  const place = `${fileName(of.file)}:${of.line}`;
  return name === fileName(of.file) ? place : `${name} at ${place}`;
}
