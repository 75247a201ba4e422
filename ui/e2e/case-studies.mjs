/**
 * Timelines of the case studies: `cargo xtask case-studies` records the runs and runs this.
 *
 * WORKSPAN   the CLI with the embedded page
 * SHOTS      a JSON file: a list of { trace, picture, shown }; `shown` is in shares of the measured
 *            part, or of the whole run if no part is marked
 * CHROMIUM   the browser
 */

import { readFileSync } from "node:fs";
import { Browser } from "./harness.mjs";

const { WORKSPAN, SHOTS, CHROMIUM } = process.env;
if (!WORKSPAN || !SHOTS || !CHROMIUM)
  throw new Error("WORKSPAN, SHOTS and CHROMIUM have to be set");

const QUERY = "SELECT start, \"end\" FROM regions WHERE label = 'measured'";

const browser = new Browser({ workspan: WORKSPAN, runs: {}, chromiumPath: CHROMIUM });

/** The time window in ticks. */
async function window(trace, shown) {
  const report = await browser.json("report", "--json", trace);
  const [part] = await browser.json("sql", "--format", "json", trace, QUERY);
  const ticks = report.ticks_per_second / 1e9;
  const from = part ? part.start * ticks : 0;
  const to = part ? part.end * ticks : report.elapsed;
  return shown.map((share) => Math.round(from + share * (to - from)));
}

try {
  await browser.start();
  const context = await browser.browser.newContext({
    viewport: { width: 700, height: 560 },
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  for (const { trace, picture, shown } of JSON.parse(readFileSync(SHOTS, "utf8"))) {
    const { url } = await browser.view([trace]);
    const t = await window(trace, shown);
    await page.goto("about:blank");
    await page.goto(
      `${url}#v=1&theme=light&tab=timeline&drawer=0&layers=critical,delay,nowork,regions&t=${t.join(",")}`,
    );
    const drawn = page.locator("main canvas").first();
    await drawn.waitFor({ timeout: 60_000 });
    // Wait until all requests are answered and drawn.
    await page.waitForLoadState("networkidle");
    await page.waitForTimeout(1500);
    await drawn.screenshot({ path: picture });
  }
} finally {
  await browser.stop();
}
