/**
 * A run that takes long to read: the overview of what ran when appears earlier, and reading can be
 * stopped.
 */

import { check, Skip, until } from "./harness.mjs";

/** The server's status of the run. */
const known = (page) =>
  page.evaluate(async () => {
    const r = await fetch("api/v1/meta", { cache: "no-store" });
    return r.status === 200 ? (await r.json()).runs[0] : null;
  });
const shown = (page) => page.evaluate(() => window.__timeline?.meta ?? null);

export default function (suite) {
  suite.test(
    "an overview, stopped, gone on with, becomes the run where it stands",
    { files: [suite.runs.large], own: true },
    async (t) => {
      await t.open("tab=timeline");
      const { page } = t;
      // In a single evaluation: the run may be read completely between two of them.
      const [early, said] = await page.evaluate(() => [
        window.__timeline?.meta ?? null,
        document.querySelector(".banners")?.innerText ?? "",
      ]);
      if (!early || early.overview === null)
        throw new Skip("the run was read before the page was open");
      check(said.includes("preview"), "nothing says that this is a preview");
      const stopped = await page.evaluate(() => {
        const stop = [...document.querySelectorAll(".banners button")].find((b) =>
          b.innerText.includes("Stop"),
        );
        stop?.click();
        return stop !== undefined;
      });
      if (!stopped) throw new Skip("the run was read before it could be stopped");
      await until(
        async () => (await t.text(".banners")).includes("stopped"),
        "the words that loading was stopped",
      );
      await page.waitForFunction(() => window.__timeline.scene && !window.__timeline.busy);
      const drawn = await page.evaluate(() =>
        Math.max(
          ...Object.values(window.__timeline.drawn.columns.values.running).filter((v) => v > 0),
        ),
      );
      check(drawn > 0.2, "the overview is empty");
      // The window that is shown now stays the same after loading.
      await page.evaluate(
        (elapsed) => window.__timeline.show({ t0: elapsed * 0.25, t1: elapsed * 0.5 }),
        early.elapsed,
      );
      const hash = await until(async () => {
        const h = await t.hash();
        return h.includes("t=") && h;
      }, "the window in the hash");
      await page.keyboard.press("3");
      await until(
        async () => (await t.text("main")).includes("needs the whole run"),
        "words instead of a DAG",
      );
      await page.keyboard.press("2");
      if ((await known(page))?.overview == null)
        throw new Skip("the run was read before it could be stopped");
      await page.waitForTimeout(1500);
      check((await known(page)).overview !== null, "the server went on reading");
      await page.locator(".banners button", { hasText: "Go on" }).click();
      await until(async () => (await shown(page))?.overview === null, "the whole run", 120_000);
      await page.waitForFunction(() => window.__timeline.scene && !window.__timeline.busy);
      check((await t.hash()) === hash, `the view moved: ${await t.hash()} was ${hash}`);
      check(
        (await page.evaluate(() => window.__timeline.meta.strands)) > 1000,
        "the run has no strands",
      );
      await page.keyboard.press("1");
      await page.waitForSelector(".verdict");
      await until(async () => /worker/.test(await t.text(".verdict")), "the verdict", 120_000);
    },
  );

  suite.test(
    "while the trace is looked over, the stage's segment moves and seconds are counted",
    async (t) => {
      const { page } = t;
      const status = {
        run: "a",
        stage: "looking over the trace",
        done: 0,
        of: 5,
        stopped: false,
        ready: { overview: false, timeline: false, rest: false },
        error: null,
      };
      await page.route("**/api/v1/status*", (route) =>
        route.fulfill({
          contentType: "text/event-stream",
          body: `retry: 60000\ndata: ${JSON.stringify(status)}\n\n`,
        }),
      );
      await page.route("**/api/v1/meta*", (route) =>
        route.fulfill({
          status: 202,
          json: { error: "The run is still loading.", remedy: null, loading: true },
        }),
      );
      await page.goto(t.base);
      const bar = page.getByRole("progressbar", { name: "looking over the trace" });
      await bar.waitFor();
      check((await bar.locator("i").count()) === 5, "not a segment for each stage");
      check((await bar.locator("i.done").count()) === 0, "a stage is done");
      const moving = () =>
        bar.evaluate((e) =>
          e.getAnimations({ subtree: true }).map((a) => a.effect.target.className),
        );
      check((await moving()).join() === "now", `${await moving()} move`);
      await until(async () => /waiting for \d+ s/.test(await t.text("main")), "the seconds");
    },
  );

  suite.test(
    "the summary shows what ran when while the rest is read",
    { files: [suite.runs.large], own: true },
    async (t) => {
      // Browsers print every answer with a status from 400 on in their console. "Not yet" has a
      // lower one.
      const states = new Set();
      t.page.on("response", (r) => states.add(r.status()));
      await t.open("tab=summary");
      const early = await t.text(".verdict");
      if (!(await known(t.page)) || (await known(t.page)).overview === null)
        throw new Skip("the run was read before the page was open");
      check(/tasks in/.test(early), early);
      await t.page.waitForSelector(".summary svg[role=img]");
      await until(async () => /worker/.test(await t.text(".verdict")), "the verdict", 120_000);
      check((await t.page.locator("main [role=alert]").count()) === 0, await t.text("main"));
      check(
        [...states].every((state) => state < 400),
        `answers of state ${[...states].join(", ")}`,
      );
    },
  );
}
