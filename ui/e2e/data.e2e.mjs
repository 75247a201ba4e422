/** Statistics and SQL: the report's numbers, and rows that lead into the timeline. */

import { check, until } from "./harness.mjs";

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
