/**
 * Strands of one code by size, of all spawn sites: while small ones ran, all workers were busy;
 * while the largest ran, most were not.
 */

import { codeColour } from "../codeColours";
import type { CodeSizes, RunMeta } from "../data/contract";
import { count, plural, plainNumber, shortCount, ticks } from "../format";
import { showInTab } from "../store";
import { dark } from "../theme/theme";
import { paintOf, Swatch } from "../components/widgets";
import { Sparkline } from "../components/Sparkline";

type Size = CodeSizes["sizes"][number];

/** Maximum number of squares in the busy column: one for each worker, or for several. */
const MAX_SQUARES = 8;

export function StrandSizes({ of, label, run: r }: { of: CodeSizes; label: string; run: RunMeta }) {
  const tps = r.ticks_per_second;
  const colour = codeColour(r.codes, of.code, dark.value);
  const mostFree = Math.max(1, ...of.sizes.map((s) => s.free ?? 0));
  const told = of.sizes.some((s) => s.size !== undefined);
  // The table shows the sizes with most time.
  const rest = {
    strands: of.count - of.sizes.reduce((n, s) => n + s.strands, 0),
    total: of.work - of.sizes.reduce((n, s) => n + s.total, 0),
  };
  const worst = of.sizes.reduce((a, b) => ((b.free ?? 0) > (a.free ?? 0) ? b : a));
  return (
    <div class="by-size" data-code={of.code}>
      <div class="head">
        <h2>
          <Swatch of={colour} /> <span class="fn">{label}</span> by size{" "}
          <span>
            {plural(of.count, "strand")}
            {of.sites > 1 && ` of ${of.sites} spawn sites`}, {ticks(of.work, tps)} of work,{" "}
            {ticks(of.critical, tps)} on the critical path
          </span>
        </h2>
        <span class="end">
          <button
            type="button"
            class="link"
            onClick={() => showInTab("timeline", null, { kind: "code", run: r.id, code: of.code })}
          >
            Show {of.count === 1 ? "it" : `these ${count(of.count)}`} in the timeline →
          </button>
        </span>
      </div>
      <table class="table" aria-label={`${label} by size`}>
        <thead>
          <tr>
            {told && (
              <th scope="col" title="Elements that the tasks work on, as the program told">
                size
              </th>
            )}
            <th scope="col" title="CPU time, as far as it is known">
              mean length
            </th>
            <th scope="col">strands</th>
            <th scope="col">total</th>
            <th scope="col" class="left">
              when
            </th>
            <th
              scope="col"
              class="left"
              title="Strands that had started and not ended while these ran, on the CPU or not"
            >
              running strands meanwhile
            </th>
            <th
              scope="col"
              class="left"
              title="Time of workers without work while these strands ran, divided among the code that ran"
            >
              free workers meanwhile
            </th>
          </tr>
        </thead>
        <tbody>
          {of.sizes.map((s) => (
            <tr key={s.total} class={s === worst && (s.free ?? 0) > 0 ? "worst" : ""}>
              {told && <td>{shortCount(s.size ?? 0)}</td>}
              <td>{ticks(s.total / s.strands, tps)}</td>
              <td>{count(s.strands)}</td>
              <td>{ticks(s.total, tps)}</td>
              <td class="left">
                <Sparkline
                  values={s.spark}
                  top={r.workers}
                  fill={colour.fill}
                  title="when they ran"
                />
              </td>
              <td class="left">
                <Squares of={s} workers={r.workers} /> {plainNumber(s.busy)}
              </td>
              <td class="left">
                {s.free === null ? (
                  <span title="Records are missing from that time">–</span>
                ) : (
                  <span class="cell-bar">
                    <i
                      style={{
                        width: `${s.free > 0 ? Math.max(1.5, (90 * s.free) / mostFree) : 0}px`,
                        ...paintOf(colour),
                      }}
                    />
                    {ticks(s.free, tps)}
                  </span>
                )}
              </td>
            </tr>
          ))}
          {rest.strands > 0 && (
            <tr class="rest faint">
              <td colSpan={told ? 2 : 1}>other sizes</td>
              <td>{count(rest.strands)}</td>
              <td>{ticks(rest.total, tps)}</td>
              <td colSpan={3} />
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

function Squares({ of, workers }: { of: Size; workers: number }) {
  const n = Math.min(MAX_SQUARES, workers);
  const filled = (of.busy / Math.max(1, workers)) * n;
  return (
    <span class="squares" aria-hidden="true">
      {Array.from({ length: n }, (_, i) => (
        <i key={i}>
          <b style={{ width: `${100 * Math.max(0, Math.min(1, filled - i))}%` }} />
        </i>
      ))}
    </span>
  );
}
