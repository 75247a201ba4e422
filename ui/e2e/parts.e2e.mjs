/**
 * Parts of a run viewed alone: a region, the tasks of a spawn site. Also sections as nodes of the
 * DAG, and waits for other threads with the threads that ended them.
 */

import { check, Skip, until } from "./harness.mjs";
import { same } from "./printed.mjs";

const meta = (page) =>
  page.evaluate(() => fetch("api/v1/meta").then((r) => r.json())).then((m) => m.runs[0]);
const answer = (page, request) =>
  page.evaluate((url) => fetch(url).then((r) => r.json()), `api/v1/${request}`);
const nodes = (page) => page.evaluate(() => window.__dag?.() ?? []);

/** Chooses the first part of a kind in the header, and returns what the page knows of it. */
async function choose(t, kind) {
  await t.open("tab=summary");
  const part = (await meta(t.page)).parts.find((p) => p.kind === kind);
  if (!part) throw new Skip(`there is no ${kind} in this run`);
  await t.page.getByRole("button", { name: /choose a part of the run/ }).click();
  const label = part.label.replace(/^.*[/\\]/, "");
  await t.page.getByRole("menuitem", { name: label }).first().click();
  await t.page.locator(".banners [aria-label='A part of the run']").waitFor();
  return part;
}

/**
 * The part's report equals that of `--only`: all numbers, causes of lost worker time, and findings.
 */
async function sameAsSection(t, browser, file, part) {
  const only = `${part.kind}:${part.label}`;
  const section = await browser.json("report", "--json", "--statistics", "--only", only, file);
  const report = await answer(t.page, `report?run=${encodeURIComponent(part.id)}`);
  for (const key of Object.keys(section))
    check(
      JSON.stringify(report[key]) === JSON.stringify(section[key]),
      `${only}: ${key} is ${JSON.stringify(report[key])} in the page, ${JSON.stringify(section[key])} in the report`,
    );
  const seconds = (n) => n / section.ticks_per_second;
  const words = await t.text(".story");
  same(/was open for (.*?) of/.exec(words)?.[1], seconds(section.elapsed), "time it was open");
  same(/In .*? ([\d.]+) of \d+ workers? w/.exec(words)?.[1], section.mean_busy, "busy workers");
  check(words.includes(`workspan report --only`), `no command that says the same: ${words}`);
  const title = await t.text("section[aria-label^='Where '] h2");
  same(title.split("=")[0].split("×")[1], seconds(section.elapsed), "elapsed of the bar");
  const saved = await t.page.locator(".finding:not(.rest) .saves").allInnerTexts();
  for (const [i, text] of saved.slice(0, section.findings.length).entries())
    check(text.trim().length > 0, `finding ${i + 1} saves nothing in words`);
}

