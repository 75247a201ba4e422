/**
 * What if some code were faster: choose it by name or by dragging over its lines, and see the span,
 * the bounds and the path change.
 */

import type { ComponentChildren } from "preact";
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { useJson, valueOf } from "../ask";
import { codeColour } from "../codes";
import { tokens } from "../colors";
import { register } from "../commands";
import type {
  CriticalPath,
  Report,
  RunMeta,
  Scalability as Bounds,
  Source,
  WhatIf as Answer,
} from "../data/contract";
import { requests } from "../data/requests";
import { registerExport } from "../export/export";
import { change, count, fileName, percent, plain, ticks, times } from "../format";
import { announcement, meta, run, runMeta, selection, status, whatif } from "../store";
import { dark } from "../theme/theme";
import { files } from "../sites/SourcePane";
import { BoundsChart } from "../ui/Bounds";
import { Section, Swatch } from "../ui/parts";
import { useWidth } from "../ui/size";
import { SourceLines } from "../ui/SourceLines";
import { Answered, Empty, Failed } from "../ui/states";
import { FACTORS, label, linesOf, merge, nearest, toggle } from "./choice";
import "./whatif.css";

export function WhatIf() {
  const r = runMeta();
  if (!r) return null;
  return <Loaded run={r} />;
}

