/** Sites: sorting, filtering and selecting in the table, with the source beside it. */

import { check, until } from "./harness.mjs";

const rows = (t, of = "") => t.page.locator(`.sites tbody tr[data-row]${of}`);
const value = (text) => {
  const m = /([\d.,]+)\s*(s|ms|µs|ns)/.exec(text);
  return m ? Number(m[1].replace(",", "")) * { s: 1, ms: 1e-3, µs: 1e-6, ns: 1e-9 }[m[2]] : NaN;
};

export default function (suite) {
  suite.both("sites with their code, the root first", async (t) => {
    await t.open("tab=sites");
    await rows(t).first().waitFor();
    check((await rows(t).first().innerText()).includes("root"), "the root is not first");
    check((await rows(t, ".sub").count()) > 0, "no code blocks");
  });

  suite.both("sorting by work sorts, and code stays under its site", async (t) => {
    await t.open("tab=sites");
    await t.page.getByRole("button", { name: "work", exact: true }).click();
    const works = (
      await t.page.locator(".sites tbody tr[data-row]:not(.sub) td:nth-child(5)").allInnerTexts()
    ).map(value);
    check(
      works.length > 1 && works.every((w, i) => i === 0 || works[i - 1] >= w),
      `not sorted: ${works}`,
    );
    check(
      !(await rows(t).first().getAttribute("class")).includes("sub"),
      "a code block stands first",
    );
  });

  suite.both("the filter keeps what fits, and says what it does not understand", async (t) => {
    await t.open("tab=sites");
    await rows(t).first().waitFor();
    const all = await rows(t).count();
    await t.page.keyboard.press("f");
    await t.page.keyboard.type("critical>5%");
    const some = await until(async () => {
      const n = await rows(t).count();
      return n < all && n;
    }, "fewer rows");
    check(some > 0, "nothing left");
    await t.page.keyboard.press("ControlOrMeta+a");
    await t.page.keyboard.type("wrok>1ms");
    await until(
      async () => (await t.text(".sites .toolbar")).includes("Unknown column"),
      "words about the filter",
    );
    await t.page.keyboard.press("Escape");
    await until(async () => (await rows(t).count()) === all, "all rows again");
  });

  suite.both("a selected row is in the hash, announced, and its source is shown", async (t) => {
    await t.open("tab=sites");
    const row = rows(t, ".sub").first();
    await row.click();
    await t.hashHas(/sel=(code|site)/);
    check((await t.text("#announcer")).includes("critical"), "not announced");
    check((await row.getAttribute("aria-selected")) === "true", "not marked");
  });

  suite.both("rows are walked with the arrows, Enter goes to the timeline", async (t) => {
    await t.open("tab=sites");
    await rows(t).first().click();
    await t.page.keyboard.press("ArrowDown");
    const selected = t.page.locator(".sites tr[aria-selected=true]");
    await until(
      async () => (await rows(t).nth(1).getAttribute("aria-selected")) === "true",
      "the second row",
    );
    check((await selected.count()) > 0, "nothing selected");
    await t.page.keyboard.press("Enter");
    await t.hashHas("tab=timeline", "the timeline");
  });
}
