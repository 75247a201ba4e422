/** Asks for `meta` until it is there, and follows how far the runs are loaded. */

import { signal } from "@preact/signals";
import { progress, stopped } from "../ask";
import type { Meta, Status } from "../data/contract";
import { HttpSource, reachable } from "../data/http";
import { requests } from "../data/requests";
import { Unavailable } from "../data/source";
import { meta, other, run, source } from "../store";

export const failure = signal<Unavailable | null>(null);
/** By run; empty with a report. */
export const stages = signal<Record<string, Status>>({});

export function load(): void {
  if (source instanceof HttpSource) follow();
  void ask();
}

async function ask(): Promise<void> {
  for (;;) {
    try {
      const value = await source.json<Meta>(requests.meta());
      if (!Array.isArray(value?.runs) || value.runs.length === 0) throw new Unavailable("There is no run in it.", "refused", "Record one with `workspan record -- COMMAND`.");
      accept(value);
      return;
    } catch (e) {
      const error = e instanceof Unavailable ? e : new Unavailable(e instanceof Error ? e.message : String(e), "refused");
      failure.value = error;
      if (error.why !== "loading" && error.why !== "gone") return;
      await new Promise((r) => setTimeout(r, 250));
      while (stopped.value || !reachable.value) await new Promise((r) => setTimeout(r, 250));
    }
  }
}

function accept(value: Meta): void {
  if (value.workspan_view !== 1) throw new Unavailable(`This page can't read what workspan ${value.version} answers.`, "refused", "Load the page again: it is older than its server.");
  failure.value = null;
  const ids = value.runs.map((r) => r.id);
  if (!ids.includes(run.value)) run.value = ids[0]!;
  if (other.value === null || !ids.includes(other.value) || other.value === run.value) other.value = ids.find((i) => i !== run.value) ?? null;
  document.title = `${value.runs.map((r) => r.name).join(" against ")} · workspan`;
  meta.value = value;
}

/** Server-sent events end by themselves once everything is there. */
function follow(): void {
  let events: EventSource;
  try {
    events = new EventSource(requests.status());
  } catch {
    return;
  }
  const seen = (e: MessageEvent<string>) => {
    let told: Status | Status[];
    try {
      told = JSON.parse(e.data) as Status | Status[];
    } catch {
      return;
    }
    const list = Array.isArray(told) ? told : [told];
    stages.value = { ...stages.value, ...Object.fromEntries(list.map((s) => [s.run, s])) };
    progress.value++;
    const all = Object.values(stages.value);
    if (all.length >= (meta.value?.runs.length ?? Infinity) && all.every((s) => (s.ready?.timeline && s.ready?.rest) || s.error)) events.close();
  };
  events.addEventListener("message", seen);
  events.addEventListener("status", seen as EventListener);
  // The browser tries again by itself, which is right while loading and useless after.
  events.addEventListener("error", () => { if (meta.value) events.close(); });
}
