/**
 * axe-core (WCAG 2.2 AA and its best practices) has no findings on any tab, with any drawer,
 * dialog or menu, in either theme.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { check } from "./harness.mjs";
import { manyWorkers, noLength } from "./textTraces.mjs";

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
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const ALL = {
  runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
};
/** Rules for the second theme: the themes differ only in colours. */
const CONTRAST = { runOnly: { type: "rule", values: ["color-contrast", "link-in-text-block"] } };

/** Finds texts that are too similar in colour to their plain background; axe skips some of them. */
const alike = () => {
  const lum = (c) => {
    const [r, g, b] = c.map((v) =>
      v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const rgb = (s) => {
    const m = s
      .match(/rgba?\(([^)]+)\)/)?.[1]
      .split(/[ ,/]+/)
      .map(Number);
    return m && (m[3] === undefined || m[3] > 0.99) ? m.slice(0, 3) : null;
  };
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const c = getComputedStyle(e);
      if (c.backgroundImage !== "none") return null;
      const v = rgb(c.backgroundColor);
      if (v) return v;
    }
    return null;
  };
  const out = [];
  for (const e of document.querySelectorAll("body *:not(svg *):not(option)")) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
    const r = e.getBoundingClientRect();
    const s = getComputedStyle(e);
    if (!r.width || s.visibility === "hidden" || s.opacity !== "1" || e.closest(":disabled"))
      continue;
    const [f, b] = [rgb(s.color), ground(e)];
    if (!f || !b) continue;
    const [x, y] = [lum(f), lum(b)];
    const c = (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
    if (c < 4.45) out.push(`${c.toFixed(2)} ${e.className} “${e.textContent.trim().slice(0, 30)}”`);
  }
  return out.slice(0, 5);
};

/**
 * Findings of axe and `alike` on the current page, or only in `part` if something covers the rest
 * of the page.
 */
async function findings(t, name, dark, part) {
  const all = await t.page.evaluate(
    async ([part, options]) => {
      const { violations } = await window.axe.run(part ?? document, options);
      return violations.map(
        (v) =>
          `${v.id}: ${v.nodes
            .map((n) => `${n.target.join(" ")} ${n.any[0]?.message ?? ""}`)
            .slice(0, 4)
            .join("; ")}`,
      );
    },
    [part, dark ? CONTRAST : ALL],
  );
  all.push(...(await t.page.evaluate(alike)));
  return all.map((words) => `${name}: ${words}`);
}

/** Kinds of selection that open a drawer, each with a tab on which it exists. */
const SELECTIONS = [
  ["a strand's drawer", "tab=timeline&sel=strand:a:1:0"],
  ["a task's drawer", "tab=timeline&sel=task:a:1"],
  ["a site's drawer", "tab=timeline&sel=site:a:1"],
  ["a code's drawer", "tab=timeline&sel=code:a:0"],
  ["a row's drawer", "tab=timeline&sel=row:a:0"],
  ["the drawer of two rows", "tab=timeline&sel=row:a:0,1"],
  ["a range's drawer", "tab=timeline&sel=range:a:1000:90000000"],
  ["a range's drawer beside its stacks", "tab=flame&sel=range:a:1000:90000000"],
  ["a task in the DAG", "tab=dag&sel=task:a:1"],
  ["timeline and DAG beside each other", "tab=timeline&split=1&sel=task:a:1"],
  ["two layouts of the DAG", "tab=dag&second=structure"],
  ["a site in Sites", "tab=sites&sel=site:a:1"],
  ["a code in What-if", "tab=whatif&what=code:0"],
];

/**
 * Dialogs, menus and panels that open over or in the page: the tab, and the steps that open them.
 */
