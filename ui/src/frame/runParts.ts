/** Viewing a part of a run alone: a region, a part, or the tasks of a spawn site. */

import { batch } from "@preact/signals";
import type { PartMeta, RunMeta } from "../data/contract";
import { requests } from "../data/requests";
import { plural } from "../format";
import { announcement, meta, openParts, run, selection, source, wholeRunOf } from "../store";
import { notify, toast } from "./overlay";

const partsInRequest = new Set<string>();

/** Shows a part, or the whole run if the part cannot be made. */
export async function showPart(id: string): Promise<void> {
  const known = openParts.peek().find((part) => part.id === id);
  if (!known && partsInRequest.has(id)) return;
  partsInRequest.add(id);
  try {
    if (!known) notify("Computing this part of the run …");
    const made = known ?? (await source.json<RunMeta>(requests.only(id)));
    batch(() => {
      if (!known) openParts.value = [...openParts.peek(), made];
      // Strands, tasks, sites and code have other indices there.
      if (run.peek() !== id) selection.value = null;
      run.value = id;
    });
    // For the eye, the banner says it.
    toast.value = "";
    announcement.value = `Only ${made.only?.label ?? "a part"} is measured now`;
  } catch (e) {
    notify(e instanceof Error ? e.message : "This part can't be shown.");
    showWhole();
  } finally {
    partsInRequest.delete(id);
  }
}

export function showWhole(): void {
  const whole = wholeRunOf(run.value);
  if (whole === run.value) return;
  batch(() => {
    selection.value = null;
    run.value = whole;
  });
  notify("The whole run");
}

/** The parts to choose from. */
export const partsOfRun = (): readonly PartMeta[] =>
  meta.value?.runs.find((r) => r.id === wholeRunOf(run.value))?.parts ?? [];

const KINDS = { region: "region", part: "part", site: "task" } as const;

/** `64 regions`. */
export const partCountText = (part: Pick<PartMeta, "kind" | "count">): string =>
  plural(part.count, KINDS[part.kind]);
