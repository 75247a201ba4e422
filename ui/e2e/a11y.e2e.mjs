/** axe-core (WCAG 2.2 AA and its best practices) finds nothing on any tab, in either theme. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { check } from "./harness.mjs";

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
/** The themes differ in colours alone. */
const COLOURS = { runOnly: { type: "rule", values: ["color-contrast", "link-in-text-block"] } };

/** Texts on grounds of one colour that are too alike: some of which axe passes over. */
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

export default function (suite) {
  for (const dark of [false, true])
    for (const tabs of [TABS.slice(0, 5), TABS.slice(5)])
      suite.test(
        `axe: ${tabs.join(", ")}, ${dark ? "dark" : "light"}`,
        { files: [suite.runs.before, suite.runs.after], still: true, slow: 2 },
        async (t) => {
          const found = [];
          await t.open("tab=summary");
          await t.page.evaluate(AXE);
          for (const tab of tabs) {
            await t.go(`tab=${tab}${dark ? "&theme=dark" : ""}`);
            await t.page.waitForLoadState("networkidle");
            await t.page.waitForTimeout(800);
            const all = await t.page.evaluate(
              async (options) => {
                const { violations } = await window.axe.run(document, options);
                return violations.map(
                  (v) =>
                    `${v.id}: ${v.nodes
                      .map((n) => `${n.target.join(" ")} ${n.any[0]?.message ?? ""}`)
                      .slice(0, 4)
                      .join("; ")}`,
                );
              },
              dark ? COLOURS : ALL,
            );
            all.push(...(await t.page.evaluate(alike)));
            found.push(...all.map((words) => `${tab}: ${words}`));
          }
          check(found.length === 0, found.join("\n    "));
        },
      );
}
