/** Before the first picture: progress and a way to stop, or the reason why there is none. */

import { useEffect } from "preact/hooks";
import { loadingStopped } from "../answers";
import { reachable } from "../data/http";
import { count } from "../format";
import { meta, status } from "../store";
import { codeInBackticks, EmptyState } from "../components/placeholders";
import { failure, stages, setLoading } from "./runLoading";

/** Placeholder of every view except the timeline while only an overview of the run is known. */
export function StillReading({ what }: { what: string }) {
  // What the status line says is the timeline's.
  useEffect(() => {
    status.value = "";
  }, [what]);
  return (
    <div class="state" role="status">
      <h2>{loadingStopped.value ? "Loading stopped" : "Still reading"}</h2>
      <div>
        {what === "DAG" ? "The DAG" : what} needs the whole run. Until then, the timeline shows a
        preview.
      </div>
      <Stages />
    </div>
  );
}

/** Progress of each run, and the switch. */
export function Stages() {
  const list = Object.values(stages.value).filter((s) => !s.error && !s.ready.rest);
  const many = (meta.value?.runs.length ?? list.length) > 1;
  return (
    <>
      {!loadingStopped.value &&
        list.map((s) => (
          <div key={s.run} class="stage">
            <span>
              {many && <b>{s.run.toUpperCase()} </b>}
              {s.stage}
              {s.of > 0 && (
                <span class="faint">
                  {" "}
                  {count(Math.min(s.done + 1, s.of))} of {count(s.of)}
                </span>
              )}
            </span>
            <div class="progress">
              <i style={{ width: `${s.of > 0 ? Math.min(100, (100 * s.done) / s.of) : 0}%` }} />
            </div>
          </div>
        ))}
      {loadingStopped.value ? (
        <button type="button" class="button solid" onClick={() => setLoading(true)}>
          Go on
        </button>
      ) : (
        <button type="button" class="button" onClick={() => setLoading(false)}>
          Stop
        </button>
      )}
    </>
  );
}

export function Loading() {
  const error = failure.value;
  if (!reachable.value)
    return (
      <EmptyState title="The server does not answer" command="workspan view run.wspan">
        Waiting for it to come back. It was started with:
      </EmptyState>
    );
  if (error && error.why !== "loading") {
    return (
      <div class="state" role="alert">
        <h2>This run can't be shown</h2>
        <div>{codeInBackticks(error.message)}</div>
        {error.remedy && <div>{codeInBackticks(error.remedy)}</div>}
      </div>
    );
  }
  const list = Object.values(stages.value);
  const broken = list.find((s) => s.error);
  if (broken) return <EmptyState title="This run can't be shown">{broken.error}</EmptyState>;
  return (
    <div class="state" role="status">
      <h2>
        {loadingStopped.value
          ? "Loading stopped"
          : `Reading ${list.length > 1 ? `${list.length} runs` : "the run"}`}
      </h2>
      {loadingStopped.value && <div>The server has freed the memory of what it had read.</div>}
      {list.length === 0 ? (
        <div class="progress">
          <i class="waiting" style={{ width: "100%" }} />
        </div>
      ) : (
        <Stages />
      )}
    </div>
  );
}
