/** Compare and What-if on real runs. */

import { check, Skip, until } from "./harness.mjs";

export default function (suite) {
  const two = { files: [suite.runs.before, suite.runs.after] };

  suite.both("two runs: the sentence, both bars, the table", two, async (t) => {
    await t.open("tab=compare");
    await t.page.waitForSelector(".compare h1");
    check((await t.text(".compare h1")).length > 10, "no sentence");
    check((await t.page.locator(".compare .side svg[role=img]").count()) === 2, "not two bars");
    const whole = await t.text(".compare aside table");
    for (const word of ["elapsed", "work", "span"])
      check(whole.includes(word), `${word} is missing`);
    check((await t.page.locator(".tl-stack canvas").count()) === 1, "no timelines");
  });

  suite.test("X swaps the runs, and the table turns round", two, async (t) => {
    await t.open("tab=compare");
    await t.page.waitForSelector(".compare h1");
    const cells = async () =>
      (await t.page.locator(".compare aside tbody tr").first().locator("td").allInnerTexts()).slice(
        1,
        3,
      );
    const [a, b] = await cells();
    await t.page.keyboard.press("x");
    await until(async () => {
      const [x, y] = await cells().catch(() => []);
      return x === b && y === a;
    }, "the turned table");
    await t.hashHas("run=b&with=a");
  });

  suite.test("one run alone says how to open two", async (t) => {
    await t.open("tab=compare");
    await until(async () => (await t.text("main")).includes("workspan view"), "the command");
  });

  suite.test(
    "a run of another program is compared only if it is chosen",
    { files: [suite.runs.before, suite.runs.openmp] },
    async (t) => {
      await t.open("tab=compare");
      const choice = t.page.getByRole("group", { name: "Run to compare with" });
      await choice.waitFor();
      const whole = t.page.locator(".compare aside .table th").last();
      check((await whole.innerText()) !== "change", "compared without a question");
      await choice.getByRole("button").click();
      await until(async () => (await whole.innerText()) === "change", "the comparison");
      await t.hashHas("with=b");
    },
  );

  suite.both("a second run is chosen by its chip and kept in the hash", two, async (t) => {
    await t.open("tab=summary&run=b");
    await t.page.waitForSelector(".verdict");
    check(
      (await t.text("header .run")).includes(suite.runs.after.split("/").pop()),
      "not the second run",
    );
  });

  suite.test("what if: choosing code changes parallelism, span and bounds at once", async (t) => {
    await t.open("tab=whatif");
    await t.page.locator(".whatif .option").first().waitFor();
    await t.page.locator(".whatif .option input").first().check();
    const seen = await until(async () => {
      const s = await t.text(".whatif aside");
      return (
        (/→\s*[\d.]+/.test(s) ||
          s.includes("can't answer") ||
          s.includes("is not in the report")) &&
        s
      );
    }, "an answer");
    if (!/→\s*[\d.]+/.test(seen)) throw new Skip("this server answers no what-ifs");
    const [before, after] = (await t.text(".whatif .pairs > div")).match(/[\d.]+/g).map(Number);
    check(after >= before, `parallelism fell from ${before} to ${after}`);
    await t.page.keyboard.press("Tab");
    const first = await t.text(".whatif .pairs > div");
    await t.page.locator(".whatif .factor input").focus();
    await t.page.keyboard.press("ArrowRight");
    await t.hashHas("factor=4");
    await until(async () => (await t.text(".whatif .pairs > div")) !== first, "another answer");
  });

  suite.test("what if: dragging over source lines chooses them", async (t) => {
    await t.open("tab=whatif");
    const lines = t.page.locator(".whatif .source .line");
    if (
      (await lines
        .first()
        .waitFor({ timeout: 5000 })
        .then(
          () => 1,
          () => 0,
        )) === 0
    )
      throw new Skip("the sources of this run are not here");
    // The source pane opens at the line with the most time, so the first lines may be scrolled out.
    await t.page.waitForTimeout(300);
    const top = await t.page.evaluate(() => {
      const box = document.querySelector(".whatif .lines").getBoundingClientRect();
      return [...document.querySelectorAll(".whatif .source .line")].findIndex(
        (l) => l.getBoundingClientRect().top > box.top + 2,
      );
    });
    const box = async (n) => {
      const i = top + n,
        b = await lines.nth(i).boundingBox();
      return [b.x + 160, b.y + 8];
    };
    await t.page.mouse.move(...(await box(1)));
    await t.page.mouse.down();
    await t.page.mouse.move(...(await box(3)), { steps: 4 });
    await t.page.mouse.up();
    const hash = await t.hashHas("what=lines");
    check(/-\d+/.test(decodeURIComponent(hash)), hash);
    check((await t.page.locator(".whatif .line.chosen").count()) === 3, "not three lines");
  });

  for (const [width, height, beside] of [
    [2560, 1440, true],
    [1440, 900, false],
  ])
    suite.test(
      `at ${width}x${height} the table is ${beside ? "beside" : "below"} the DAGs, and the page does not move`,
      { ...two, viewport: { width, height } },
      async (t) => {
        await t.open("tab=compare");
        await t.page.waitForSelector(".compare section[aria-label='What changed where']");
        const top = (name) =>
          t.page.evaluate(
            (n) => document.querySelector(`section[aria-label='${n}']`).getBoundingClientRect().top,
            name,
          );
        const apart = (await top("What changed where")) - (await top("DAGs"));
        check(beside ? Math.abs(apart) < 2 : apart > 100, `${apart} pixels apart`);
        // A search in the page scrolls whatever can be scrolled, which would hide the heading.
        const moved = await t.page.evaluate(() => {
          const main = document.querySelector("main");
          main.scrollTo(0, 400);
          return main.scrollTop;
        });
        check(moved === 0, `main was scrolled by ${moved}`);
      },
    );
}
