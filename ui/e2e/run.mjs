/**
 * node e2e/run.mjs [FILE …] [--only WORDS]
 *
 * WORKSPAN   the CLI with the embedded page
 * RUNS       a folder of traces: before.wspan (a Rayon merge sort), after.wspan (the same with a
 *            parallel merge), openmp.wspan, and optionally one-worker.wspan, truncated.wspan,
 *            broad.wspan (20,000 parallel tasks, most of them stolen), regions.wspan (named
 *            regions), waits.wspan (waits for a condition variable), large.wspan (a few megabytes:
 *            shown before it is read), budget.wspan (recorded within an overhead budget),
 *            twice.wspan (folded during recording, and again during reading),
 *            pools.wspan (two pools at a time), ranks.wspan (ranks of MPI),
 *            simulated.jsonl (the merge sort on eight virtual workers)
 * PAGE       a built page to test instead of the embedded one (reports keep theirs)
 * CHROMIUM   the browser (default: /usr/bin/chromium-headless-shell, which takes half the CPU time,
 *            or else /usr/bin/chromium)
 * SHOTS      a folder for screenshots of failed tests
 */

import { existsSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Browser, findRuns, Suite } from "./harness.mjs";

/** Number of concurrent tests, each with its own page: they wait more than they compute. */
const CONCURRENCY = Math.max(2, Math.min(2 * availableParallelism(), 6));

const here = dirname(fileURLToPath(import.meta.url));
const args = process.argv.slice(2);
const at = args.indexOf("--only");
const only = at >= 0 ? args.splice(at, 2)[1] : null;
const chromiumPath =
  process.env.CHROMIUM ??
  [
    "/usr/bin/chromium-headless-shell",
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
  ].find(existsSync);

const stop = (why) => {
  console.log(`skipped: the page in a browser: ${why}`);
  process.exit(process.env.E2E_REQUIRED ? 1 : 0);
};
if (!chromiumPath || !existsSync(chromiumPath)) stop("there is no Chromium (set CHROMIUM)");
if (!process.env.WORKSPAN || !existsSync(process.env.WORKSPAN))
  stop("WORKSPAN does not name the CLI");
const runs = findRuns(process.env.RUNS ?? "");
if (!runs.before) stop("RUNS does not name a folder with traces");

const browser = new Browser({ workspan: process.env.WORKSPAN, runs, chromiumPath });
/** Number of failed tests up to which they are run again. More failures are no accident. */
const MAX_AGAIN = 4;

let passed = 0;
const failed = [];
const tests = [];
try {
  await browser.start();
  const files = args.length
    ? args
    : readdirSync(here)
        .filter((f) => f.endsWith(".e2e.mjs"))
        .sort()
        .map((f) => join(here, f));
  for (const file of files) {
    const path = existsSync(file) ? file : join(here, `${file}.e2e.mjs`);
    const suite = new Suite(browser, basename(path, ".e2e.mjs"), only);
    (await import(pathToFileURL(path).href)).default(suite);
    tests.push(...suite.chosen());
  }
  // The slowest tests start first, so that no long test runs alone at the end.
  tests.sort((a, b) => b.slow - a.slow);
  const next = async () => {
    for (let test = tests.shift(); test; test = tests.shift()) {
      const out = await test((line) => console.log(line));
      if (out === true) failed.push(test);
      if (out === false) passed++;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, next));
  // A test that ran beside others may only have been too slow.
  for (const test of failed.length <= MAX_AGAIN ? failed.splice(0) : []) {
    console.log("once more and alone:");
    if ((await test((line) => console.log(line))) === true) failed.push(test);
    else {
      passed++;
      console.log(`flaky: the page in a browser: ${test.title}`);
    }
  }
} finally {
  await browser.stop();
}
for (const { title } of failed) console.log(`failed: ${title}`);
console.log(`${passed} passed, ${failed.length} failed`);
process.exitCode = failed.length ? 1 : 0;
