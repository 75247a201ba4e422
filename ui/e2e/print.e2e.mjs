/** Print: one A4 page a tab, with the run's name and the whole view, also of many workers. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { check, until } from "./harness.mjs";
import { manyWorkers } from "./textTraces.mjs";

const TABS = [
  "summary",
  "timeline",
  "dag",
  "flame",
  "scalability",
  "sites",
  "whatif",
  "compare",
  "statistics",
  "sql",
];

/** Streams with more bytes than this are images. */
const MAX_OBJECTS = 1 << 20;

/** Number of pages of a PDF, and width and height of the first page in points. */
function pagesOf(pdf) {
  const whole = pdf.toString("latin1");
  // The PDF's objects are in compressed streams.
  const parts = [whole];
  for (const found of whole.matchAll(/stream\r?\n([\s\S]*?)endstream/g))
    try {
      const packed = Buffer.from(found[1], "latin1");
      parts.push(inflateSync(packed, { maxOutputLength: MAX_OBJECTS }).toString("latin1"));
    } catch {
      // An image, or a stream that is not compressed.
    }
  const text = parts.join("\n");
  const box = /MediaBox\s*\[\s*[\d.]+ [\d.]+ ([\d.]+) ([\d.]+)/.exec(text);
  return {
    pages: text.match(/\/Type\s*\/Page(?![a-z])/g)?.length ?? 0,
    size: [Number(box?.[1]), Number(box?.[2])].sort((a, b) => a - b),
  };
}

export default function (suite) {
  const { before, after } = suite.runs;

  for (const [width, height] of [
    [1024, 700],
    [2560, 1440],
  ])
    suite.test(
      `each tab is one A4 page, from a window of ${width} by ${height}`,
      { files: [before, after], still: true, slow: 2, viewport: { width, height } },
      async (t) => {
        for (const tab of TABS) {
          await t.open(`tab=${tab}`);
          await t.page.waitForLoadState("networkidle");
          await until(
            async () => (await t.page.locator("main .waiting").count()) === 0,
            `${tab} to be there`,
          );
          const pdf = await t.page.pdf({ preferCSSPageSize: true, printBackground: true });
          const { pages, size } = pagesOf(pdf);
          check(pages === 1, `${tab}: ${pages} pages`);
          check(Math.abs(size[0] - 595) < 2 && Math.abs(size[1] - 842) < 2, `${tab}: ${size}`);
          check((await t.page.locator(".print-sheet").count()) === 0, `${tab}: its sheet stays`);
        }
      },
    );

  for (const workers of [90, 128, 300]) {
    const many = join(suite.browser.folder, `many-rows-${workers}.jsonl`);
    writeFileSync(many, manyWorkers(workers));
    suite.test(`all ${workers} rows are on the one page`, { files: [many] }, async (t) => {
      await t.open("tab=timeline");
      await until(
        () => t.page.evaluate(() => window.__timeline?.scene && !window.__timeline.busy),
        "the timeline to have all its tiles",
      );
      const compact = await t.page.evaluate(() => window.__timeline.scene.bands.rows.compact);
      check(compact, "the rows of the window are not compact");
      const pdf = await t.page.pdf({ preferCSSPageSize: true, printBackground: true });
      const { pages } = pagesOf(pdf);
      check(pages === 1, `${pages} pages`);
      const printed = await t.page.evaluate(() => {
        dispatchEvent(new Event("beforeprint"));
        const sheet = document.querySelector(".print-sheet");
        const box = sheet.querySelector("svg").getBoundingClientRect();
        const named = [...sheet.querySelectorAll("svg text")].filter((e) =>
          /^W\d+$/.test(e.textContent),
        );
        const tops = named.map((e) => e.getBoundingClientRect().top);
        const said = {
          note: sheet.querySelector("header i").innerText,
          rows: named.map((e) => e.textContent),
          inside: tops.every((y) => y > box.top && y < box.bottom),
          nearest: Math.min(...tops.slice(1).map((y, i) => y - tops[i])),
          text: named[0].getBoundingClientRect().height,
        };
        dispatchEvent(new Event("afterprint"));
        return { ...said, left: document.querySelectorAll(".print-sheet").length };
      });
      check(printed.left === 0, "the sheet stays");
      check(printed.inside, "a row is outside of the picture");
      const { rows, note } = printed;
      // A run has 256 rows at most.
      const all = Math.min(workers, 256);
      if (workers <= 128) check(new Set(rows).size === all, `${rows.length} rows: ${rows}`);
      else check(rows.length >= all / 4, `${rows.length} of ${all} rows have names`);
      check(note.startsWith(`All ${all} rows on one page, without `), note);
      check(all === workers || note.includes(`${workers - all} threads that have no row`), note);
      check(/textures/.test(note) === workers > 128, note);
      check(
        printed.nearest > 0.7 * printed.text,
        `names of ${printed.text} are ${printed.nearest} apart`,
      );
    });
  }

  suite.test("a sheet says of what run it is, and has all that scrolls", async (t) => {
    for (const tab of TABS) {
      await t.open(`tab=${tab}`);
      await t.page.waitForLoadState("networkidle");
      await t.page.waitForTimeout(300);
      const sheet = await t.page.evaluate(() => {
        dispatchEvent(new Event("beforeprint"));
        const sheet = document.querySelector(".print-sheet");
        const cut = [...sheet.querySelectorAll(".scroll:not(.lines)")].filter(
          (e) => e.scrollHeight > e.clientHeight + 2 && getComputedStyle(e).overflowY !== "visible",
        );
        const told = sheet.querySelector("header").innerText;
        const blank = [...sheet.querySelectorAll("canvas")].filter((c) => {
          const { data } = c.getContext("2d").getImageData(0, 0, c.width, c.height);
          return !data.some((v, i) => v !== data[i % 4]);
        });
        dispatchEvent(new Event("afterprint"));
        return { told, cut: cut.length, blank: blank.length };
      });
      check(/workers busy · at most [\d.]+×/.test(sheet.told), `${tab}: ${sheet.told}`);
      check(sheet.told.includes(".wspan"), `${tab}: no file in ${sheet.told}`);
      check(sheet.cut === 0, `${tab}: ${sheet.cut} parts are cut`);
      check(sheet.blank === 0, `${tab}: ${sheet.blank} pictures are blank`);
    }
  });

  suite.test("Ctrl P lays the page out for paper, in light colours, and back", async (t) => {
    await t.page.addInitScript(() => {
      window.printed = [];
      window.print = () =>
        window.printed.push({
          width: document.querySelector(".frame").clientWidth,
          theme: document.documentElement.dataset.theme,
        });
    });
    await t.open("tab=timeline&theme=dark");
    const width = () => t.page.evaluate(() => document.querySelector(".frame").clientWidth);
    const shown = await width();
    await t.page.keyboard.press("Control+p");
    const printed = await until(
      async () => (await t.page.evaluate(() => window.printed)).at(0),
      "the page to be printed",
    );
    check(printed.width === 1240, `${printed.width} pixels wide`);
    check(printed.theme === "light", `printed ${printed.theme}`);
    await until(async () => (await width()) === shown, "the window's width again");
    const theme = await t.page.evaluate(() => document.documentElement.dataset.theme);
    check(theme === "dark", `the theme is ${theme} afterwards`);
  });
}
