/** Pools and processes of a run that has several: tables as in the report. */

import type { Report, RunMeta } from "../data/contract";
import { count, fileName, plainNumber, ticks } from "../format";
import { Term } from "../terms/Term";

interface Pool {
  pool: number;
  built: string | null;
  workers: number;
  elapsed: number;
  strands: number;
  work: number;
  span: number;
  delay: number;
  blocked: number;
  busy: number;
  enough: number | null;
}

interface Process {
  process: number;
  rank: number | null;
  name: string;
  pid: number | null;
  workers: number;
  elapsed: number;
  strands: number;
  work: number;
  descheduled: number;
  blocked: number;
  waited: number;
  awaited: number;
  communication: number;
}

export function Pools({ report, run: r }: { report: Report; run: RunMeta }) {
  const pools = (report.pools ?? []) as Pool[];
  if (pools.length === 0) return null;
  const t = (n: number) => ticks(n, r.ticks_per_second);
  return (
    <section aria-label="Pools">
      <h2>
        Pools <span>each pool by itself, while it existed</span>
      </h2>
      <table class="table" aria-label="Pools of the run">
        <thead>
          <tr>
            <th class="left" scope="col">
              pool
            </th>
            <th class="left" scope="col">
              built at
            </th>
            <th scope="col">workers</th>
            <th scope="col">busy</th>
            <th
              scope="col"
              title="More than this number of its workers ran for less than 2 % of its lifetime"
            >
              enough
            </th>
            <th scope="col">lifetime</th>
            <th scope="col">strands</th>
            <th scope="col">
              <Term of="work" />
            </th>
            <th scope="col">
              <Term of="span" />
            </th>
            <th scope="col">
              <Term of="delay" />
            </th>
            <th scope="col">
              <Term of="blocked" />
            </th>
          </tr>
        </thead>
        <tbody>
          {pools.map((p) => (
            <tr key={p.pool} data-row={p.pool}>
              <td class="left">Pool {p.pool + 1}</td>
              <td class="left mono faint">{p.built ? fileName(p.built) : "–"}</td>
              <td class="c-workers">{count(p.workers)}</td>
              <td class="c-busy">{plainNumber(p.busy)}</td>
              <td class="c-enough">{p.enough === null ? "–" : count(p.enough)}</td>
              <td class="c-elapsed">{t(p.elapsed)}</td>
              <td class="c-strands">{count(p.strands)}</td>
              <td class="c-work">{t(p.work)}</td>
              <td class="c-span">{t(p.span)}</td>
              <td class="c-delay">{t(p.delay)}</td>
              <td class="c-blocked">{t(p.blocked)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

export function Processes({ report, run: r }: { report: Report; run: RunMeta }) {
  const processes = (report.processes ?? []) as Process[];
  if (processes.length === 0) return null;
  // Other programs than those of MPI tell nothing of waits for each other.
  const waits = processes.some((p) => p.waited + p.awaited + p.communication > 0);
  const t = (n: number) => ticks(n, r.ticks_per_second);
  return (
    <section aria-label="Processes">
      <h2>Processes {waits && <span>waits for other processes in MPI calls</span>}</h2>
      <table class="table" aria-label="Processes of the run">
        <thead>
          <tr>
            <th class="left" scope="col">
              process
            </th>
            <th class="left" scope="col">
              program
            </th>
            <th scope="col">workers</th>
            <th scope="col">lifetime</th>
            <th scope="col">strands</th>
            <th scope="col">
              <Term of="work" />
            </th>
            <th scope="col">
              <Term of="descheduled" />
            </th>
            <th scope="col">
              <Term of="blocked" />
            </th>
            {waits && (
              <>
                <th scope="col">waited for others</th>
                <th scope="col">others waited for it</th>
                <th scope="col" title="In calls of MPI, without waits for a late rank">
                  communication
                </th>
              </>
            )}
          </tr>
        </thead>
        <tbody>
          {processes.map((p) => (
            <tr key={p.process} data-row={p.process}>
              <td class="left">{r.processes?.[p.process] ?? `process ${p.process}`}</td>
              <td class="left mono faint">{p.name}</td>
              <td class="c-workers">{count(p.workers)}</td>
              <td class="c-elapsed">{t(p.elapsed)}</td>
              <td class="c-strands">{count(p.strands)}</td>
              <td class="c-work">{t(p.work)}</td>
              <td class="c-descheduled">{t(p.descheduled)}</td>
              <td class="c-blocked">{t(p.blocked)}</td>
              {waits && (
                <>
                  <td class="c-waited">{t(p.waited)}</td>
                  <td class="c-awaited">{t(p.awaited)}</td>
                  <td class="c-communication">{t(p.communication)}</td>
                </>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
