/** Flame graph and call tree: sums, modes, and links to the other tabs. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, until } from "./harness.mjs";
import { foldedTrace } from "./textTraces.mjs";

const report = (t) => t.page.evaluate(async () => (await fetch("api/v1/report?run=a")).json());
const answer = (t, query) =>
  t.page.evaluate(async (q) => (await fetch(`api/v1/flame?run=a&${q}`)).json(), query);

export default function (suite) {
  suite.test("its widths add up to the work, and to the span on the critical path", async (t) => {
    await t.open("tab=flame");
    const r = await report(t);
    for (const [of, sum] of [
      ["all", r.work],
      ["critical", r.span],
    ])
      for (const recursion of ["", "&recursion=1"]) {
        const flame = await answer(t, `of=${of}${recursion}`);
        const frames = flame.frames.reduce((n, f) => n + f.ticks, 0) + flame.left_out;
        check(frames === flame.total, `${of}: ${frames} in frames, ${flame.total} in all`);
        const omitted = flame.frames.reduce((n, f) => n + (f.omitted?.ticks ?? 0), 0);
        check(omitted === flame.left_out, `${of}: ${omitted} of ${flame.left_out} omitted ticks`);
        const off = Math.abs(flame.total / sum - 1);
        check(off < 0.001, `${of}: ${flame.total}, the report says ${sum}`);
      }
  });

  const folded = join(suite.browser.folder, "folded.jsonl");
  writeFileSync(folded, foldedTrace());
  suite.test(
    "of folded subtrees, their spans are on the critical path, in stacks and in code",
    { files: [folded] },
    async (t) => {
      await t.open("tab=flame");
      const { span } = await report(t);
      const flame = await answer(t, "of=critical");
      check(flame.total === span, `${flame.total} of stacks, span ${span}`);
      const { sites } = await t.page.evaluate(async () =>
        (await fetch("api/v1/sites?run=a")).json(),
      );
      const codes = sites.flatMap((site) => site.blocks);
      const sum = codes.reduce((n, c) => n + c.critical, 0);
      check(sum === span, `${sum} of codes, span ${span}`);
    },
  );

  suite.test("two halves of the run add up to the run", async (t) => {
    await t.open("tab=flame");
    const { runs } = await t.page.evaluate(async () => (await fetch("api/v1/meta")).json());
    const half = Math.round(runs[0].elapsed / 2);
    const [whole, first, second] = [
      await answer(t, "of=all"),
      await answer(t, `of=all&t0=0&t1=${half}`),
      await answer(t, `of=all&t0=${half}&t1=${runs[0].elapsed}`),
    ];
    const off = Math.abs((first.total + second.total) / whole.total - 1);
    check(off < 0.001, `${first.total} and ${second.total} of ${whole.total}`);
  });

  suite.both("frames are walked by keys, zoomed, and lead to the timeline", async (t) => {
    await t.open("tab=flame");
    const frames = t.page.locator(".frame-box");
    await frames.nth(1).waitFor();
    await frames.first().focus();
    await t.page.keyboard.press("ArrowDown");
    await until(
      async () => (await frames.nth(1).getAttribute("aria-pressed")) === "true",
      "the frame below to be selected",
    );
    const name = await frames.nth(1).getAttribute("aria-label");
    check((await t.text(".facts-card h2")).length > 0, "no facts");
    await t.page.keyboard.press("Enter");
    await until(async () => {
      const [a, b] = [await frames.first().boundingBox(), await frames.nth(1).boundingBox()];
      return Math.abs(a.width - b.width) < 2;
    }, `${name} to be as wide as the root`);
    await t.page.getByRole("button", { name: "Show in timeline" }).click();
    await t.hashHas(/tab=timeline.*sel=(site|code)/, "the timeline");
  });

  suite.test("a range is dragged above the stacks and reported on in the drawer", async (t) => {
    await t.open("tab=flame");
    const strip = t.page.locator(".range-strip");
    await t.page.locator(".frame-box").first().waitFor();
    const { runs } = await t.page.evaluate(async () => (await fetch("api/v1/meta")).json());
    const box = await strip.boundingBox();
    const at = (share) => [box.x + share * box.width, box.y + 20];
    const drag = async (from, to) => {
      await t.page.mouse.move(...at(from));
      await t.page.mouse.down();
      await t.page.mouse.move(...at((from + to) / 2));
      await t.page.mouse.move(...at(to));
      await t.page.mouse.up();
    };
    const chosen = async () => {
      const [, t0, t1] = /sel=range:a:(\d+):(\d+)/.exec(await t.hashHas("sel=range:a:"));
      return [Number(t0) / runs[0].elapsed, Number(t1) / runs[0].elapsed];
    };
    const near = (a, b) => Math.abs(a - b) < 0.01;
    await drag(0.2, 0.5);
    let [a, b] = await chosen();
    check(near(a, 0.2) && near(b, 0.5), `${a} to ${b} was dragged`);
    await t.page.locator(".drawer .small-report").first().waitFor();
    const part = await answer(
      t,
      `of=all&t0=${Math.floor(a * runs[0].elapsed)}&t1=${Math.ceil(b * runs[0].elapsed)}&recursion=1`,
    );
    const words = await until(
      async () => /;\s*(.*) in total/.exec(await t.text(".flame h1 span"))?.[1],
      "the sum of the stacks",
    );
    const { printed } = await import("./printed.mjs");
    const off = printed(words).value / (part.total / runs[0].ticks_per_second);
    check(Math.abs(off - 1) < 0.01, `the stacks sum to ${words}, the range to ${part.total}`);
    // An end of the range can be moved with the pointer and with keys.
    await drag(b, 0.7);
    [a, b] = await chosen();
    check(near(a, 0.2) && near(b, 0.7), `${a} to ${b} after the end was moved`);
    await t.page.getByRole("slider", { name: "Start" }).focus();
    await t.page.keyboard.press("Shift+ArrowRight");
    [a, b] = await chosen();
    check(near(a, 0.3) && near(b, 0.7), `${a} to ${b} after a key`);
    // The range is the timeline's selection. A click outside it selects the whole run again.
    await t.page.keyboard.press("2");
    await t.hashHas(/tab=timeline.*sel=range/, "the range in the timeline");
    await t.page.locator(".drawer .small-report").first().waitFor();
    await t.page.keyboard.press("4");
    await strip.waitFor();
    await t.page.mouse.click(...at(0.9));
    await until(async () => !(await t.hash()).includes("sel="), "no selection");
    check((await t.page.locator(".drawer").count()) === 0, "the drawer stays");
    check((await t.text(".flame h1")).includes("the whole run"), "not the whole run");
  });

  suite.both("the call tree has the same stacks", async (t) => {
    await t.open("tab=flame");
    await t.page.locator(".frame-box").first().waitFor();
    await t.page.getByRole("button", { name: "Call tree" }).click();
    const rows = t.page.locator(".flame tbody tr[data-row]");
    await rows.nth(2).waitFor();
    const all = await rows.count();
    await t.page.locator(".flame .fold[aria-expanded=true]").nth(1).click();
    await until(async () => (await rows.count()) < all, "fewer rows");
  });
}
