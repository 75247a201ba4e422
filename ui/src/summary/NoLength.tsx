/**
 * A run in which no time passes: what was recorded, why it has no length, and what to do. It stands
 * for the charts over time, which have nothing to show.
 */

import { useJson, valueOf } from "../answers";
import type { Report, RunMeta } from "../data/contract";
import { requests } from "../data/requests";
import { bytes, count, fileName, plural } from "../format";
import { tab } from "../store";
import { codeInBackticks } from "../components/placeholders";
import { Section } from "../components/widgets";

/** True if there is no chart over time, because no time passes in the run. */
export const hasNoLength = (r: RunMeta | null): boolean =>
  r !== null && r.overview === null && r.elapsed === 0 && r.only === null;

/** In place of a view. */
export function NoLengthView({ run: r }: { run: RunMeta }) {
  return (
    <div class="no-length scroll" role="note">
      <h2 class="title">No time passes in this run</h2>
      <NoLength run={r} />
    </div>
  );
}

export function NoLength({ run: r }: { run: RunMeta }) {
  const report = valueOf(useJson<Report>(requests.report(r.id)));
  return (
    <>
      <Section title="Why it has no length">
        <p>
          {r.tasks === 1 ? "Its only task starts" : `All ${count(r.tasks)} tasks start`} and{" "}
          {r.tasks === 1 ? "ends" : "end"} at the same moment of the trace's clock, so work, span
          and elapsed time are 0, and there is no share, bound or parallelism.
        </p>
        <ul>
          <li>A trace of another tool may have the order of events, but no times.</li>
          <li>
            The unit of its clock may be too coarse: {codeInBackticks('`"time_unit":"ms"`')} for a
            run of microseconds.
          </li>
          <li>Recording may have ended before the program did anything.</li>
        </ul>
      </Section>
      <Section title="What to do">
        <Remedies run={r} />
      </Section>
      <Section title="What was recorded">
        <table class="table" aria-label="What was recorded">
          <tbody>
            {facts(r).map(([name, value]) => (
              <tr key={name}>
                <td class="left">{name}</td>
                <td class="left">{value}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Section>
      {report && <Tasks run={r} report={report} />}
    </>
  );
}

function Remedies({ run: r }: { run: RunMeta }) {
  const all: [when: string, command: string][] = [
    ["See which times the trace has", `workspan sql ${r.file} "SELECT * FROM strands"`],
    ["See what was recorded, and what was not", `workspan info ${r.file}`],
  ];
  if (r.command) all.push(["Record it again", `workspan record -o run.wspan -- ${r.command}`]);
  else all.push(["Record the program with workspan", "workspan record -o run.wspan -- ./program"]);
  return (
    <>
      {all.map(([when, command]) => (
        <div key={when}>
          {when}
          <pre class="command">{command}</pre>
        </div>
      ))}
      {r.command === null && (
        <p>
          Of a text trace or another tool's trace: write times in a finer unit. docs/TEXT_TRACE.md
          and docs/import.md say which fields have them.
        </p>
      )}
    </>
  );
}

function facts(r: RunMeta): [string, string][] {
  const rows: [string, string | null][] = [
    ["program", r.name],
    ["file", `${r.file}, ${bytes(r.bytes)}`],
    ["command", r.command],
    ["runtime", r.runtime],
    ["host", r.host],
    ["recorded", r.recorded],
    ["workers", count(r.workers)],
    ["threads", count(r.threads.length + r.more_threads)],
    ["tasks", count(r.tasks)],
    ["strands", count(r.strands)],
    ["steals", count(r.steals)],
    ["samples", r.samples > 0 ? count(r.samples) : null],
    ...r.facts,
  ];
  const seen = new Set<string>();
  return rows.filter((row): row is [string, string] => {
    if (row[1] === null || seen.has(row[0].toLowerCase())) return false;
    seen.add(row[0].toLowerCase());
    return true;
  });
}

/** Tasks by spawn site: what is known without times. */
function Tasks({ run: r, report }: { run: RunMeta; report: Report }) {
  const sites = (report.sites ?? []) as { id: number; site: string; count: number }[];
  return (
    <Section title="Tasks by spawn site" note={plural(r.tasks, "task")}>
      <table class="table" aria-label="Tasks by spawn site">
        <tbody>
          {sites.slice(0, 20).map((s) => (
            <tr key={s.id}>
              <td class="left mono">{fileName(s.site)}</td>
              <td>{count(s.count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        The tasks and their order are in{" "}
        <button type="button" class="link" onClick={() => (tab.value = "sql")}>
          SQL →
        </button>
      </p>
    </Section>
  );
}
