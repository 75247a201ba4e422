/** Requests `meta` until it is there, and follows the loading of the runs. */

import { batch, effect, signal } from "@preact/signals";
import { answerEpoch, loadingStopped } from "../answers";
import type { Meta, RunMeta, Status } from "../data/contract";
import { HttpSource, reachable } from "../data/http";
import { requests } from "../data/requests";
import { Unavailable } from "../data/source";
import { meta, other, openParts, run, selection, source, wholeRunOf } from "../store";
import { showPart } from "./runParts";

export const failure = signal<Unavailable | null>(null);
/** By run; empty in a report. */
export const stages = signal<Record<string, Status>>({});

const began = new Map<string, { stage: string; at: number }>();

/** When the page was told of the run's current stage, on the clock of `performance.now`. */
export const stageBegan = (id: string): number => began.get(id)?.at ?? performance.now();

function noteStage({ run: id, stage }: Status): void {
  if (began.get(id)?.stage !== stage) began.set(id, { stage, at: performance.now() });
}

/**
 * Chooses the first other run of the same program if a link does not name the second run. Runs of
 * another program are compared only if somebody asks for it.
 */
function chooseOther(): void {
  const runs = meta.value?.runs ?? [];
  if (other.value === null || !runs.some((r) => r.id === other.value))
    other.value = sameProgram(runs, wholeRunOf(run.peek()))?.id ?? null;
}

/** The first other run of the program of run `id`. */
export function sameProgram<R extends Pick<RunMeta, "id" | "name">>(
  runs: readonly R[],
  id: string,
): R | undefined {
  const name = runs.find((r) => r.id === id)?.name;
  return runs.find((r) => r.id !== id && r.name === name);
}

export function startLoading(): void {
  if (source instanceof HttpSource) followStages(source);
  effect(() => {
    if (meta.value) chooseOther();
  });
  // A link may name a part of a run that has not been opened yet.
  effect(() => {
    const id = run.value;
    if (meta.value && id !== wholeRunOf(id) && !openParts.value.some((part) => part.id === id))
      void showPart(id);
  });
  void requestMeta();
}

async function requestMeta(): Promise<void> {
  for (;;) {
    try {
      const value = await source.json<Meta>(requests.meta());
      if (!Array.isArray(value?.runs) || value.runs.length === 0)
        throw new Unavailable(
          "It contains no run.",
          "refused",
          "Record one with `workspan record -- COMMAND`.",
        );
      acceptMeta(value);
      return;
    } catch (e) {
      const error =
        e instanceof Unavailable
          ? e
          : new Unavailable(e instanceof Error ? e.message : String(e), "refused");
      failure.value = error;
      if (error.why !== "loading" && error.why !== "gone") return;
      await new Promise((r) => setTimeout(r, 100));
      while (!reachable.value) await new Promise((r) => setTimeout(r, 250));
    }
  }
}

function acceptMeta(value: Meta): void {
  if (value.workspan_view !== 1)
    throw new Unavailable(
      `This page can't read the answers of workspan ${value.version}.`,
      "refused",
      "Reload the page: it is older than its server.",
    );
  failure.value = null;
  const ids = value.runs.map((r) => r.id);
  const has = value.runs.some((r) => r.parts.some((part) => part.id === run.value));
  if (!has && !ids.includes(run.value))
    run.value = ids.find((id) => id === wholeRunOf(run.value)) ?? ids[0]!;
  if (other.value === null || !ids.includes(other.value) || other.value === run.value)
    other.value = sameProgram(value.runs, wholeRunOf(run.value))?.id ?? null;
  document.title = `${value.runs.map((r) => r.name).join(" against ")} · workspan`;
  openParts.value = [];
  meta.value = value;
}

let renewing = false;

/**
 * More of a run is known than its overview: everything is requested again, and the old content
 * stays until the answers arrive.
 */
async function renew(http: HttpSource): Promise<void> {
  if (renewing) return;
  renewing = true;
  try {
    http.forget();
    const value = await source.json<Meta>(requests.meta());
    batch(() => {
      // Sites and code have other indices now.
      const kind = selection.value?.kind;
      if (kind === "site" || kind === "code") selection.value = null;
      acceptMeta(value);
      answerEpoch.value++;
    });
  } catch {
    // Requested again below.
  } finally {
    renewing = false;
    // Events during this time were ignored, and may have been the last; and the answers may have
    // been made before them.
    if (outdated())
      setTimeout(() => {
        if (outdated()) void renew(http);
      }, 500);
  }
}

/** True for runs of which the server knows more than the page. */
function outdated(): boolean {
  return (meta.value?.runs ?? []).some(
    (r) => r.overview !== null && stages.value[r.id]?.ready.timeline,
  );
}

/** Stops or resumes loading on the server. */
export function setLoading(wanted: boolean): void {
  loadingStopped.value = !wanted;
  if (source instanceof HttpSource) source.tell(wanted ? "go" : "stop");
}

/** Server-sent events end once everything is loaded. */
function followStages(http: HttpSource): void {
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
    list.forEach(noteStage);
    stages.value = { ...stages.value, ...Object.fromEntries(list.map((s) => [s.run, s])) };
    loadingStopped.value = Object.values(stages.value).some((s) => s.stopped);
    if (outdated()) void renew(http);
    const all = Object.values(stages.value);
    if (
      all.length >= (meta.value?.runs.length ?? Infinity) &&
      all.every((s) => (s.ready?.timeline && s.ready?.rest) || s.error) &&
      !outdated()
    )
      events.close();
  };
  events.addEventListener("message", seen);
  events.addEventListener("status", seen as EventListener);
  // The browser reconnects by itself, which is right during loading and useless afterwards.
  events.addEventListener("error", () => {
    if (outdated()) void renew(http);
    else if (meta.value && Object.values(stages.value).every((s) => s.ready.rest || s.error))
      events.close();
  });
}
