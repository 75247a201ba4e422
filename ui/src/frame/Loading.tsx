/** Before the first picture: how far it is, and how to stop; or why there will be none. */

import { stopped } from "../ask";
import { reachable } from "../data/http";
import { count } from "../format";
import { backticks, Empty } from "../ui/states";
import { failure, stages } from "./load";

export function Loading() {
  const error = failure.value;
  if (!reachable.value) return <Empty title="The server does not answer" command="workspan view run.wspan">Waiting for it to come back. It was started with:</Empty>;
  if (error && error.why !== "loading") {
    return (
      <div class="state" role="alert">
        <h2>This run can't be shown</h2>
        <div>{backticks(error.message)}</div>
        {error.remedy && <div>{backticks(error.remedy)}</div>}
      </div>
    );
  }
  if (stopped.value) {
    return (
      <div class="state">
        <h2>Loading stopped</h2>
        <div>The server keeps what it has read so far.</div>
        <button type="button" class="button solid" onClick={() => (stopped.value = false)}>Go on</button>
      </div>
    );
  }
  const list = Object.values(stages.value);
  const broken = list.find((s) => s.error);
  if (broken) return <Empty title="This run can't be shown">{broken.error}</Empty>;
  return (
    <div class="state" role="status">
      <h2>Reading {list.length > 1 ? `${list.length} runs` : "the run"}</h2>
      {list.map((s) => (
        <div key={s.run} style={{ display: "grid", gap: "4px" }}>
          <span>{list.length > 1 && <b>{s.run.toUpperCase()} </b>}{s.stage}{s.of > 0 && <span class="faint"> {count(s.done)} of {count(s.of)}</span>}</span>
          <div class="progress"><i style={{ width: `${s.of > 0 ? Math.min(100, (100 * s.done) / s.of) : 0}%` }} /></div>
        </div>
      ))}
      {list.length === 0 && <div class="progress"><i class="waiting" style={{ width: "100%" }} /></div>}
      <button type="button" class="button" onClick={() => (stopped.value = true)}>Stop</button>
    </div>
  );
}