const OVERLAYS = [
  ["help", "tab=summary", (p) => p.keyboard.press("?"), "[role=dialog]"],
  ["palette", "tab=summary", (p) => p.keyboard.press("Control+Shift+p"), "[role=dialog]"],
  [
    "search",
    "tab=timeline",
    async (p) => {
      await p.keyboard.press("/");
      await p.keyboard.type("m");
    },
    ".search .menu",
  ],
  [
    "export",
    "tab=timeline",
    (p) => p.getByRole("button", { name: "Export this view" }).click(),
    "[role=menu]",
  ],
  [
    "parts",
    "tab=summary",
    (p) => p.getByRole("button", { name: /choose a part of the run/ }).click(),
    "[role=menu]",
  ],
  ["a term", "tab=summary", (p) => p.locator("main .term").first().focus(), "[role=tooltip]"],
  [
    "the timeline as a table",
    "tab=timeline",
    (p) => p.getByRole("button", { name: "Table" }).click(),
    "main table",
  ],
  [
    "the DAG as a table",
    "tab=dag",
    (p) => p.getByRole("button", { name: "Table" }).click(),
    "main table",
  ],
  [
    "the call tree",
    "tab=flame",
    (p) => p.getByRole("button", { name: "Call tree" }).click(),
    "main table",
  ],
  [
    "an answer in SQL",
    "tab=sql",
    (p) => p.getByRole("button", { name: /^Run/ }).click(),
    "main table",
  ],
];

export default function (suite) {
  const files = [suite.runs.before, suite.runs.after];
  const made = (name, text) => {
    const file = join(suite.browser.folder, name);
    writeFileSync(file, text);
    return file;
  };
  /** Runs with notices, placeholders or pictures of their own, one at a time. */
  const special = [
    ["a run that was cut off", suite.runs.truncated, ["summary", "timeline", "compare"]],
    ["a run of no length", made("axe-nothing.jsonl", noLength()), ["summary", "timeline"]],
    ["many workers", made("axe-many.jsonl", manyWorkers(90)), ["statistics", "compare"]],
  ];
  for (const [name, file, tabs] of special)
    suite.test(`axe: ${name}`, { files: [file], still: true }, async (t) => {
      const found = [];
      await t.open("tab=summary");
      await t.page.evaluate(AXE);
      for (const tab of tabs)
        for (const dark of [false, true]) {
          await t.go(`tab=${tab}${dark ? "&theme=dark" : ""}`);
          await t.page.waitForLoadState("networkidle");
          await t.page.waitForTimeout(500);
          found.push(...(await findings(t, tab, dark)));
        }
      check(found.length === 0, found.join("\n    "));
    });
  for (const dark of [false, true]) {
    const theme = dark ? "dark" : "light";
    for (const tabs of [TABS.slice(0, 5), TABS.slice(5)])
      suite.test(
        `axe: ${tabs.join(", ")}, ${theme}`,
        { files, still: true, slow: 2 },
        async (t) => {
          const found = [];
          await t.open("tab=summary");
          await t.page.evaluate(AXE);
          for (const tab of tabs) {
            await t.go(`tab=${tab}${dark ? "&theme=dark" : ""}`);
            await t.page.waitForLoadState("networkidle");
            await t.page.waitForTimeout(800);
            found.push(...(await findings(t, tab, dark)));
          }
          check(found.length === 0, found.join("\n    "));
        },
      );
    suite.test(`axe: drawers, ${theme}`, { files, still: true, slow: 2 }, async (t) => {
      const found = [];
      await t.open("tab=summary");
      await t.page.evaluate(AXE);
      for (const [name, hash] of SELECTIONS) {
        await t.go(`${hash}${dark ? "&theme=dark" : ""}`);
        await t.page.waitForLoadState("networkidle");
        await t.page.waitForTimeout(500);
        if (/drawer/.test(name))
          check((await t.page.locator(".drawer").count()) === 1, `${name} is not there`);
        found.push(...(await findings(t, name, dark)));
      }
      check(found.length === 0, found.join("\n    "));
    });
    suite.test(
      `axe: dialogs, menus, tables, ${theme}`,
      { files, still: true, slow: 2 },
      async (t) => {
        const found = [];
        for (const [name, hash, act, what] of OVERLAYS) {
          await t.open(`${hash}${dark ? "&theme=dark" : ""}`);
          await t.page.evaluate(AXE);
          await t.page.waitForLoadState("networkidle");
          await act(t.page);
          await t.page.locator(what).first().waitFor();
          await t.page.waitForTimeout(300);
          // What a menu covers cannot be clicked and is not checked.
          found.push(...(await findings(t, name, dark, what.includes("menu") ? what : null)));
        }
        check(found.length === 0, found.join("\n    "));
      },
    );
  }
}
