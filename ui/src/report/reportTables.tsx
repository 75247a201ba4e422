/** Parts of small reports: where time went, which code ran, and findings. */

import type { ComponentChildren } from "preact";
import { useJson, valueOf } from "../answers";
import { codeColour } from "../codeColours";
import { tokens } from "../colors";
import type { FindingWords, Report, RunMeta, Summary } from "../data/contract";
import { requests } from "../data/requests";
import { workerTicks, count, percent, ticks } from "../format";
import { fillOf } from "../patterns";
import { selection } from "../store";
import { showFinding } from "../summary/Findings";
import { findingTitle } from "../summary/findingTitles";
import { Term } from "../terms/Term";
import { dark } from "../theme/theme";
import { Sentence, Swatch, paintOf } from "../components/widgets";
import type { PartKind } from "../components/timeBreakdown";

/** Number of codes in the table; the rest is one row. */
const MAX_CODES = 8;

const NAMES: Record<PartKind, [string, string]> = {
  work: ["busy", "busy"],
  recording: ["recording", "recording"],
  descheduled: ["descheduled", "descheduled"],
  blocked: ["blocked", "blocked"],
  delay: ["delay", "delay"],
  sched: ["no work, scheduler", "no work"],
  app: ["no work, program", "no work"],
  unread: ["not read", "not read"],
};

const fill = (kind: PartKind) =>
  kind === "recording" ? tokens(dark.value).recording : fillOf(kind, dark.value);

/** A row of the breakdown. `name` separates the selection's work from that of others. */
export interface BreakdownRow {
  kind: PartKind;
  ticks: number;
  name?: string;
  faint?: boolean;
}

export function Figures(p: { of: [value: ComponentChildren, words: ComponentChildren][] }) {
  return (
    <div class="figures">
      {p.of.map(([value, words], i) => (
        <div key={i}>
          {value}
          <span>{words}</span>
        </div>
      ))}
    </div>
  );
}

/** Division of the worker time: a bar, and a table whose rows add up. */
export function Breakdown(p: { of: BreakdownRow[]; sum: string; run: RunMeta; faint?: string }) {
  const t = (n: number) => ticks(n, p.run.ticks_per_second);
  const sum = p.of.reduce((n, x) => n + x.ticks, 0);
  const whole = Math.max(sum, 1);
  let before = 0;
  const bars = p.of.map((x) => {
    const bar = { ...x, x: (100 * before) / whole, width: (100 * x.ticks) / whole };
    before += x.ticks;
    return bar;
  });
  const square = (x: BreakdownRow) => (
    <svg width="10" height="10" aria-hidden="true">
      <rect width="10" height="10" rx="2" fill={fill(x.kind)} opacity={x.faint ? 0.4 : 1} />
    </svg>
  );
  return (
    <>
      <div class="parts" role="img" aria-label="Where its worker time went">
        <svg width="100%" height="12" preserveAspectRatio="none" aria-hidden="true">
          {bars.map((x, i) => (
            <rect
              key={i}
              x={`${x.x}%`}
              width={`${x.width}%`}
              height="12"
              fill={fill(x.kind)}
              opacity={x.faint ? 0.4 : 1}
            />
          ))}
        </svg>
      </div>
      <table class="sums" aria-label="Where its worker time went">
        <tbody>
          {p.of.map((x, i) => (
            <tr key={i}>
              <td>
                {square(x)}
                {x.name ?? <Term of={NAMES[x.kind][1]}>{NAMES[x.kind][0]}</Term>}
              </td>
              <td>{t(x.ticks)}</td>
              <td>{percent(x.ticks / whole, 1)}</td>
            </tr>
          ))}
          <tr class="sum">
            <td>{p.sum}</td>
            <td>{t(sum)}</td>
            <td>{percent(1)}</td>
          </tr>
        </tbody>
      </table>
    </>
  );
}

/** Time by code, most first. */
export function CodeTable(p: {
  note: string;
  codes: { code: number; ticks: number }[];
  run: RunMeta;
  /** Meaning of the times, as a term of the glossary. */
  sum: ComponentChildren;
}) {
  const { run: r } = p;
  const total = p.codes.reduce((n, c) => n + c.ticks, 0);
  const rest = p.codes.slice(MAX_CODES).reduce((n, c) => n + c.ticks, 0);
  const t = (n: number) => ticks(n, r.ticks_per_second);
  return (
    <div class="small-report">
      <h2>
        Code by time<span>{p.note}</span>
      </h2>
      {p.codes.length === 0 ? (
        <p class="dim">No strand ran here.</p>
      ) : (
        <table class="sums" aria-label="Code by time">
          <tbody>
            {p.codes.slice(0, MAX_CODES).map((c) => {
              const colour = codeColour(r.codes, c.code, dark.value);
              return (
                <tr key={c.code}>
                  <td>
                    <Swatch of={colour} />
                    <button
                      type="button"
                      class="link mono"
                      title="Light its strands in every view"
                      onClick={() => {
                        selection.value = { kind: "code", run: r.id, code: c.code };
                      }}
                    >
                      {r.codes[c.code]?.label ?? "other code"}
                    </button>
                  </td>
                  <td class="bar">
                    <i
                      style={{
                        width: `${(100 * c.ticks) / p.codes[0]!.ticks}%`,
                        ...paintOf(colour),
                      }}
                    />
                  </td>
                  <td>{t(c.ticks)}</td>
                  <td>{percent(c.ticks / total, 1)}</td>
                </tr>
              );
            })}
            {p.codes.length > MAX_CODES && (
              <tr>
                <td>{count(p.codes.length - MAX_CODES)} more</td>
                <td />
                <td>{t(rest)}</td>
                <td>{percent(rest / total, 1)}</td>
              </tr>
            )}
            <tr class="sum">
              <td>{p.sum}</td>
              <td />
              <td>{t(total)}</td>
              <td>{percent(1)}</td>
            </tr>
          </tbody>
        </table>
      )}
    </div>
  );
}

/** Rows of text and numbers about steals. */
export function StealTable(p: { note: string; of: [words: ComponentChildren, n: number][] }) {
  return (
    <div class="small-report">
      <h2>
        Steals<span>{p.note}</span>
      </h2>
      <table class="sums" aria-label="Steals">
        <tbody>
          {p.of.map(([words, n], i) => (
            <tr key={i}>
              <td>{words}</td>
              <td>{count(n)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The findings for which `lies` is true, each with its cost and place. */
export function FindingsList(p: { run: RunMeta; lies: (f: FindingWords, at: number) => boolean }) {
  const { run: r } = p;
  const summary = valueOf(useJson<Summary>(requests.summary(r.id)));
  const report = valueOf(useJson<Report>(requests.report(r.id)));
  const places = (report?.findings as any[] | undefined) ?? [];
  const found = (summary?.findings ?? []).map((f, i) => ({ f, i }));
  return (
    <>
      {found
        .filter(({ f, i }) => p.lies(f, i))
        .map(({ f, i }) => (
          <p key={i}>
            <span class="badge round" aria-hidden="true">
              {i + 1}
            </span>{" "}
            <Sentence of={findingTitle(f, places[f.index]?.place, r)} />,{" "}
            {workerTicks(f.lost, r.ticks_per_second)}{" "}
            <button type="button" class="link" onClick={() => showFinding(f, i)}>
              Show me<span class="unseen"> finding {i + 1}</span>
            </button>
          </p>
        ))}
    </>
  );
}

export function ColumnPlaceholder() {
  return <p class="faint small-report">…</p>;
}