function Loaded({ run: r }: { run: RunMeta }) {
  const report = useJson<Report>(requests.report(r.id));
  const bounds = valueOf(useJson<Bounds>(requests.scalability()))?.runs.find((b) => b.run === r.id);
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
        FACTORS[Math.max(0, Math.min(FACTORS.length - 1, FACTORS.indexOf(nearest(factor)) + by))]!,
    });
  useEffect(() => {
    if (!FACTORS.includes(factor as never)) set({ factor: nearest(factor) });
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
          title: "Less fast",
          keys: [","],
          tabs: ["whatif"],
          group: "What-if",
          run: () => step(-1),
        },
        {
          id: "whatif.selected",
          title: "Take what is selected",
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
            if (w) set({ what: toggle(whatif.value.what, w) });
          },
        },
        {
          id: "whatif.none",
          title: "Choose nothing",
          keys: ["Backspace"],
          tabs: ["whatif"],
          group: "What-if",
          run: () => set({ what: [] }),
        },
      ),
    [factor, r.id],
  );
  useEffect(() => {
    status.value = "The work stays, only the span is divided: a bound, not a promise";
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
    if (row) announcement.value = `${times(factor)} faster: parallelism ${plain(row.parallelism)}`;
  }, [row]);
  const names = what.map((w) => label(w, r));
  const [chart, width] = useWidth<HTMLDivElement>(420);
  const t = tokens(dark.value);
  return (
    <div class="whatif">
      <div class="pick scroll">
        <Pick
          run={r}
          report={rep}
          path={path}
          what={what}
          onToggle={(w) => set({ what: toggle(whatif.value.what, w) })}
        />
      </div>
      <SourcePick run={r} what={what} onChange={(w) => set({ what: w })} />
      <aside class="scroll" aria-label="What changes">
        <h1>
          {what.length === 0 ? (
            "What if some code were faster?"
          ) : (
            <>
              {names.length > 2
                ? `${names.slice(0, 2).join(", ")} and ${names.length - 2} more`
                : names.join(" and ")}{" "}
              <b>{times(factor).replace(".0", "")}</b> as fast
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
            value={FACTORS.indexOf(nearest(factor))}
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
            Choose code or spawn sites on the left, or drag over lines of the source. The
            parallelism, the bounds and the critical path then show what the program could gain.
          </p>
        ) : asked.state === "failed" && asked.error.why !== "loading" ? (
          asked.error.why === "absent" && meta.value?.mode === "report" ? (
            <Empty
              small
              title="This report does not carry that what-if"
              command={`workspan view ${r.file}`}
            >
              A what-if is computed from the trace, and a file has no server. With the trace at
              hand:
            </Empty>
          ) : (
            <Failed error={asked.error} what="the what-if" small />
          )
        ) : (
          rep && (
            <div class="pairs">
              <Pair
                title="parallelism"
                before={plain(rep.parallelism)}
                after={row && plain(row.parallelism)}
                note={row && change(row.parallelism / rep.parallelism - 1)}
                good={!!row && row.parallelism > rep.parallelism}
              />
              <Pair
                title="span"
                before={ticks(rep.span, r.ticks_per_second)}
                after={row && ticks(row.span, r.ticks_per_second)}
                note={row && change(row.span / rep.span - 1)}
                good={!!row && row.span < rep.span}
              />
              <Pair
                title={`at most on ${count(r.workers)}`}
                before={times(Math.min(r.workers, rep.parallelism))}
                after={row && times(Math.min(r.workers, row.parallelism))}
                note={null}
                good={false}
              />
            </div>
          )
        )}
        {row && rep && Math.abs(row.span / rep.span - 1) < 0.005 && (
          <p class="words">
            <b>Nothing gained:</b>{" "}
            <span class="dim">almost none of it is on the critical path.</span>
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
                height={230}
                log
                most={128}
                runs={[
                  {
                    id: "before",
                    points: bounds.points,
                    parallelism: rep.parallelism,
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
                          parallelism: row.parallelism,
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
          <Composition
            run={r}
            before={composition(path)}
            after={what.length ? after : undefined}
            span={rep.span}
            spanAfter={row?.span}
            chosen={what}
          />
        )}
        {answer && rep && (
          <Curve
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

function Pair(p: {
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

function composition(path: CriticalPath): { code: number; weight: number }[] {
  const by = new Map<number, number>();
  for (const r of path.rows) by.set(r.code, (by.get(r.code) ?? 0) + r.weight);
  return [...by].map(([code, weight]) => ({ code, weight })).sort((a, b) => b.weight - a.weight);
}

/** Of what code the critical path is, on one scale before and after. */
function Composition({
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
    // What is too thin to be seen is one grey piece.
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
                style={{ width: `${share}%`, background: k.fill, color: k.ink }}
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

function Curve({
  answer,
  report: rep,
  factor,
  onPick,
  run: r,
}: {
  answer: Answer;
  report: Report;
  factor: number;
  onPick: (f: number) => void;
  run: RunMeta;
}) {
  const top = Math.max(...answer.rows.map((x) => x.parallelism), rep.parallelism);
  return (
    <Section title="At every factor" note="then something else is the path">
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
                  {plain(x.parallelism)}
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}

function Pick({
  run: r,
  report: rep,
  path,
  what,
  onToggle,
}: {
  run: RunMeta;
  report: Report | undefined;
  path: CriticalPath | undefined;
  what: string[];
  onToggle: (w: string) => void;
}) {
  const all = useSignal(false);
  const weight = new Map(path ? composition(path).map((c) => [c.code, c.weight]) : []);
  const span = rep?.span ?? path?.span ?? 1;
  const codes = r.codes
    .map((c, i) => ({ c, i, w: weight.get(i) ?? 0 }))
    .sort((a, b) => b.w - a.w || b.c.ticks - a.c.ticks);
  const shown = all.value ? codes.slice(0, 300) : codes.slice(0, 12);
  const sites = ((rep?.sites ?? []) as any[]).slice(0, 60);
  const own = what.filter((w) => w.startsWith("lines:") || w.startsWith("region:"));
  return (
    <>
      {own.length > 0 && (
        <Section title="Lines" style={{ marginTop: "0", marginBottom: "16px" }}>
          {own.map((w) => (
            <Option
              key={w}
              on
              label={<span class="mono">{label(w, r)}</span>}
              onChange={() => onToggle(w)}
              value={null}
            />
          ))}
        </Section>
      )}
      <Section title="Code" note="share of the critical path" style={{ marginTop: "0" }}>
        {shown.map(({ c, i, w }) => (
          <Option
            key={i}
            on={what.includes(`code:${i}`)}
            onChange={() => onToggle(`code:${i}`)}
            value={path ? w / span : null}
            label={
              <>
                <Swatch of={codeColour(r.codes, i, dark.value)} />
                <span class="mono">{c.label}</span>
              </>
            }
          />
        ))}
        {codes.length > 12 && (
          <button type="button" class="link more" onClick={() => (all.value = !all.value)}>
            {all.value ? "fewer" : `${codes.length - 12} more`}
          </button>
        )}
      </Section>
      <Section title="Spawn sites" note="share of the critical path">
        {sites.map((s, i) => (
          <Option
            key={i}
            on={what.includes(`site:${r.sites[i]?.place ?? s.id}`)}
            onChange={() => onToggle(`site:${r.sites[i]?.place ?? s.id}`)}
            value={s.critical_percent / 100}
            label={
              <>
                <span class="fn">{s.function ?? fileName(String(s.site))}</span>
                {s.function && <span class="place">{fileName(String(s.site))}</span>}
              </>
            }
          />
        ))}
      </Section>
    </>
  );
}

function Option({
  on,
  label: text,
  value,
  onChange,
}: {
  on: boolean;
  label: ComponentChildren;
  value: number | null;
  onChange: () => void;
}) {
  return (
    <label class={`option ${on ? "on" : ""}`}>
      <input type="checkbox" checked={on} onChange={onChange} />
      <span class="text">{text}</span>
      {value !== null && (
        <span class="share">
          <i style={{ width: `${Math.min(1, value) * 48}px` }} />
        </span>
      )}
      {value !== null && <span class="number">{percent(value, value > 0 ? 1 : 0)}</span>}
    </label>
  );
}

/** The source: drag over lines to choose them, click a chosen line to let its range go. */
function SourcePick({
  run: r,
  what,
  onChange,
}: {
  run: RunMeta;
  what: string[];
  onChange: (what: string[]) => void;
}) {
  const list = files(r);
  const picked = useSignal<string | null>(null);
  const drag = useSignal<{ from: number; to: number } | null>(null);
  const byKey = useSignal(false);
  const line = selection.value?.kind === "line" ? selection.value.file : null;
  const chosenFile = what.map(linesOf).find((l) => l)?.file;
  const file = picked.value ?? chosenFile ?? line ?? list[0] ?? null;
  const asked = useJson<Source>(file ? requests.source(run.value, file) : null);
  const ranges = what.map(linesOf).filter((l) => l !== null && l.file === file) as {
    file: string;
    from: number;
    to: number;
  }[];
  const take = (a: number, b: number) => {
    if (!file) return;
    const [from, to] = [Math.min(a, b), Math.max(a, b)];
    const hit = ranges.find((x) => from === to && from >= x.from && from <= x.to);
    const others = whatif.value.what.filter((w) => linesOf(w)?.file !== file);
    const rest = hit ? ranges.filter((x) => x !== hit) : merge([...ranges, { file, from, to }]);
    onChange([...others, ...rest.map((x) => `lines:${x.file}:${x.from}-${x.to}`)]);
  };
  useEffect(() => {
    const end = () => {
      const d = drag.value;
      drag.value = null;
      if (d && !byKey.value) take(d.from, d.to);
    };
    const stop = () => {
      drag.value = null;
    };
    addEventListener("pointerup", end);
    addEventListener("pointercancel", stop);
    return () => {
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", stop);
    };
  }, [file, what.join(",")]);
  // Arrows move a line, Shift keeps where it began, Enter takes what lies between.
  const key = (e: KeyboardEvent, lines: Source["lines"]) => {
    const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    const d = drag.value;
    if (step !== 0) {
      e.preventDefault();
      const at = lines.findIndex((l) => l.line === d?.to);
      const to =
        lines[
          Math.max(
            0,
            Math.min(
              lines.length - 1,
              at < 0
                ? Math.max(
                    0,
                    lines.findIndex((l) => l.ticks > 0),
                  )
                : at + step,
            ),
          )
        ]!.line;
      byKey.value = true;
      drag.value = { from: e.shiftKey && d ? d.from : to, to };
      announcement.value = `line ${to}: ${lines.find((l) => l.line === to)?.text.trim() ?? ""}`;
      (e.currentTarget as HTMLElement)
        .querySelector(`[data-line="${to}"]`)
        ?.scrollIntoView({ block: "nearest" });
    } else if ((e.key === "Enter" || e.key === " ") && d) {
      e.preventDefault();
      take(d.from, d.to);
      drag.value = null;
      byKey.value = false;
    } else if (e.key === "Escape" && d) {
      e.preventDefault();
      drag.value = null;
      byKey.value = false;
    }
  };
  // Opens at what is chosen, else where most time is.
  const box = useRef<HTMLDivElement>(null);
  const there = valueOf(asked);
  const first =
    ranges[0]?.from ??
    r.codes.find((c, i) => c.file === file && what.includes(`code:${i}`))?.line ??
    there?.lines.reduce<Source["lines"][number] | null>(
      (b, l) => (l.ticks > (b?.ticks ?? 0) ? l : b),
      null,
    )?.line ??
    null;
  useEffect(() => {
    const e =
      first === null ? null : box.current?.querySelector<HTMLElement>(`[data-line="${first}"]`);
    if (e && box.current) box.current.scrollTop = e.offsetTop - box.current.clientHeight / 3;
  }, [file, there]);
  const d = drag.value;
  const inDrag = (n: number) =>
    d !== null && n >= Math.min(d.from, d.to) && n <= Math.max(d.from, d.to);
  return (
    <div class="code">
      <div class="bar">
        {list.length > 1 ? (
          <select
            class="toggle mono"
            aria-label="File"
            value={file ?? ""}
            onChange={(e) => (picked.value = e.currentTarget.value)}
          >
            {list.map((f) => (
              <option key={f} value={f}>
                {f.length > 46 ? "…" + f.slice(-45) : f}
              </option>
            ))}
          </select>
        ) : (
          <span class="mono" style={{ fontWeight: 600 }}>
            {file}
          </span>
        )}
        <span class="faint">drag over lines to choose them</span>
      </div>
      {file === null ? (
        <Empty title="No source places">
          The trace knows addresses, not files, so lines can't be chosen. Code and spawn sites can.
        </Empty>
      ) : (
        <Answered asked={asked} what={file} height={400}>
          {(s) =>
            s.missing ? (
              <Empty title="The source is not here">{s.missing}</Empty>
            ) : (
              <div
                class="scroll lines"
                ref={box}
                tabIndex={0}
                aria-label={`Source of ${s.file}; arrows move, Shift extends, Enter chooses`}
                onKeyDown={(e) => key(e, s.lines)}
              >
                <SourceLines
                  lines={s.lines}
                  top={Math.max(...s.lines.map((l) => l.ticks), 0)}
                  perSecond={r.ticks_per_second}
                  chosen={(n) => inDrag(n) || ranges.some((x) => n >= x.from && n <= x.to)}
                  onDown={(n) => {
                    byKey.value = false;
                    drag.value = { from: n, to: n };
                  }}
                  onOver={(n) => {
                    if (drag.value && !byKey.value) drag.value = { ...drag.value, to: n };
                  }}
                />
              </div>
            )
          }
        </Answered>
      )}
    </div>
  );
}
