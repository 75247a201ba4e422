/** Summary: the report's words and numbers, and findings that lead to their place. */

import { check } from "./harness.mjs";

export default function (suite) {
  suite.both("the verdict is the biggest thing, and the terminal's", async (t) => {
    await t.open("tab=summary");
    await t.page.waitForSelector(".verdict");
    const verdict = await t.text(".verdict");
    check(verdict.length > 20, `no verdict: ${verdict}`);
    const sizes = await t.page.evaluate(() => {
      const size = (e) => parseFloat(getComputedStyle(e).fontSize);
      const v = document.querySelector(".verdict");
      return {
        own: size(v),
        most: Math.max(
          ...[...document.querySelectorAll("main *")]
            .filter((e) => !v.contains(e) && e.textContent)
            .map(size),
        ),
      };
    });
    check(sizes.own > sizes.most, `verdict ${sizes.own} px, something else ${sizes.most} px`);
  });

  suite.both("the parts of the bar are the report's breakdown", async (t) => {
    await t.open("tab=summary");
    const label = await t.page
      .locator("svg[aria-label^='Where the worker time went']")
      .getAttribute("aria-label");
    const shares = [...label.matchAll(/·\s*<?([\d.]+)\s*%/g)].map((m) => Number(m[1]));
    check(shares.length >= 2, label);
    const sum = shares.reduce((a, b) => a + b, 0);
    check(Math.abs(sum - 100) < 3, `the shares add up to ${sum}: ${label}`);
  });

  suite.both("a finding opens the timeline at its place, with its strand selected", async (t) => {
    await t.open("tab=summary");
    await t.page.locator(".finding .button").first().click();
    const hash = await t.hashHas("tab=timeline", "the timeline");
    check(/[&#]t=[\d.]+,[\d.]+/.test(hash), `no range in ${hash}`);
    check(/sel=(strand|site|code)/.test(hash), `nothing selected in ${hash}`);
    check(/finding=1/.test(hash), `no finding in ${hash}`);
    await t.page.waitForSelector(".drawer");
    await t.page.goBack();
    await t.page.waitForSelector(".verdict");
  });

  suite.both("places lead to the source", async (t) => {
    await t.open("tab=summary");
    const place = t.page.locator(".summary .place.link").first();
    await place.waitFor();
    const text = await place.innerText();
    await place.click();
    await t.page.waitForSelector(".sites");
    const hash = await t.hashHas("sel=line");
    const line = /:(\d+)$/.exec(text)?.[1];
    check(
      !line || hash.endsWith(`:${line}`) || hash.includes(`:${line}&`),
      `${text} led to ${hash}`,
    );
  });

  for (const run of ["before", "after", "openmp", "waits", "pools", "truncated", "simulated"])
    suite.test(
      `the tabs name the line of the first finding: ${run}`,
      { files: [suite.runs[run]] },
      async (t) => {
        await t.open("tab=summary");
        await t.page.waitForSelector(".summary");
        await t.page.waitForLoadState("networkidle");
        const place = (selector) =>
          t.page.evaluate(
            (s) => document.querySelector(s)?.querySelector(".place")?.innerText ?? null,
            selector,
          );
        const title = await place(".finding .title");
        await t.go("tab=dag");
        await t.page.waitForSelector(".verdict-chip");
        const chip = await place(".verdict-chip");
        check(chip === title, `${chip} beside the tabs, ${title} in the first finding`);
      },
    );

  for (const run of ["before", "openmp", "simulated", "budget"])
    for (const [width, height] of [
      [1920, 1080],
      [2560, 1440],
    ])
      suite.test(
        `a large window is used: ${run}, ${width} by ${height}`,
        { files: [suite.runs[run]], viewport: { width, height } },
        async (t) => {
          await t.open("tab=summary");
          await t.page.waitForSelector(".summary.wide .finding, .summary.wide .state");
          await t.page.waitForLoadState("networkidle");
          const { left, right, inner, plots } = await t.page.evaluate(() => {
            const main = document.querySelector("main").getBoundingClientRect();
            const end = (column) =>
              (document.querySelector(column).lastElementChild.getBoundingClientRect().bottom -
                main.top) /
              main.height;
            const plots = [...document.querySelectorAll(".wide .strip > svg, .wide canvas")];
            return {
              left: end(".wide .when"),
              right: end(".wide .what"),
              inner: document.querySelector(".wide").scrollHeight / main.height,
              plots: plots.map((e) => Math.round(e.getBoundingClientRect().width)),
            };
          });
          check(left > 0.9, `the left column ends at ${left} of the height`);
          check(right > 0.7, `the right column ends at ${right} of the height`);
          check(inner < 1.5, `${inner} windows high`);
          check(new Set(plots).size <= 1, `the rows' axis is not the profile's: ${plots}`);
        },
      );
}
