/** Empty and bad states have their own messages. */

import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { check, until } from "./harness.mjs";
import { noLength } from "./textTraces.mjs";

export default function (suite) {
  suite.test(
    "statistics of processes: what moved between workers stands beside the matrix",
    { files: [suite.runs.ranks] },
    async (t) => {
      await t.open("tab=statistics");
      const table = t.page.getByRole("table", { name: "Moved strands by worker" });
      await table.waitFor();
      const sum = async (of) =>
        (await table.locator(of).allInnerTexts()).map(Number).reduce((a, b) => a + b, 0);
      const [after, made] = [await sum(".c-went-on"), await sum(".c-made")];
      check(after > 0 && after === made, `${after} went on, ${made} were made ready`);
    },
  );

  suite.test(
    "the server goes away: words, and the view stays",
    { own: true, allow: /ERR_|Failed to load/ },
    async (t, { server }) => {
      await t.open("tab=summary");
      await t.page.waitForSelector(".verdict");
      const verdict = await t.text(".verdict");
      await server.stop();
      await t.page.keyboard.press("6");
      await t.page.keyboard.press("7");
      await t.page.keyboard.press("2");
      await until(async () => (await t.text(".banners")).includes("does not answer"), "the banner");
      await t.page.keyboard.press("1");
      check((await t.text(".verdict")) === verdict, "the view went with the server");
    },
  );

  const nothing = join(suite.browser.folder, "nothing.jsonl");
  writeFileSync(nothing, noLength());
  suite.test(
    "a run of no length: why, what to do, and no bounds",
    { files: [nothing] },
    async (t) => {
      for (const tab of ["summary", "timeline", "dag", "flame", "scalability", "whatif"]) {
        await t.open(`tab=${tab}`);
        const facts = t.page.getByRole("table", { name: "What was recorded" });
        await facts.waitFor();
        const words = await t.text("main");
        check(words.includes("workspan sql nothing.jsonl"), `${tab}: no command`);
        check(!/at most [\d.]+×/.test(words), `${tab}: a bound`);
        check((await t.page.locator("h1").count()) === 1, `${tab}: headings`);
      }
    },
  );

  suite.test("one worker", { files: [suite.runs.one] }, async (t) => {
    await t.open("tab=summary");
    await t.page.waitForSelector(".verdict");
    check(
      (await t.text(".summary aside")).includes("one worker"),
      "nobody says that there was one worker",
    );
  });

  for (const tab of ["timeline", "dag", "scalability", "sites"])
    suite.test(`one worker: ${tab}`, { files: [suite.runs.one] }, async (t) => {
      await t.go(`tab=${tab}`);
      await t.page.waitForTimeout(800);
      check((await t.page.locator("[role=alert]").count()) === 0, await t.text("main"));
    });

  suite.test(
    "a truncated trace is shown as far as it goes, and says what is missing",
    { files: [suite.runs.truncated] },
    async (t) => {
      await t.open("tab=summary");
      await until(
        async () => /truncat|cut|damage|intact|missing/i.test(await t.text(".banners")),
        "a banner about the damage",
      );
    },
  );

  suite.test("OpenMP", { files: [suite.runs.openmp] }, async (t) => {
    for (const tab of ["summary", "timeline", "dag", "scalability", "sites", "whatif"]) {
      await t.go(`tab=${tab}`);
      await t.page.waitForTimeout(600);
      check(
        (await t.page.locator("main [role=alert]").count()) === 0,
        `${tab}: ${await t.text("main")}`,
      );
    }
  });

  suite.test(
    "a report that was damaged on its way says so",
    { report: true },
    async (t, { browser }) => {
      const from = new URL(t.base).pathname,
        to = join(browser.folder, "damaged.html");
      copyFileSync(from, to);
      const text = readFileSync(to, "utf8");
      const at = text.lastIndexOf('id="workspan-data"');
      check(at > 0, "the report has no data");
      writeFileSync(to, text.slice(0, at + 400) + "</script></body></html>");
      t.base = pathToFileURL(to).href;
      // Opening the new file must not count as an outside request.
      await t.page.goto("about:blank");
      await t.page.route("**/*", (r) => r.continue());
      const page = await t.page.context().newPage();
      await page.goto(t.base);
      await page.waitForSelector("[role=alert]");
      check((await page.innerText("[role=alert]")).includes("can't be shown"), "no words");
    },
  );

  suite.test("what a report does not carry has words, not a blank", { report: true }, async (t) => {
    await t.open("tab=timeline&sel=strand:a:1:0");
    await t.page.waitForTimeout(600);
    const words = await t.text(".drawer");
    check(words.length > 20, "the drawer is blank");
  });
}
