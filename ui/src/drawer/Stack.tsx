/** Who called whom, by spawns instead of by calls: steals do not cut it. */

import type { RunMeta, TaskDetail } from "../data/contract";
import { count, ticks } from "../format";
import { show } from "../store";
import { Place } from "../ui/parts";

const MOST = 64;
const short = (label: string) => label.replace(/^.*[/\\](?=[^/\\]+$)/, "");

export function Stack({ of: d, run: r }: { of: TaskDetail; run: RunMeta }) {
  const row = (i: number | null) => (i === null ? "a thread without a row" : (r.threads[i]?.label ?? `thread ${i}`));
  return (
    <ol class="stack">
      {d.stack.slice(0, MOST).map((f, i) => {
        const site = r.sites[f.site];
        const root = i === d.stack.length - 1 && site?.label === "root";
        return (
          <li key={f.task} class={`${i === 0 ? "top" : ""} ${f.stolen_by !== null ? "stolen" : ""}`}>
            <button type="button" class="link" style={{ color: "var(--fg)" }} title={`task ${f.task}`} onClick={() => show("timeline", null, { kind: "task", run: r.id, id: f.task })}>
              <span class="fn">{f.function ?? site?.function ?? (root ? "root" : "task")}</span>
            </button>{" "}
            {f.file && f.line !== null ? <Place label={`${short(f.file)}:${f.line}`} file={f.file} line={f.line} /> : site && !root && <Place label={short(site.label)} file={site.file} line={site.line} />}
            <div class="faint">
              {root ? `root task, ${row(f.row)}` : f.stolen_by !== null ? `spawned on ${row(f.spawned_on)}, stolen by ${row(f.stolen_by)}` : f.spawned_on !== null && f.spawned_on !== f.row ? `spawned on ${row(f.spawned_on)}, ran on ${row(f.row)}` : `spawned and run on ${row(f.row)}`} at {ticks(f.start, r.ticks_per_second)}
            </div>
          </li>
        );
      })}
      {d.stack.length > MOST && <li class="faint">and {count(d.stack.length - MOST)} more</li>}
    </ol>
  );
}
