import { expect, test } from "vitest";
import type { Report, RunMeta } from "../data/contract";
import { machineFacts, checkRun } from "./trustChecks";

const run = { ticks_per_second: 1e9, cpus: 2 } as RunMeta;
const check = (name: string, told: number, against: number, holds = true) => ({
  check: name,
  told_ns: told,
  against_ns: against,
  slack_ns: 0,
  holds,
});
const report = (change: Report): Report => ({
  workers: 2,
  elapsed: 5e8,
  breakdown: { work: 9e8, descheduled: 0, no_work_app: 1e8 },
  checks: [check("work_within_process", 9e8, 9.02e8)],
  cpu: { missing_switches: 0 },
  ...change,
});

test("matching CPU time and parts that add up are confirmed", () => {
  const { state, words } = checkRun(report({}), run);
  expect(state).toBe("good");
  expect(words[0]).toMatch(/^work equals CPU time within 0\.2/);
  expect(words[1]).toMatch(/^parts add up to 2 × 500/);
});

test("work above the CPU time fails the check and shows both numbers", () => {
  const failed = check("work_within_process", 4.48e9, 9.1e8, false);
  const { state, words } = checkRun(report({ checks: [failed] }), run);
  expect(state).toBe("bad");
  expect(words[0]).toMatch(
    /^work is 4\.48.s, but CPU time is 910.ms: time off the CPU is missing$/,
  );
});

test("work below the CPU time is shown as its share", () => {
  const { words } = checkRun(report({ checks: [check("work_within_process", 6e8, 9e8)] }), run);
  expect(words[0]).toMatch(/^work is 67.% of the CPU time, 900.ms$/);
});

test("a trace without CPU times or a truncated one is not checked", () => {
  expect(checkRun(report({ checks: [] }), run).state).toBe("unknown");
  expect(checkRun(report({ unread: { reason: "cut off" } }), run).state).toBe("unknown");
});

test("parts that do not add up are not confirmed", () => {
  const { words } = checkRun(report({ breakdown: { work: 9e8 } }), run);
  expect(words.join()).not.toContain("parts add up");
});

test("strands beyond the number of workers are in none of the parts", () => {
  const { words } = checkRun(
    report({ breakdown: { work: 9e8, no_work_app: 1e8, oversubscribed: 3e7 } }),
    run,
  );
  expect(words[1]).toMatch(/^parts add up to 2 × 500/);
});

test("a tick never stands without words", () => {
  const only = report({ breakdown: { work: 9e8 }, checks: [check("samples_make_work", 1, 1)] });
  expect(checkRun(only, run)).toEqual({
    state: "good",
    words: ["no check of the CPU time fails"],
  });
});

test("the machine is emphasised from 5 % of descheduled time on", () => {
  expect(machineFacts(report({}), run)?.loud).toBe(false);
  const taken = report({ breakdown: { work: 2e8, descheduled: 8e8 } });
  expect(machineFacts(taken, run)?.loud).toBe(true);
  expect(machineFacts(taken, { ...run, cpus: null } as RunMeta)).toBeNull();
});
