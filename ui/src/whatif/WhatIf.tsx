/**
 * What if some code were faster: select it by name or by dragging over its lines, and see how the
 * span, the bounds and the path change.
 */

import { useEffect } from "preact/hooks";
import { useJson, valueOf } from "../answers";
import { tokens } from "../colors";
import { register } from "../commands";
import type {
  CriticalPath,
  Report,
  RunMeta,
  Scalability as Bounds,
  WhatIf as Answer,
} from "../data/contract";
import { requests } from "../data/requests";
import { registerExport } from "../export/export";
import { signedPercent, count, plainNumber, ticks, multiple } from "../format";
import { announcement, meta, runMeta, selection, status, whatif } from "../store";
import { dark } from "../theme/theme";
import { BoundsChart } from "../components/BoundsChart";
import { Section } from "../components/widgets";
import { useWidth } from "../components/textWidth";
import { EmptyState, ErrorState } from "../components/placeholders";
import { FACTORS, targetLabel, nearestFactor, toggleTarget } from "./targets";
import { CodePicker } from "./CodePicker";
import { FactorTable, BeforeAfter } from "./Outcome";
import { composition, PathByCode } from "./PathByCode";
import { SourceLinesPicker } from "./SourceLinesPicker";
import "./whatif.css";

/** Limits of the chart's height, and heights of what is above and below it. */
const MIN_HEIGHT = 230;
const MAX_HEIGHT = 1100;
const OTHER_HEIGHT = 450;
const FACTORS_HEIGHT = 420;

function chartHeight(window: number, withFactors: boolean): number {
  const room = window - OTHER_HEIGHT - (withFactors ? FACTORS_HEIGHT : 0);
  return Math.max(MIN_HEIGHT, Math.min(MAX_HEIGHT, room));
}

export function WhatIf() {
  const r = runMeta();
  if (!r) return null;
  return <WhatIfView run={r} />;
}

