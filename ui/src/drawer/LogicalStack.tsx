/** The chain of ancestors by spawns instead of calls, which steals do not interrupt. */

import type { InsideDetail, RunMeta, TaskDetail } from "../data/contract";
import { count, fileName, ticks } from "../format";
import { showInTab } from "../store";
import { Place } from "../components/widgets";
import { rowName } from "./facts";

const MAX_TASKS = 64;

export function Stack({ of: d, run: r }: { of: TaskDetail; run: RunMeta }) {
  const row = (i: number | null) => rowName(r, i);
  return (
    <ol class="stack">
      {d.stack.slice(0, MAX_TASKS).map((f, i) => {
        const site = r.sites[f.site];
        const root = i === d.stack.length - 1 && site?.label === "root";
        return (
          <li
            key={f.task}
            class={`${i === 0 ? "top" : ""} ${f.stolen_by !== null ? "stolen" : ""}`}
          >
            <button
              type="button"
              class="link"
              style={{ color: "var(--fg)" }}
              title={`task ${f.task}`}
              onClick={() => showInTab("timeline", null, { kind: "task", run: r.id, id: f.task })}
            >
              <span class="fn">{f.function ?? site?.function ?? (root ? "root" : "task")}</span>
            </button>{" "}
            {f.file && f.line !== null ? (
              <Place label={`${fileName(f.file)}:${f.line}`} file={f.file} line={f.line} />
            ) : (
              site &&
              !root && <Place label={fileName(site.label)} file={site.file} line={site.line} />
            )}
            <div class="faint">
              {root
                ? `root task, ${row(f.row)}`
                : f.stolen_by !== null
                  ? `spawned on ${row(f.spawned_on)}, stolen by ${row(f.stolen_by)}`
                  : f.spawned_on !== null && f.spawned_on !== f.row
                    ? `spawned on ${row(f.spawned_on)}, ran on ${row(f.row)}`
                    : `spawned and run on ${row(f.row)}`}{" "}
              at {ticks(f.start, r.ticks_per_second)}
            </div>
          </li>
        );
      })}
      {d.stack.length > MAX_TASKS && (
        <li class="faint">and {count(d.stack.length - MAX_TASKS)} more</li>
      )}
    </ol>
  );
}

/** The ancestors of a strand inside a folded strand, ending with the folded strand. */
export function InnerStack({ of: d, run: r }: { of: InsideDetail; run: RunMeta }) {
  const shown = d.stack.slice(0, MAX_TASKS);
  const more = d.more + d.stack.length - shown.length;
  const after = (t: number) =>
    t > d.folded.start
      ? `spawned ${ticks(t - d.folded.start, r.ticks_per_second)} after the folded strand's start`
      : "spawned at the folded strand's start";
  return (
    <ol class="stack">
      {shown.map((f, i) => (
        <li key={i} class={i === 0 ? "top" : ""}>
          <span class="fn">{f.function ?? r.sites[f.site]?.function ?? "task"}</span>{" "}
          {f.at && <Place label={fileName(f.at)} file={f.file} line={f.line} />}
          <div class="faint">
            {after(f.created)}
            {f.begun > f.created && `, ran ${ticks(f.begun - f.created, r.ticks_per_second)} later`}
          </div>
        </li>
      ))}
      {more > 0 && <li class="faint">and {count(more)} more</li>}
      <li class={shown.length === 0 ? "top" : ""}>
        <button
          type="button"
          class="link"
          onClick={() =>
            showInTab("timeline", null, { kind: "strand", run: r.id, id: d.strand, task: d.task })
          }
        >
          the folded strand, task {count(d.task)}
        </button>
        <div class="faint">
          {r.threads[d.row]?.label ?? "a thread"} from {ticks(d.folded.start, r.ticks_per_second)}
        </div>
      </li>
    </ol>
  );
}
