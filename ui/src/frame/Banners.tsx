/** Warnings above every view: limits to the numbers' accuracy, and an unreachable server. */

import { useSignal } from "@preact/signals";
import { reachable } from "../data/http";
import { meta, run, runMeta } from "../store";
import { estimateSentences, useEstimated } from "../components/estimates";
import { codeInBackticks } from "../components/placeholders";
import { loadingStopped } from "../answers";
import { tab } from "../store";
import { fileName, plural, ticks } from "../format";
import { stages, setLoading } from "./runLoading";
import { partCountText, showWhole } from "./runParts";

const hiddenWarnings = new Set<string>();

export function Banners() {
  const more = useSignal(false);
  const drawn = useSignal(0);
  void drawn.value;
  const estimate = useEstimated();
  const warnings = meta.value ? (runMeta()?.warnings ?? []) : [];
  const closed = hiddenWarnings.has(run.value);
  const early = runMeta()?.overview ?? null;
  const stage = stages.value[run.value];
  const only = runMeta()?.only ?? null;
  const errors = Object.values(stages.value).filter((s) => s.error && meta.value);
  return (
    <div class="banners" role="region" aria-label="Notices">
      {!reachable.value && meta.value && (
        <div class="banner" role="alert">
          <span class="mark" aria-hidden="true">
            !
          </span>
          <span>The server does not answer. The page keeps its content and tries again.</span>
        </div>
      )}
      {meta.value &&
        !stage?.error &&
        (early !== null ? tab.value === "timeline" : loadingStopped.value) && (
          <div class="banner calm" role="status">
            <span class="mark" aria-hidden="true">
              …
            </span>
            <span>
              {loadingStopped.value ? (
                <>
                  Loading was stopped:{" "}
                  {early !== null
                    ? "this is a preview of the timeline"
                    : "the report and the views that need it are missing"}
                  .
                </>
              ) : (
                <>
                  This is a preview. Strands, paths, steals and lost time follow.{" "}
                  {stage && (
                    <span class="faint">
                      {stage.stage}, {Math.min(stage.done + 1, stage.of)} of {stage.of}
                    </span>
                  )}
                </>
              )}
            </span>
            <span class="acts">
              <button type="button" class="link" onClick={() => setLoading(loadingStopped.value)}>
                {loadingStopped.value ? "Go on" : "Stop"}
              </button>
            </span>
          </div>
        )}
      {errors.map((s) => (
        <div key={s.run} class="banner" role="alert">
          <span class="mark" aria-hidden="true">
            !
          </span>
          <span>
            Run {s.run.toUpperCase()}: {codeInBackticks(s.error!)}
          </span>
        </div>
      ))}
      {only && (
        <div class="banner calm" role="note" aria-label="A part of the run">
          <span class="mark" aria-hidden="true">
            ◧
          </span>
          <span>
            Only <b>{fileName(only.label)}</b> is measured: {partCountText(only)} with{" "}
            {plural(only.tasks, "task")} inside, open for {ticks(only.elapsed)} of the run.
            Timeline, DAG and flame graph keep the run's times and leave out everything else.
          </span>
          <span class="acts">
            <button type="button" class="link" onClick={showWhole}>
              Whole run
            </button>
          </span>
        </div>
      )}
      {estimate && (
        <div class="banner calm" role="note" aria-label="Estimates">
          <span class="mark" aria-hidden="true">
            ≈
          </span>
          <span>
            {estimateSentences(
              estimate.estimated,
              estimate.report,
              runMeta()?.ticks_per_second ?? 1e9,
            )}
          </span>
        </div>
      )}
      {warnings.length > 0 && !closed && (
        <div class="banner" role="note" aria-label="Warnings">
          <span class="mark" aria-hidden="true">
            !
          </span>
          <ul>
            {(more.value ? warnings : warnings.slice(0, 1)).map((w) => (
              <li key={w}>{codeInBackticks(w)}</li>
            ))}
          </ul>
          <span class="acts">
            {warnings.length > 1 && (
              <button
                type="button"
                class="link"
                aria-expanded={more.value}
                onClick={() => (more.value = !more.value)}
              >
                {more.value ? "less" : `${warnings.length - 1} more`}
              </button>
            )}
            <button
              type="button"
              class="link"
              onClick={() => {
                hiddenWarnings.add(run.value);
                drawn.value++;
              }}
            >
              Hide
            </button>
          </span>
        </div>
      )}
    </div>
  );
}
