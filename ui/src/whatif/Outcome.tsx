/** The result of a what-if: a number before and after, and the parallelism at every factor. */

import type { Report, RunMeta, WhatIf } from "../data/contract";
import { plainNumber, ticks } from "../format";
import { Section } from "../components/widgets";

/** A number before and after. */
export function BeforeAfter(p: {
  title: string;
  before: string;
  after: string | undefined;
  note: string | null | undefined;
  good: boolean;
}) {
  return (
    <div>
      <span class="faint">{p.title}</span>
      <div>
        <span class="dim">{p.before}</span>{" "}
        <span class="faint" aria-label="becomes">
          →
        </span>{" "}
        <b>{p.after ?? "…"}</b>{" "}
        {p.note && <span class={p.good ? "better" : "noise"}>{p.note}</span>}
      </div>
    </div>
  );
}

/** The parallelism at every factor; a factor can be selected. */
export function FactorTable({
  answer,
  report: rep,
  factor,
  onPick,
  run: r,
}: {
  answer: WhatIf;
  report: Report;
  factor: number;
  onPick: (f: number) => void;
  run: RunMeta;
}) {
  const top = Math.max(...answer.rows.map((x) => x.parallelism), rep.parallelism);
  return (
    <Section title="At every factor" note="until other code is the critical path">
      <table class="table factors" aria-label="Parallelism by factor">
        <thead>
          <tr>
            <th class="left">factor</th>
            <th>span</th>
            <th class="left">parallelism</th>
          </tr>
        </thead>
        <tbody>
          {answer.rows.map((x) => (
            <tr
              key={x.factor}
              class="may"
              aria-selected={x.factor === factor}
              onClick={() => onPick(x.factor)}
            >
              <td>{x.factor}×</td>
              <td>{ticks(x.span, r.ticks_per_second)}</td>
              <td class="left">
                <span class="cell-bar">
                  <i
                    style={{ width: `${(x.parallelism / top) * 140}px`, background: "var(--work)" }}
                  />
                  {plainNumber(x.parallelism)}
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}
