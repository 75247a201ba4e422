/** Composition of the critical path by code, before and after. */

import { codeColour } from "../codeColours";
import type { CriticalPath, RunMeta } from "../data/contract";
import { percent, ticks } from "../format";
import { dark } from "../theme/theme";
import { paintOf, Section } from "../components/widgets";

/** Weight of the path by code, most first. */
export function composition(path: CriticalPath): { code: number; weight: number }[] {
  const by = new Map<number, number>();
  for (const r of path.rows) by.set(r.code, (by.get(r.code) ?? 0) + r.weight);
  return [...by].map(([code, weight]) => ({ code, weight })).sort((a, b) => b.weight - a.weight);
}

/** Composition of the critical path by code, before and after, on one scale. */
export function PathByCode({
  run: r,
  before,
  after,
  span,
  spanAfter,
  chosen,
}: {
  run: RunMeta;
  before: { code: number; weight: number }[];
  after: { code: number; weight: number }[] | undefined;
  span: number;
  spanAfter: number | undefined;
  chosen: string[];
}) {
  const bar = (list: { code: number; weight: number }[], word: string, total: number) => {
    const all = list.reduce((n, c) => n + c.weight, 0) || 1;
    // Parts too thin to see are one grey piece.
    const seen = list.filter((c) => c.weight / all >= 0.012);
    const rest = all - seen.reduce((n, c) => n + c.weight, 0);
    return (
      <div class="composed">
        <span class="dim">{word}</span>
        <div
          class="bar"
          role="img"
          aria-label={`${word}: ${list
            .slice(0, 6)
            .map((c) => `${r.codes[c.code]?.label ?? "other"} ${percent(c.weight / all)}`)
            .join(", ")}`}
        >
          {seen.map((c) => {
            const k = codeColour(r.codes, c.code, dark.value);
            const share = (c.weight / all) * (total / span) * 100;
            return (
              <i
                key={c.code}
                style={{ width: `${share}%`, ...paintOf(k), color: k.ink }}
                title={`${r.codes[c.code]?.label ?? "other"} ${ticks(c.weight, r.ticks_per_second)}`}
              >
                {share > 13 ? r.codes[c.code]?.label : ""}
                {chosen.includes(`code:${c.code}`) && share > 16 ? " ✓" : ""}
              </i>
            );
          })}
          {rest > 0 && (
            <i
              style={{
                width: `${(rest / all) * (total / span) * 100}%`,
                background: "var(--line2)",
              }}
              title={`other code ${ticks(rest, r.ticks_per_second)}`}
            />
          )}
        </div>
        <span>{ticks(total, r.ticks_per_second)}</span>
      </div>
    );
  };
  return (
    <Section title="The critical path" note="by code">
      {bar(before, "now", span)}
      {after && spanAfter !== undefined && bar(after, "then", spanAfter)}
    </Section>
  );
}