function WhatIfView({ run: r }: { run: RunMeta }) {
  const report = useJson<Report>(requests.report(r.id));
  const bounds = valueOf(useJson<Bounds>(requests.scalability(r.id)))?.runs.find(
    (b) => b.run === r.id,
  );
  const { what, factor } = whatif.value;
  const key = [...what].sort().join(",");
  const asked = useJson<Answer>(what.length ? requests.whatif(r.id, key, [...FACTORS]) : null);
  const own = useJson<Answer>(
    what.length && factor !== FACTORS[0] ? requests.whatif(r.id, key, [factor]) : null,
  );
  const path = valueOf(useJson<CriticalPath>(requests.critical(r.id)));
  const answer = what.length ? valueOf(asked) : undefined;
  const row = answer?.rows.find((x) => x.factor === factor);
  const after = factor === FACTORS[0] ? answer?.critical : valueOf(own)?.critical;
  const set = (next: Partial<typeof whatif.value>) => (whatif.value = { ...whatif.value, ...next });
  const step = (by: number) =>
    set({
      factor:
        FACTORS[
          Math.max(0, Math.min(FACTORS.length - 1, FACTORS.indexOf(nearestFactor(factor)) + by))
        ]!,
    });
  useEffect(() => {
    if (!FACTORS.includes(factor as never)) set({ factor: nearestFactor(factor) });
  }, [factor]);
  useEffect(
    () =>
      register(
        {
          id: "whatif.faster",
          title: "Faster",
          keys: ["."],
          tabs: ["whatif"],
          group: "What-if",
          run: () => step(1),
        },
        {
          id: "whatif.slower",
          title: "Slower",
          keys: [","],
          tabs: ["whatif"],
          group: "What-if",
          run: () => step(-1),
        },
        {
          id: "whatif.selected",
          title: "Add the selection",
          keys: ["Enter"],
          tabs: ["whatif"],
          group: "What-if",
          run: () => {
            const s = selection.value;
            const w =
              s?.kind === "code"
                ? `code:${s.code}`
                : s?.kind === "site"
                  ? `site:${r.sites[s.site]?.place}`
                  : null;
            if (w) set({ what: toggleTarget(whatif.value.what, w) });
          },
        },
        {
          id: "whatif.none",
          title: "Clear the choice",
          keys: ["Backspace"],
          tabs: ["whatif"],
          group: "What-if",
          run: () => set({ what: [] }),
        },
      ),
    [factor, r.id],
  );
  useEffect(() => {
    status.value =
      "The work stays the same and only the span changes: this is a bound, not a prediction";
    return () => {
      status.value = "";
    };
  }, []);
  useEffect(
    () =>
      answer
        ? registerExport({
            tab: "whatif",
            csv: () =>
              "factor,span (s),parallelism\n" +
              answer.rows
                .map((x) => [x.factor, x.span / r.ticks_per_second, x.parallelism].join(","))
                .join("\n") +
              "\n",
          })
        : undefined,
    [answer],
  );
  const rep = valueOf(report);
  useEffect(() => {
    if (row)
      announcement.value = `${count(factor)}× faster: parallelism ${plainNumber(row.parallelism)}`;
  }, [row]);
  const names = what.map((w) => targetLabel(w, r));
  const [chart, width] = useWidth<HTMLDivElement>(420);
  const t = tokens(dark.value);
  return (
    <div class="whatif">
      <div class="pick scroll">
        <CodePicker
          run={r}
          report={rep}
          path={path}
          what={what}
          onToggle={(w) => set({ what: toggleTarget(whatif.value.what, w) })}
        />
      </div>
      <SourceLinesPicker run={r} what={what} onChange={(w) => set({ what: w })} />
      <aside class="scroll" aria-label="What changes">
        <h1>
          {what.length === 0 ? (
            "What if some code were faster?"
          ) : (
            <>
              {names.length > 2
                ? `${names.slice(0, 2).join(", ")} and ${names.length - 2} more`
                : names.join(" and ")}{" "}
              <b>{count(factor)}×</b> as fast
            </>
          )}
        </h1>
        <label class="factor">
          <span class="unseen">Factor</span>
          <input
            type="range"
            min="0"
            max={FACTORS.length - 1}
            step="1"
            value={FACTORS.indexOf(nearestFactor(factor))}
            disabled={what.length === 0}
            aria-valuetext={`${factor} times`}
            onInput={(e) => set({ factor: FACTORS[Number(e.currentTarget.value)]! })}
            list="factors"
          />
          <span class="stops" aria-hidden="true">
            {FACTORS.map((f) => (
              <button
                key={f}
                type="button"
                tabIndex={-1}
                class={f === factor ? "on" : ""}
                disabled={what.length === 0}
                onClick={() => set({ factor: f })}
              >
                {f}×
              </button>
            ))}
          </span>
        </label>
        {what.length === 0 ? (
          <p class="dim words">
            Choose code or spawn sites on the left, or drag over source lines. The parallelism, the
            bounds and the critical path then show what the program could gain.
          </p>
        ) : asked.state === "failed" && asked.error.why !== "loading" ? (
          asked.error.why === "absent" && meta.value?.mode === "report" ? (
            <EmptyState
              small
              title="This what-if is not in the report"
              command={`workspan view ${r.file}`}
            >
              A what-if is computed from the trace. Open the trace:
            </EmptyState>
          ) : (
            <ErrorState error={asked.error} what="the what-if" small />
          )
        ) : (
          rep && (
            <div class="pairs">
              <BeforeAfter
                title="parallelism"
                before={plainNumber(rep.parallelism)}
                after={row && plainNumber(row.parallelism)}
                note={row && signedPercent(row.parallelism / rep.parallelism - 1)}
                good={!!row && row.parallelism > rep.parallelism}
              />
              <BeforeAfter
                title="span"
                before={ticks(rep.span, r.ticks_per_second)}
                after={row && ticks(row.span, r.ticks_per_second)}
                note={row && signedPercent(row.span / rep.span - 1)}
                good={!!row && row.span < rep.span}
              />
              <BeforeAfter
                title={`at most on ${count(r.workers)}`}
                before={multiple(Math.min(r.workers, rep.parallelism))}
                after={row && multiple(Math.min(r.workers, row.parallelism))}
                note={null}
                good={false}
              />
            </div>
          )
        )}
        {row && rep && Math.abs(row.span / rep.span - 1) < 0.005 && (
          <p class="words">
            <b>No gain:</b> <span class="dim">almost none of it is on the critical path.</span>
          </p>
        )}
        <div ref={chart}>
          {bounds && bounds.points.length > 0 && rep && (
            <Section
              title="Speedup bounds"
              note={row ? "before and after" : undefined}
              style={{ marginTop: "16px" }}
            >
              <BoundsChart
                width={width}
                height={chartHeight(innerHeight, what.length > 0)}
                log
                most={128}
                runs={[
                  {
                    id: "before",
                    points: bounds.points,
                    // A prediction keeps the order in which locks were taken.
                    limit: row ? rep.parallelism : bounds.limit,
                    knownTo: bounds.known_to,
                    burdened: null,
                    colour: row ? t.fg3 : t.work,
                    label: row ? "now" : "program",
                  },
                  ...(row
                    ? [
                        {
                          id: "after",
                          points: row.speedups.length
                            ? row.speedups
                            : bounds.points.map((p) => ({
                                ...p,
                                upper: Math.min(p.workers, row.parallelism),
                              })),
                          limit: row.parallelism,
                          knownTo: bounds.known_to,
                          burdened: null,
                          colour: t.work,
                          label: `${factor}×`,
                        },
                      ]
                    : []),
                ]}
                measured={[]}
              />
            </Section>
          )}
        </div>
        {rep && path && (
          <PathByCode
            run={r}
            before={composition(path)}
            after={what.length ? after : undefined}
            span={rep.span}
            spanAfter={row?.span}
            chosen={what}
          />
        )}
        {answer && rep && (
          <FactorTable
            answer={answer}
            report={rep}
            factor={factor}
            onPick={(f) => set({ factor: f })}
            run={r}
          />
        )}
      </aside>
    </div>
  );
}
