/**
 * A trace written to harm the person who opens it: names with markup, paths that point outside, an
 * absurd number of sites.
 */

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, until } from "./harness.mjs";

const HARM = "window.__harm=1";
const NAMES = [
  `<img src=x onerror=${HARM}>`,
  `</script><script>${HARM}</script>`,
  `"><svg onload=${HARM}>.rs:4`,
  `javascript:${HARM}//x.rs:5`,
  "../../../../../../../../../etc/passwd:1",
  "/etc/passwd:1",
  "a\u0000b\u001b[31m\u202e.rs:6",
];
const SITES = 20_000;

/** The root creates a task at each site; a second worker runs them one after the other. */
function write(path) {
  if (existsSync(path)) return path;
  const sites = [...NAMES, ...Array.from({ length: SITES }, (_, i) => `made/up${i}.c:${i + 1}`)];
  const lines = [
    {
      workspan_trace: 1,
      workers: 2,
      time_unit: "ns",
      steals: "child",
      name: NAMES[0],
      runtime: NAMES[1],
      command: NAMES[2],
    },
    { ev: "begin", t: 0, w: 0, task: 0 },
  ];
  sites.forEach((site, i) => {
    const t = i * 10,
      task = i + 1;
    lines.push(
      { ev: "create", t, w: 0, task: 0, child: task, site },
      { ev: "resume", t, w: 0, task: 0 },
      { ev: "begin", t, w: 1, task },
      { ev: "end", t: t + 10, w: 1, task },
    );
  });
  const t = sites.length * 10;
  lines.push(
    { ev: "wait", t, w: 0, task: 0 },
    { ev: "resume", t, w: 0, task: 0 },
    { ev: "end", t, w: 0, task: 0 },
  );
  writeFileSync(path, lines.map((line) => JSON.stringify(line)).join("\n") + "\n");
  return path;
}

/** No part of a name became markup of the page. */
async function unharmed(t, where) {
  const found = await t.page.evaluate(() => ({
    harm: window.__harm ?? null,
    elements: [
      ...document.querySelectorAll(
        "img, iframe, object, embed, body script:not([id]):not([type]), [onerror], [onload]",
      ),
    ].map((e) => e.outerHTML.slice(0, 80)),
    links: [...document.querySelectorAll("a[href]")]
      .map((a) => a.getAttribute("href"))
      .filter((href) => !/^[#.]|^$/.test(href)),
  }));
  check(found.harm === null, `${where}: a script of the trace ran`);
  const foreign = found.elements.filter(
    (e) => e.includes("__harm") || e.startsWith("<img") || e.startsWith("<iframe"),
  );
  check(foreign.length === 0, `${where}: ${foreign.join(" ")}`);
  check(
    !found.links.some((href) => href.startsWith("javascript:")),
    `${where}: ${found.links.join(" ")}`,
  );
}

export default function (suite) {
  const file = write(join(suite.browser.folder, "hostile.jsonl"));

  suite.both(
    "no name of a trace becomes part of the page",
    { files: [file], slow: 3, reportFlags: ["--budget", "1MB"] },
    async (t) => {
      for (const tab of ["summary", "timeline", "dag", "scalability", "sites", "whatif"]) {
        await t.go(`tab=${tab}`);
        await t.page.waitForTimeout(800);
        // A report has no room for all answers about this many sites.
        const alerts = (await t.page.locator("main [role=alert]").allInnerTexts()).filter(
          (words) => !/does not contain it/.test(words),
        );
        check(alerts.length === 0, `${tab}: ${alerts.join(" ")}`);
        await unharmed(t, tab);
      }
    },
  );

  suite.both(
    "sites beyond the first thousands are counted",
    { files: [file], slow: 3, reportFlags: ["--budget", "1MB"] },
    async (t) => {
      await t.open("tab=sites");
      await until(
        async () => /further sites/.test(await t.text(".sites")),
        "how many sites have no row",
      );
      const rows = await t.page.locator(".sites table tr").count();
      check(rows < 20_000, `${rows} rows`);
      await t.page.locator(".sites input").first().fill("passwd");
      await until(async () => /passwd/.test(await t.text(".sites table")), "the site by its name");
      await unharmed(t, "the filtered table");
    },
  );

  suite.test(
    "a path that points outside is not opened",
    { files: [file], allow: /status of 404/ },
    async (t) => {
      await t.open("tab=sites");
      for (const name of ["../../../../../../../../../etc/passwd", "/etc/passwd"]) {
        const answer = await t.page.evaluate(async (name) => {
          const reply = await fetch(`api/v1/source?run=a&file=${encodeURIComponent(name)}`);
          return reply.json();
        }, name);
        check(!answer.lines?.length, `${name}: ${JSON.stringify(answer).slice(0, 200)}`);
        check((answer.missing ?? answer.error ?? "").length > 10, `${name}: no word why not`);
      }
    },
  );
}
