/**
 * Screenshots of the page for the README and docs/viewer.md: `cargo xtask screenshots` records the
 * runs and runs this. node e2e/screenshots.mjs [NAME …]
 *
 * WORKSPAN   the CLI with the embedded page
 * RUNS       a folder of traces as for run.mjs, with simulated-after.jsonl (the merge sort with a
 *            parallel merge on eight virtual workers) and simulated-96.jsonl (the one with a serial
 *            merge on 96)
 * CHROMIUM   the browser
 * PICTURES   folder for the screenshots
 * PAGE       a built page instead of the embedded one
 */

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { Browser, findRuns } from "./harness.mjs";

const { WORKSPAN, RUNS, CHROMIUM, PICTURES, PAGE } = process.env;
const runs = findRuns(RUNS ?? "");
if (!WORKSPAN || !CHROMIUM || !PICTURES || !runs.before)
  throw new Error("WORKSPAN, RUNS, CHROMIUM and PICTURES have to be set");
const { before, simulated } = runs;
const after = resolve(RUNS, "simulated-after.jsonl");
const many = resolve(RUNS, "simulated-96.jsonl");

/**
 * Name, runs, hash, and the element to wait for; width and height if they differ from the default.
 */
const shots = [
  ["summary", [before], "tab=summary", ".verdict"],
  ["timeline", [before], "tab=timeline", "main canvas"],
  ["dag", [before], "tab=dag", "main canvas"],
  ["sites", [before], "tab=sites", ".by-size table"],
  ["flame", [simulated], "tab=flame", ".frames"],
  ["compare", [simulated, after], "tab=compare", "main canvas"],
  ["many-workers", [many], "tab=timeline", "main canvas", [1400, 1000]],
];
const wanted = process.argv.slice(2);

const browser = new Browser({ workspan: WORKSPAN, runs, chromiumPath: CHROMIUM });
try {
  await browser.start();
  for (const [name, files, hash, selector, [width, height] = [1280, 800]] of shots) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const lacking = files.find((file) => !file || !existsSync(file));
    if (lacking !== undefined)
      throw new Error(`${name}: there is no ${lacking ?? "simulated run"}`);
    const { url } = await browser.view(files);
    const context = await browser.browser.newContext({
      viewport: { width, height },
      reducedMotion: "reduce",
    });
    const page = await context.newPage();
    if (PAGE)
      await page.route(url, (route) =>
        route.fulfill({ path: PAGE, contentType: "text/html; charset=utf-8" }),
      );
    await page.goto(`${url}#v=1&theme=light&${hash}`);
    await page.waitForSelector(selector, { timeout: 60_000 });
    // Wait until all requests are answered and drawn.
    await page.waitForLoadState("networkidle");
    await page.waitForTimeout(1500);
    await page.screenshot({ path: join(PICTURES, `${name}.png`) });
    await context.close();
  }
} finally {
  await browser.stop();
}
