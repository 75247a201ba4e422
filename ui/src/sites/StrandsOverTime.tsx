/** Running strands of a site over the whole run, by code: the table's small charts made large. */

import { codeColour } from "../codeColours";
import type { RunMeta, SiteExtra } from "../data/contract";
import { axisTime, plainNumber, plural, roundSteps } from "../format";
import { dark } from "../theme/theme";
import { paintOf, Swatch } from "../components/widgets";
import { areas, topOf } from "./areas";
import type { Row } from "./siteRows";

/** Codes named in the legend. */
const MAX_NAMED = 5;

export function StrandsOverTime({
  row,
  extra,
  run: r,
}: {
  row: Row;
  extra: SiteExtra;
  run: RunMeta;
}) {
  const blocks = extra.blocks.filter((b) => b.spark.some((v) => v > 0));
  if (blocks.length === 0 || !(r.elapsed > 0)) return null;
  const site = r.sites[row.site];
  const name = row.kind === "site" ? row.name : (site?.function ?? site?.label ?? row.name);
  const stack = areas(blocks.map((b) => b.spark));
  const top = topOf(stack.peak, r.workers);
  const seconds = r.elapsed / r.ticks_per_second;
  const marks = roundSteps(0, seconds, 8);
  const levels = [...new Set([0, top / 2, top])].filter((n) => Number.isInteger(n));
  const chosen = row.kind === "block" ? row.code : null;
  const label = (code: number) => r.codes[code]?.label ?? "other code";
  return (
    <div class="over-time">
      <div class="head">
        <h2>
          <span class="fn">{name}</span> over time{" "}
          <span>
            mean running strands by code, on the CPU or not; at most {plainNumber(stack.peak)} on{" "}
            {plural(r.workers, "worker")}
          </span>
        </h2>
        <span class="end">
          <span class="legend">
            {blocks.slice(0, MAX_NAMED).map((b) => (
              <span key={b.code}>
                <Swatch of={codeColour(r.codes, b.code, dark.value)} /> {label(b.code)}
              </span>
            ))}
            {blocks.length > MAX_NAMED && <span>{blocks.length - MAX_NAMED} more</span>}
          </span>
        </span>
      </div>
      <div
        class="plot"
        role="img"
        aria-label={`Mean running strands of ${name} over time, from 0 to ${top}`}
      >
        {levels.map((n) => (
          <span key={n} class="level" style={{ bottom: `${(100 * n) / top}%` }}>
            {n}
          </span>
        ))}
        {stack.outlines.map((outline, i) => {
          const b = blocks[i]!;
          return (
            <div
              key={b.code}
              class={`area ${chosen !== null && chosen !== b.code ? "dim" : ""}`}
              title={label(b.code)}
              style={{
                ...paintOf(codeColour(r.codes, b.code, dark.value)),
                clipPath: `polygon(${outline
                  .map(
                    ([x, y]) => `${(100 * x).toFixed(2)}% ${(100 - (100 * y) / top).toFixed(2)}%`,
                  )
                  .join(",")})`,
              }}
            />
          );
        })}
        {marks.at.map((s) => (
          <span
            key={s}
            class={`tick ${s === 0 ? "first" : s > seconds * 0.97 ? "last" : ""}`}
            style={{ left: `${(100 * s) / seconds}%` }}
          >
            {axisTime(s, marks.step)}
          </span>
        ))}
      </div>
    </div>
  );
}
