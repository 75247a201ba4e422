/** A run within an overhead budget: every tab says what is an estimate, and how sure it is. */

import { check, until } from "./harness.mjs";

export default function (suite) {
  suite.both(
    "every tab says what is estimated",
    { files: [suite.runs.budget], slow: 3, reportFlags: ["--budget", "1MB"] },
    async (t) => {
      for (const tab of ["summary", "timeline", "dag", "scalability", "sites", "whatif"]) {
        await t.go(`tab=${tab}`);
        const line = t.page.locator(".banners [aria-label=Estimates]");
        await line.waitFor();
        const words = await line.innerText();
        check(
          /% of the work ran unrecorded/.test(words) &&
            /±\s*[\d.]+\s*%/.test(words) &&
            /The span is (between .* and |[\d.]+\s*\w+\.)/.test(words),
          `${tab}: ${words}`,
        );
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
