/** The tables of Compare: each change has a sign and a colour, and is marked if it may be noise. */

import { useSignal } from "@preact/signals";
import { codeColour } from "../codeColours";
import { signedPercent, count, plainNumber, time, multiple } from "../format";
import { runMeta } from "../store";
import { colours, dark } from "../theme/theme";
import { Place, RunBadge, Swatch } from "../components/widgets";
import { sharedColour } from "../timeline/drawStacked";
import type { Change, ChangedPlace, Quantity } from "./changes";

/** The change as `−46 %`, or as `21.4×` for a multiple, with its direction: better or worse. */
function ChangeCell({
  of,
  better,
  unit,
  absolute,
}: {
  of: Change;
  better: "less" | "more" | null;
  unit?: "ns" | "count";
  absolute?: boolean;
}) {
  const tiny =
    Math.abs(of.absolute) < (unit === "ns" ? 500 : 1e-9) ||
    (of.relative !== null && Math.abs(of.relative) < 0.0005);
  if (of.absolute === 0 || (tiny && !absolute)) return <span class="noise">same</span>;
  const text =
    absolute || of.relative === null
      ? unit === "ns"
        ? signed(of.absolute)
        : plainNumber(of.absolute)
      : of.relative > 2
        ? multiple(1 + of.relative)
        : signedPercent(of.relative);
  // With one run a side, a change that may be noise is neither good nor bad.
  if (of.noise === "unknown") return <span class="unsure">{text}</span>;
  if (of.noise === "within") return <span class="noise">{text} noise</span>;
  const good = better === null ? null : of.absolute < 0 === (better === "less");
  return <span class={good === null ? "dim" : good ? "better" : "worse"}>{text}</span>;
}

const signed = (ns: number) => (ns > 0 ? "+" : "") + time(ns / 1e9);
const value = (q: { unit: "ns" | "count" }, n: number) =>
  q.unit === "ns" ? time(n / 1e9) : Number.isInteger(n) ? count(n) : plainNumber(n);

export function WholeRunTable({ rows, a, b }: { rows: Quantity[]; a: string; b: string }) {
  return (
    <table class="table" aria-label="Whole run">
      <thead>
        <tr>
          <th class="left">whole run</th>
          <th>
            <RunBadge id={a} />
          </th>
          <th>
            <RunBadge id={b} />
          </th>
          <th>change</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((q) => (
          <tr key={q.key}>
            <td>{q.label}</td>
            <td>{value(q, q.a)}</td>
            <td>{value(q, q.b)}</td>
            <td>
              <ChangeCell of={q.change} better={q.better} unit={q.unit} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const ROWS_AT_FIRST = 12;

export function ChangesTable({ rows, a, b }: { rows: ChangedPlace[]; a: string; b: string }) {
  const all = useSignal(false);
  const t = colours.value;
  const most = Math.max(...rows.map((r) => Math.abs(r.onSpan.absolute)), 1);
  const colourOf = (of: { run: string; code: number }) => {
    const [one, two, own] = [runMeta(a), runMeta(b), runMeta(of.run)];
    return one && two && own
      ? sharedColour([one, two], own, of.code, dark.value)
      : codeColour([], null, dark.value);
  };
  const shown = all.value ? rows.slice(0, 400) : rows.slice(0, ROWS_AT_FIRST);
  return (
    <>
      <table class="table" aria-label="Changes by place">
        <thead>
          <tr>
            <th class="left">where</th>
            <th>
              critical <RunBadge id={a} />
            </th>
            <th>
              critical <RunBadge id={b} />
            </th>
            <th style={{ width: "96px" }}>
              <span class="unseen">change of the span, as a bar</span>
            </th>
            <th>change of the span</th>
            <th>
              work <RunBadge id={a} />
            </th>
            <th>
              work <RunBadge id={b} />
            </th>
            <th>change of work</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((r) => {
            const w = (Math.abs(r.onSpan.absolute) / most) * 42,
              less = r.onSpan.absolute < 0;
            const quiet = r.onSpan.noise === "within" || w < 0.5;
            return (
              <tr key={r.id} data-row={r.id}>
                <td>
                  <span class="changed">
                    {r.code && <Swatch of={colourOf(r.code)} />}
                    <span class="fn">{r.name}</span>{" "}
                    {r.place && <Place label={r.place} file={r.file} line={r.line} />}
                  </span>
                </td>
                <td>{time(r.critical[0] / 1e9)}</td>
                <td>{time(r.critical[1] / 1e9)}</td>
                <td>
                  <svg width="88" height="12" aria-hidden="true">
                    {!quiet && (
                      <rect
                        x={less ? 44 - w : 44}
                        y="2"
                        width={w}
                        height="8"
                        fill={r.onSpan.noise === "unknown" ? t.fg3 : less ? t.good : t.bad}
                        rx="1.5"
                      />
                    )}
                    <line x1="44" x2="44" y1="0" y2="12" stroke={t.line2} />
                  </svg>
                </td>
                <td>
                  <ChangeCell of={r.onSpan} better="less" unit="ns" absolute />
                </td>
                <td>{time(r.work[0] / 1e9)}</td>
                <td>{time(r.work[1] / 1e9)}</td>
                <td>
                  <ChangeCell of={r.ofWork} better="less" unit="ns" />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {rows.length > ROWS_AT_FIRST && (
        <button type="button" class="link all" onClick={() => (all.value = !all.value)}>
          {all.value ? "Fewer" : `All ${rows.length}`}
        </button>
      )}
    </>
  );
}
