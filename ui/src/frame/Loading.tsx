/** Before the first picture: progress and a way to stop, or the reason why there is none. */

import { useEffect, useState } from "preact/hooks";
import type { Status } from "../data/contract";
import { loadingStopped } from "../answers";
import { reachable } from "../data/http";
import { count } from "../format";
import { meta, status } from "../store";
import { codeInBackticks, EmptyState } from "../components/placeholders";
import { failure, stageBegan, stages, setLoading } from "./runLoading";

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
            <StageBar status={s} />
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

/**
 * A segment for each stage: full, under way, or still to come. The share of the current stage that
 * is done is unknown, so its segment moves and the seconds are counted.
 */
function StageBar({ status: s }: { status: Status }) {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.floor((now - stageBegan(s.run)) / 1000));
  return (
    <div class="stage-bar">
      <div
        class="progress"
        role="progressbar"
        aria-label={s.stage}
        aria-valuemin={0}
        aria-valuemax={s.of}
        aria-valuenow={s.done}
        aria-valuetext={`stage ${Math.min(s.done + 1, s.of)} of ${s.of}`}
      >
        {Array.from({ length: s.of }, (_, i) => (
          <i key={i} class={i < s.done ? "done" : i === s.done ? "now" : ""} />
        ))}
      </div>
      {/* Not for screen readers, to which it would be a new message every second. */}
      <span class="faint" aria-hidden="true">
        {seconds > 0 && `waiting for ${seconds} s`}
      </span>
    </div>
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
          <i class="now" />
        </div>
      ) : (
        <Stages />
      )}
    </div>
  );
}
