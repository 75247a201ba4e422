/** Two lines below the verdict: the machine, and whether the numbers can be trusted. */

import type { Report, RunMeta } from "../data/contract";
import { machineFacts, checkRun } from "./trustChecks";

const MARKS = { good: "✓", bad: "✗", unknown: "–" } as const;

export function Trust({ report, run }: { report: Report; run: RunMeta }) {
  const machine = machineFacts(report, run);
  const trust = checkRun(report, run);
  return (
    <dl class="quiet-lines">
      {machine && (
        <div class={machine.loud ? "loud" : ""}>
          <dt>Machine</dt>
          <dd>{machine.words.join(" · ")}</dd>
        </div>
      )}
      <div class={trust.state === "bad" ? "loud" : ""}>
        <dt>Trust</dt>
        <dd>
          <span class={`mark ${trust.state}`} aria-hidden="true">
            {MARKS[trust.state]}
          </span>{" "}
          {trust.words.join(" · ")}
        </dd>
      </div>
    </dl>
  );
}
