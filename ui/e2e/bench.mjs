/**
 * Measures the waiting times of a user who opens a large run: `cargo xtask bench viewer` runs this
 * and prints the lines. node e2e/bench.mjs TRACE …
 *
 * For each trace, times from the start of `workspan view`: until it prints its address, until the
 * overview is drawn, until the whole run is drawn, and until the summary is there. Then frame times
 * while the timeline is moved and zoomed, and times of requests for tiles of all levels.
 *
 * WORKSPAN   the CLI with the embedded page
 * CHROMIUM   the browser
 * PAGE       a built page instead of the embedded one
 */

import { basename, resolve } from "node:path";
import { idle, moved, MOVES, spread } from "./frames.mjs";
import { Browser, until } from "./harness.mjs";

/** Number of tiles requested. */
const TILES = 400;
/** The largest runs take this long to read on a busy machine, in milliseconds. */
const MAX_READING_MS = 600_000;

const { WORKSPAN, CHROMIUM, PAGE } = process.env;
const traces = process.argv.slice(2).map((file) => resolve(file));
if (!WORKSPAN || !CHROMIUM || traces.length === 0)
  throw new Error("WORKSPAN and CHROMIUM have to be set, and traces be named");

const seconds = (ms) => `${(ms / 1000).toFixed(2)} s`;
const browser = new Browser({ workspan: WORKSPAN, runs: {}, chromiumPath: CHROMIUM });

/**
 * Times from the start of the server to each picture, and the open page for further measurements.
 */
async function opened(trace) {
  // The browser is running already, as it is for a user at work.
  const context = await browser.browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const began = performance.now();
  const since = () => performance.now() - began;
  const server = await browser.view([trace], { own: true, flags: ["--no-index"] });
  const times = { address: since() };
  if (PAGE)
    await page.route(server.url, (route) =>
      route.fulfill({ path: PAGE, contentType: "text/html; charset=utf-8" }),
    );
  await page.goto(`${server.url}#v=1&theme=light&tab=timeline`);
  const drawn = (isWhole) =>
    page.waitForFunction(
      (whole) =>
        window.__timeline?.drawn?.complete && (!whole || window.__timeline.meta.overview === null),
      isWhole,
      { timeout: MAX_READING_MS, polling: "raf" },
    );
  await drawn(false);
  times.first = since();
  await drawn(true);
  times.whole = since();
  await until(
    async () => (await fetch(`${server.url}api/v1/report?run=a`)).status === 200,
    "the report",
    MAX_READING_MS,
  );
  times.report = since();
  return { page, server, times, context };
}

/** Times of requests for tiles of rows, spread over the whole run and over all levels. */
async function tiles(url) {
  const { runs } = await (await fetch(`${url}api/v1/meta`)).json();
  const { top_level: top, elapsed } = runs[0];
  const times = [];
  for (let i = 0; i < TILES; i++) {
    const level = i % (top + 1);
    const index = Math.floor((elapsed / 1024 / 2 ** level) * (i / TILES));
    const began = performance.now();
    const answer = await fetch(`${url}api/v1/rows?run=a&level=${level}&index=${index}`);
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`no tile ${index} of level ${level}`);
    times.push(performance.now() - began);
  }
  return times;
}

try {
  await browser.start();
  for (const trace of traces) {
    const { page, server, times, context } = await opened(trace);
    console.log(
      `${basename(trace)}: address ${seconds(times.address)}, first picture ${seconds(times.first)}, whole run ${seconds(times.whole)}, report ${seconds(times.report)}`,
    );
    await idle(page);
    for (const [what, from] of MOVES) {
      const { intervals, drawing, most } = await moved(page, from);
      console.log(
        `  ${what}: frames ${spread(intervals)}, drawing ${spread(drawing)}, at most ${most} shapes`,
      );
    }
    const asked = await tiles(server.url);
    console.log(
      `  ${TILES} tiles of rows: ${spread(asked)}, at most ${Math.max(...asked).toFixed(1)} ms`,
    );
    await context.close();
    await server.stop();
  }
} finally {
  await browser.stop();
}
