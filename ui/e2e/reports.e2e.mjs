/** Reports of selections, search with steps, groups of rows, and runs side by side in Compare. */

import { check, until } from "./harness.mjs";

const DRAWER = ".drawer";

export default function (suite) {
  const { before, after, one, simulated } = suite.runs;

  suite.both("a site has the report that a range has", async (t) => {
    await t.open("tab=timeline&sel=site:a:1");
    for (const label of ["Where its worker time went", "Code by time", "Steals"])
      await t.page.locator(`${DRAWER} table[aria-label='${label}']`).waitFor();
    check((await t.text(DRAWER)).includes("mean parallelism"), "no mean parallelism");
  });

  suite.both("a task shows itself, and on demand all it created", async (t) => {
    await t.open("tab=timeline&sel=task:a:0");
    await t.page.locator(`${DRAWER} .facts`).waitFor();
    await t.page.getByRole("radio", { name: "With descendants" }).click();
    await t.page.locator(`${DRAWER} table[aria-label='Code by time']`).waitFor();
    const rows = t.page.locator(`${DRAWER} table[aria-label='Where its worker time went'] tr`);
    await rows.first().waitFor();
    const parts = await rows.allInnerTexts();
    check(parts.at(-1).includes("100"), `the parts do not add up: ${parts}`);
    await t.page.getByRole("radio", { name: "Task", exact: true }).click();
    await t.page.locator(`${DRAWER} .facts`).waitFor();
  });

  suite.test("Shift and a click add a row to the one that is selected", async (t) => {
    const several = /sel=row:a:\d+(,|%2C)\d+/;
    let hash = "";
    // The position of the rows depends on the window. The first place with another row counts.
    for (const part of [0.55, 0.65, 0.75, 0.85, 0.95]) {
      await t.open("tab=timeline&sel=row:a:0");
      await t.page.locator(DRAWER).waitFor();
      await t.page.waitForTimeout(600);
      const box = await t.page.locator("main canvas").first().boundingBox();
      await t.page.keyboard.down("Shift");
      await t.page.mouse.click(box.x + 40, box.y + part * box.height);
      await t.page.keyboard.up("Shift");
      await t.page.waitForTimeout(300);
      hash = await t.hash();
      if (several.test(hash)) break;
    }
    check(several.test(hash), `no second row: ${hash}`);
    check((await t.text(DRAWER)).includes("2 rows"), "the drawer is not of two rows");
  });

  suite.both("search steps through the places of what was found", async (t) => {
    await t.open("tab=timeline");
    await t.page.keyboard.press("/");
    await t.page.keyboard.type("msort");
    await t.page.locator("#found .row").first().waitFor();
    await t.page.keyboard.press("Enter");
    const told = t.page.locator(".search .steps > span").first();
    await told.waitFor();
    await t.page.keyboard.press("g");
    await until(async () => /^1 of /.test(await told.innerText()), "the first place");
    const first = await t.hashHas(/sel=strand:a:\d+/);
    await t.page.keyboard.press("g");
    await until(async () => /^2 of /.test(await told.innerText()), "the second place");
    await until(async () => (await t.hash()) !== first, "another strand");
    await t.page.keyboard.press("Shift+G");
    await until(async () => /^1 of /.test(await told.innerText()), "the first place again");
  });

  suite.test("rows stand under heads, and the link has it", async (t) => {
    await t.open("tab=timeline&rows=by-tens");
    await t.page.getByLabel("Groups of rows").selectOption("pool");
    await t.hashHas("by-pool");
    await t.page.getByLabel("Groups of rows").selectOption("none");
    await until(async () => !(await t.hash()).includes("by-"), "no groups in the link");
  });

  suite.test("the DAG opens to a depth", async (t) => {
    await t.open("tab=dag");
    const depth = t.page.getByLabel("Depth");
    await depth.waitFor();
    await t.page.waitForTimeout(800);
    await depth.selectOption("1");
    await until(async () => (await depth.inputValue()) === "1", "depth 1");
    const few = await t.text("footer");
    await depth.selectOption("3");
    await until(async () => (await depth.inputValue()) === "3", "depth 3");
    await until(async () => (await t.text("footer")) !== few, "more nodes to be shown");
  });

  suite.test(
    "Compare has DAGs, a difference of flame graphs, and further runs below",
    { files: [before, after, one ?? simulated] },
    async (t) => {
      await t.open("tab=compare");
      const canvas = t.page.locator(".tl-stack canvas");
      await canvas.waitFor();
      const height = (await canvas.boundingBox()).height;
      await t.page.locator(".beside button").first().click();
      await t.hashHas("beside=c");
      await until(async () => (await canvas.boundingBox()).height > height, "a higher picture");
      check((await t.page.locator(".dag-pictures canvas").count()) === 3, "not three DAGs");
      const frames = t.page.locator(".difference .frame-box");
      await frames.first().waitFor();
      check((await frames.first().innerText()).includes("same"), "all is not the same as all");
      const words = await frames.evaluateAll((all) => all.map((e) => e.title));
      check(
        words.slice(1).every((w) => /[+−]\d|same/.test(w)),
        `a frame without its sign: ${words.find((w) => !/[+−]\d|same/.test(w))}`,
      );
    },
  );
}
