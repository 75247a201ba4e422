/**
 * Pictures of the page for the README: `cargo xtask screenshots` records the runs and runs this.
 *
 * WORKSPAN   the CLI, built with the page inside
 * RUNS       a folder of traces, as run.mjs has it
 * CHROMIUM   the browser
 * PICTURES   where the pictures go
 */

import { join } from "node:path";
import { Browser, findRuns } from "./harness.mjs";

const { WORKSPAN, RUNS, CHROMIUM, PICTURES } = process.env;
const runs = findRuns(RUNS ?? "");
if (!WORKSPAN || !CHROMIUM || !PICTURES || !runs.before)
  throw new Error("WORKSPAN, RUNS, CHROMIUM and PICTURES have to be set");

const shots = [
  ["summary", "tab=summary", ".verdict"],
  ["timeline", "tab=timeline", "main canvas"],
  ["dag", "tab=dag", "main canvas"],
];

const browser = new Browser({ workspan: WORKSPAN, runs, chromiumPath: CHROMIUM });
try {
  await browser.start();
  const { url } = await browser.view([runs.before]);
  const context = await browser.browser.newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  for (const [name, hash, selector] of shots) {
    await page.goto("about:blank");
    await page.goto(`${url}#v=1&theme=light&${hash}`);
    await page.waitForSelector(selector, { timeout: 60_000 });
    // Until nothing more is asked for and drawn.
    await page.waitForLoadState("networkidle");
    await page.waitForTimeout(1500);
    await page.screenshot({ path: join(PICTURES, `${name}.png`) });
  }
} finally {
  await browser.stop();
}