export default function (suite) {
  const { before, regions } = suite.runs;

  for (const [kind, file] of [
    ["region", regions],
    ["site", before],
  ])
    suite.test(
      `only a ${kind}: its work on every tab`,
      { files: [file] },
      async (t, { browser }) => {
        const part = await choose(t, kind);
        await t.hashHas(`run=${encodeURIComponent(part.id)}`, "the part in the hash");
        const report = await browser.json("report", "--json", "--statistics", file);
        const row =
          kind === "region"
            ? report.regions.find((r) => r.region === part.label)
            : report.sites.find((s) => s.site === part.label);
        const seconds = (n) => n / report.ticks_per_second;
        await t.page.locator(".numbers > div").first().waitFor();
        const numbers = await t.page.locator(".numbers > div").allInnerTexts();
        const work = numbers.find((n) => n.includes("work"));
        same(work, seconds(row.work), "work of the part");
        await sameAsSection(t, browser, file, part);
        await t.go(`tab=flame&run=${part.id}`);
        await until(async () => /in total/.test(await t.text(".flame h1 span")), "the flame graph");
        const all = /;\s*(.*) in total/.exec(await t.text(".flame h1 span"))[1];
        same(all, seconds(row.work), "the flame graph of the part");
        for (const tab of [
          "timeline",
          "dag",
          "sites",
          "statistics",
          "whatif",
          "scalability",
          "sql",
        ]) {
          await t.go(`tab=${tab}&run=${part.id}`);
          await t.page.waitForLoadState("networkidle");
          check(
            (await t.page.locator("main [role=alert]").count()) === 0,
            `${tab}: ${await t.text("main")}`,
          );
          check((await t.text("main")).length > 20, `${tab} is empty`);
        }
        // A link that names the part opens it.
        await t.open(`tab=summary&run=${part.id}`);
        await t.page.locator(".banners [aria-label='A part of the run']").waitFor();
        await t.page.locator(".banners").getByRole("button", { name: "Whole run" }).click();
        await until(async () => /worker/.test(await t.text(".verdict")), "the whole run's verdict");
        check(!(await t.hash()).includes("run="), "the whole run is not in the hash");
      },
    );

  suite.test("sections of a task are nodes that open", async (t) => {
    await t.open("tab=dag");
    await until(async () => (await nodes(t.page)).length > 1, "a picture of the DAG");
    await t.page.getByRole("button", { name: "Sections" }).click();
    await t.hashHas("sections=1", "sections in the hash");
    const inside = await answer(t.page, "dag?run=a&ids=t0&sections=1");
    const sections = inside.nodes.t0.items.filter((item) => item.section);
    check(sections.length > 0, "the main thread has no section");
    const plain = (await answer(t.page, "dag?run=a&ids=t0")).nodes.t0.items;
    const work = (items) => items.reduce((sum, item) => sum + (item.work ?? item.weight), 0);
    check(work(plain) === work(inside.nodes.t0.items), "sections change the work");
    // Sections that lead to the first picture are expanded already.
    const key = sections[0].id;
    await until(async () => (await nodes(t.page)).some((n) => n.key === key), `${key} to be shown`);
    const opened = await answer(t.page, `dag?run=a&ids=${key}&sections=1`);
    const steps = opened.nodes[key].items;
    check(steps[0].kind === "strand" && steps[0].creates.length > 0, "it begins with no fork");
    check(
      steps.some((item) => item.kind === "task"),
      "it holds no task",
    );
  });

  suite.test(
    "waits have arcs, and the drawer names who ended them",
    { files: [suite.runs.waits] },
    async (t) => {
      await t.open("tab=timeline");
      const { page } = t;
      await until(
        () => page.evaluate(() => window.__timeline?.scene && !window.__timeline.busy),
        "rows",
      );
      const run = await meta(page);
      if (run.waits === 0) throw new Skip("no thread of this run waited for another");
      const level = run.top_level;
      const told = await page.evaluate(() => window.__timeline.drawn.waits.map((w) => ({ ...w })));
      const strands = await answer(page, `meta`).then(() => run.strands);
      check(strands > 0 && level >= 0, "the run is empty");
      await page.locator(".tl-canvas canvas").focus();
      await page.keyboard.press("l");
      const first = await until(
        async () => /sel=strand:a:(\d+):/.exec(await t.hash())?.[1],
        "a strand that waits",
      );
      const detail = await answer(page, `strand?run=a&id=${first}`);
      const wait = detail.waits.find((w) => w.by);
      check(wait, "nobody is known to have ended its waits");
      for (const w of told) check(w.by === null || w.released <= w.end + 1, "ended after its end");
      await until(async () => /waited/.test(await t.text(".drawer")), "the wait in the drawer");
      const words = await t.text(".drawer");
      const label = run.threads[wait.by.row]?.label;
      check(label && words.includes(`${label} ended it`), `${label} is not named: ${words}`);
      if (wait.by.strand === null) return;
      await page.keyboard.press("h");
      await t.hashHas(`sel=strand:a:${wait.by.strand}:`, "the strand that ended the wait");
      await until(async () => /others waited/.test(await t.text(".drawer")), "who waited for it");
    },
  );
}
