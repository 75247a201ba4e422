/** Statistics and SQL: the report's numbers, and rows that lead into the timeline. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, until } from "./harness.mjs";
import { manyWorkers } from "./textTraces.mjs";

const WORKERS = 90;

export default function (suite) {
  suite.both("the statistics' tables have the report's numbers", async (t) => {
    await t.open("tab=statistics");
    const table = t.page.getByRole("table", { name: "Ready times by edge" });
    await table.waitFor();
    check((await table.locator("tbody tr").count()) > 0, "no edge");
    const lengths = t.page.getByRole("table", { name: "Lengths by spawn site" });
    check((await lengths.locator("tbody tr[data-row]").count()) > 0, "no site");
  });

  suite.test("the steal matrix adds up to the steals", async (t) => {
    await t.open("tab=statistics");
    const report = await t.page.evaluate(async () => (await fetch("api/v1/report?run=a")).json());
    const steals = report.statistics.steals;
    const shown = await t.page.locator(".matrix svg").getAttribute("aria-label");
    const known = steals.matrix.flat().reduce((a, b) => a + b, 0);
    check(shown.startsWith(known.toLocaleString("en")), `${shown}; the report has ${known}`);
  });

  const many = join(suite.browser.folder, "many-workers.jsonl");
  writeFileSync(many, manyWorkers(WORKERS));
  suite.test("the steal matrix has every pair of many workers", { files: [many] }, async (t) => {
    await t.open("tab=statistics");
    const matrix = t.page.locator(".matrix svg");
    await matrix.waitFor();
    const shown = await matrix.getAttribute("aria-label");
    check(shown.startsWith(`${WORKERS - 1} strands`), `all steals: ${shown}`);
    // Each cell has its words under the pointer.
    const picture = matrix.locator("image");
    await picture.scrollIntoViewIfNeeded();
    const box = await picture.boundingBox();
    const cell = box.width / WORKERS;
    for (const [thief, victim, n] of [
      [85, 84, 1],
      [85, 3, 0],
    ]) {
      await t.page.mouse.move(box.x + (victim + 0.5) * cell, box.y + (thief + 0.5) * cell);
      const wanted = `W${thief} took ${n} from W${victim}`;
      await until(async () => (await t.text(".matrix .told")) === wanted, wanted);
    }
    // A click shows the workers around the cell, with names and numbers.
    await t.page.mouse.click(box.x + 84.5 * cell, box.y + 85.5 * cell);
    const titles = matrix.locator("rect title");
    await until(async () => (await titles.count()) === 400, "20 × 20 cells");
    const cells = await titles.allTextContents();
    check(cells.includes("W85 took 1 from W84"), cells.slice(0, 3).join("; "));
    await t.page.getByRole("button", { name: "Show all" }).click();
    await picture.waitFor();
  });

  suite.test("an exported timeline has the rows below the window", { files: [many] }, async (t) => {
    await t.open("tab=timeline");
    await t.page.waitForFunction(() => window.__timeline?.scene);
    const hidden = await t.page.evaluate(() => {
      const { rows } = window.__timeline.scene.bands;
      return rows.total - rows.h;
    });
    check(hidden > 0, "all rows are in sight");
    await t.page.getByRole("button", { name: "Export this view" }).click();
    const [download] = await Promise.all([
      t.page.waitForEvent("download"),
      t.page.getByRole("menuitem", { name: /svg, as shown/i }).click(),
    ]);
    const svg = readFileSync(await download.path(), "utf8");
    const labels = [...svg.matchAll(/>W(\d+)</g)].map(([, n]) => Number(n));
    check(Math.max(...labels) > WORKERS - 4, `the last row is W${Math.max(...labels)}`);
  });

  suite.test("a row of an answer leads to its strand in the timeline", async (t) => {
    await t.open("tab=sql");
    const rows = t.page.locator(".sql .answer tbody tr");
    await rows.first().waitFor({ timeout: 30_000 });
    const strand = (await rows.first().locator("td").nth(2).innerText()).replace(/,/g, "");
    await rows.first().getByRole("button").click();
    await t.hashHas(new RegExp(`tab=timeline.*sel=strand:a:${strand}`), `strand ${strand}`);
  });

  suite.test(
    "a wrong query gets words, and none may write",
    { allow: /400|Failed to load/ },
    async (t) => {
      await t.open("tab=sql");
      const query = t.page.getByRole("textbox", { name: "Query in SQL" });
      for (const [text, words] of [
        ["select nonsense from strands", /no such column/],
        ["delete from strands", /authorized|prohibited|only read/],
      ]) {
        await query.fill(text);
        await query.press("Control+Enter");
        await until(
          async () => words.test(await t.text(".sql .answer")),
          `words about \`${text}\``,
        );
      }
      await query.fill("select count(*) as n from tasks;");
      await query.press("Control+Enter");
      await until(
        async () => /\bn\b/.test(await t.text(".sql .answer")),
        "the answer to a right one",
      );
    },
  );
}
