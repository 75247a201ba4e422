/**
 * Screenshots of every tab, for inspection: node e2e/walk.mjs [TAB …]
 *
 * WORKSPAN   the CLI with the embedded page
 * RUNS       traces, separated by commas: the first is shown, the others are further runs
 * CHROMIUM   the browser (default: /usr/bin/chromium)
 * PICTURES   folder for the screenshots
 * PAGE       a built page instead of the embedded one
 * SIZES      window sizes (default: 1440x900,1024x700,2560x1440)
 * THEMES     themes (default: light,dark)
 * VIEWS      further hashes, separated by spaces: name=hash
 */

import { mkdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { Browser } from "./harness.mjs";

const TABS = [
  "summary",
  "timeline",
  "dag",
  "flame",
  "scalability",
  "sites",
  "whatif",
  "compare",
  "statistics",
  "sql",
];

const { WORKSPAN, RUNS, PICTURES, PAGE } = process.env;
if (!WORKSPAN || !RUNS || !PICTURES) throw new Error("WORKSPAN, RUNS and PICTURES have to be set");
const list = (name, start) => (process.env[name] ?? start).split(",");
const files = RUNS.split(",").map((file) => resolve(file));
const sizes = list("SIZES", "1440x900,1024x700,2560x1440").map((s) => s.split("x").map(Number));
const tabs = process.argv.slice(2).length ? process.argv.slice(2) : TABS;
const views = tabs.map((tab) => [tab, `tab=${tab}`]);
for (const view of (process.env.VIEWS ?? "").split(" ").filter(Boolean)) {
  const at = view.indexOf("=");
  views.push([view.slice(0, at), view.slice(at + 1)]);
}

mkdirSync(PICTURES, { recursive: true });
const chromiumPath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = new Browser({ workspan: WORKSPAN, runs: {}, chromiumPath });
try {
  await browser.start();
  const { url } = await browser.view(files);
  for (const [width, height] of sizes)
    for (const theme of list("THEMES", "light,dark")) {
      const context = await browser.browser.newContext({
        viewport: { width, height },
        reducedMotion: "reduce",
      });
      const page = await context.newPage();
      page.on("pageerror", (e) => console.log(`exception: ${e}`));
      page.on("console", (m) => m.type() === "error" && console.log(`console: ${m.text()}`));
      if (PAGE)
        await page.route(url, (route) =>
          route.fulfill({ path: PAGE, contentType: "text/html; charset=utf-8" }),
        );
      for (const [name, hash] of views) {
        await page.goto("about:blank");
        await page.goto(`${url}#v=1&theme=${theme}&${hash}`);
        await page.waitForSelector("main", { timeout: 60_000 });
        await page.waitForLoadState("networkidle");
        // A large run is shown before it is read completely.
        await page.waitForFunction(
          () =>
            !/[Ss]till (being )?read|Loading (the|where)|An overview of what ran/.test(
              document.body.innerText,
            ),
          null,
          { timeout: 120_000 },
        );
        await page.waitForTimeout(1200);
        const run = basename(files[0]).replace(/\..*$/, "");
        const path = join(PICTURES, `${run}-${name}-${width}-${theme}.png`);
        await page.screenshot({ path });
        console.log(path);
      }
      await context.close();
    }
} finally {
  await browser.stop();
}
