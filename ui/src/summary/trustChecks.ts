/**
 * Whether the numbers can be trusted, in one line: the checks that hold, or the first one that does
 * not, with its two sides.
 */

import type { Report, RunMeta } from "../data/contract";
import { count, plural, percent, ticks, time } from "../format";

export interface Trust {
  state: "good" | "bad" | "unknown";
  words: string[];
}

interface Check {
  check: string;
  told_ns: number;
  against_ns: number;
  slack_ns: number;
  holds: boolean;
}

const NS = 1e-9;

/** The two sides of a failed check, and its meaning. */
const FAILED: Record<string, (told: string, against: string) => string> = {
  work_within_cpus: (told, against) =>
    `work is ${told}, but all CPUs had ${against}: time off the CPU is missing`,
  work_within_process: (told, against) =>
    `work is ${told}, but CPU time is ${against}: time off the CPU is missing`,
  work_within_thread: (told, against) =>
    `a thread's work is ${told}, but its CPU time is ${against}: time off the CPU is missing`,
  parts_within_process: (told, against) =>
    `the parts of the CPU time add up to ${told}, but the process took ${against}`,
  threads_make_process: (told, against) =>
    `the threads' CPU times add up to ${told}, but the process took ${against}`,
  samples_make_work: (told, against) => `samples add up to ${told}, but work is ${against}`,
};

export function checkRun(report: Report, r: RunMeta): Trust {
  if (report.unread)
    return {
      state: "unknown",
      words: ["not checked: a part of the trace could not be read"],
    };
  const checks = (report.checks ?? []) as Check[];
  const failed = checks.find((c) => !c.holds);
  if (failed) {
    const sides = [time(failed.told_ns * NS), time(failed.against_ns * NS)] as const;
    const say = FAILED[failed.check] ?? ((a, b) => `${failed.check}: ${a} against ${b}`);
    return { state: "bad", words: [say(...sides)] };
  }
  const words: string[] = [];
  const process = checks.find((c) => c.check === "work_within_process");
  if (process && process.against_ns > 0) words.push(ofCpuTime(process));
  if (partsAddUp(report))
    words.push(
      `parts add up to ${count(report.workers)} × ${ticks(report.elapsed, r.ticks_per_second)}`,
    );
  const switches = Number(report.cpu?.missing_switches ?? 0);
  if (switches > 0) words.push(`${plural(switches, "context switch", "context switches")} missed`);
  if (checks.length === 0)
    return {
      state: "unknown",
      words: [...words, "the trace has no CPU time to check work against"],
    };
  if (words.length === 0) words.push("no check of the CPU time fails");
  return { state: "good", words };
}

/** Work is a part of the CPU time; the rest is between tasks or outside the pool. */
function ofCpuTime(c: Check): string {
  const apart = Math.abs(c.against_ns - c.told_ns) / c.against_ns;
  return apart < 0.02
    ? `work equals CPU time within ${percent(Math.max(apart, 0.001), 1)}`
    : `work is ${percent(c.told_ns / c.against_ns, 0)} of the CPU time, ${time(c.against_ns * NS)}`;
}

const PARTS = [
  "work",
  "descheduled",
  "blocked",
  "recording",
  "delay",
  "no_work_sched",
  "no_work_app",
  "unread",
] as const;

/**
 * The invariant of MODEL.md: exact to the tick. Strands beyond the number of workers are in none of
 * the parts.
 */
function partsAddUp(report: Report): boolean {
  const parts = PARTS.reduce((sum, key) => sum + Number(report.breakdown?.[key] ?? 0), 0);
  const whole = report.workers * report.elapsed;
  return whole > 0 && Math.abs(parts - whole) <= 1;
}

/** The machine in a few words; `loud` if it influences the numbers. */
export function machineFacts(
  report: Report,
  r: RunMeta,
): { loud: boolean; words: string[] } | null {
  if (r.cpus === null) return null;
  const words = [plural(r.cpus, "CPU"), plural(report.workers, "worker")];
  const whole = report.workers * report.elapsed;
  const off = whole > 0 ? Number(report.breakdown?.descheduled ?? 0) / whole : 0;
  const loud = off >= 0.05;
  if (report.unread) return { loud: false, words };
  if (off > 0 || loud)
    words.push(`descheduled for ${percent(off, off < 0.1 ? 1 : 0)} of the worker time`);
  if (loud) words.push("elapsed times depend on the machine; work, span and lines do not");
  return { loud, words };
}
