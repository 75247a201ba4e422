/** A run within an overhead budget: every tab marks estimates and gives their uncertainty. */

import { check, until } from "./harness.mjs";
import { same } from "./printed.mjs";

/** The bounds of the span: two numbers, or one if both are printed the same. */
function spanIs(words, low, high) {
  const [, from, to] = /The span is between (.*) and (.*?)\.(?=\s|$)/.exec(words) ?? [];
  const one = /The span is ([\d.,]+\s*\w+)\./.exec(words)?.[1];
  check(from || one, `nothing of the span in “${words}”`);
  if (from) check(from !== to, `two bounds that are printed alike: ${words}`);
  same(from ?? one, low, "the span's lower bound");
  same(to ?? one, high, "the span's upper bound");
}

export default function (suite) {
  suite.both(
    "every tab says what is estimated",
    { files: [suite.runs.budget], slow: 3, reportFlags: ["--budget", "1MB"] },
    async (t, { browser }) => {
      const report = await browser.json("report", "--json", suite.runs.budget);
      const { span_low: low, span_high: high } = report.estimated;
      for (const tab of ["summary", "timeline", "dag", "scalability", "sites", "whatif"]) {
        await t.go(`tab=${tab}`);
        const line = t.page.locator(".banners [aria-label=Estimates]");
        await line.waitFor();
        const words = await line.innerText();
        check(
          /% of the work ran unrecorded/.test(words) && /±\s*[\d.]+\s*%/.test(words),
          `${tab}: ${words}`,
        );
        spanIs(words, low / report.ticks_per_second, high / report.ticks_per_second);
        await until(
          async () => (await t.page.locator("main [role=alert]").count()) === 0,
          `${tab} without an error`,
        );
      }
    },
  );

  suite.test(
    "estimated counts are not shown to the last digit",
    { files: [suite.runs.budget] },
    async (t) => {
      await t.open("tab=sites");
      await until(
        async () => (await t.page.locator(".sites td", { hasText: /^≈/ }).count()) > 0,
        "a count that is an estimate",
      );
      await t.open("tab=summary");
      await until(
        async () => (await t.text(".summary aside")).includes("≈"),
        "the number of tasks as an estimate",
      );
    },
  );
}
