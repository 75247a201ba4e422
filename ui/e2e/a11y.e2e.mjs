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

export default function (suite) {
  for (const dark of [false, true])
    for (const tab of TABS)
      suite.test(
        `axe: ${tab}, ${dark ? "dark" : "light"}`,
        { files: [suite.runs.before, suite.runs.after], still: true },
        async (t) => {
          await t.open(`tab=${tab}${dark ? "&theme=dark" : ""}`);
          await t.page.waitForLoadState("networkidle");
          await t.page.waitForTimeout(800);
          await t.page.evaluate(AXE);
          const found = await t.page.evaluate(async () => {
            const { violations } = await window.axe.run(document, {
              runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
            });
            return violations.map(
              (v) =>
                `${v.id}: ${v.nodes
                  .map((n) => `${n.target.join(" ")} ${n.any[0]?.message ?? ""}`)
                  .slice(0, 4)
                  .join("; ")}`,
            );
          });
          check(found.length === 0, found.join("\n    "));
        },
      );
}
