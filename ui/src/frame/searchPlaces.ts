/**
 * The places of a search result, to step through: strands of code or of a site, regions of one
 * name. They come from the tile of the whole run, which a report carries as well.
 */

import { computed, signal } from "@preact/signals";
import type { RegionSpan, RunMeta } from "../data/contract";
import { requests } from "../data/requests";
import type { Planes } from "../data/planes";
import { count } from "../format";
import { announcement, run, selection, showInTab, source, tab, type Selection } from "../store";
import type { SearchResult } from "./searchResults";

export interface SearchPlace {
  start: number;
  selection: Selection;
  /** The range to show, if it is more than the selection. */
  range: { t0: number; t1: number } | null;
}

export interface SearchPlaces {
  run: string;
  title: string;
  list: SearchPlace[];
  /** Index of the selected one; −1 before the first step. */
  index: number;
  /** Only the longest strands of the run are listed individually. */
  truncated: boolean;
}

export const searchPlaces = signal<SearchPlaces | null>(null);

/** `3 of 217`, or `217` before the first step; empty without places. */
export const placeCounter = computed(() => {
  const h = searchPlaces.value;
  if (!h || h.run !== run.value || h.list.length === 0) return "";
  const all = `${count(h.list.length)}${h.truncated ? "+" : ""}`;
  return h.index < 0 ? all : `${count(h.index + 1)} of ${all}`;
});

/** Strands of the tile that run this code or belong to this site, by start. */
export function strandPlaces(
  tile: Planes,
  of: { code: number } | { site: number },
  id: string,
): SearchPlace[] {
  const { id: strands, task, start } = tile.planes;
  const plane = "code" in of ? tile.planes["code"] : tile.planes["site"];
  if (!strands || !task || !start || !plane) return [];
  const wanted = "code" in of ? of.code : of.site;
  const list: SearchPlace[] = [];
  for (let i = 0; i < strands.length; i++)
    if (plane[i] === wanted)
      list.push({
        start: start[i]!,
        selection: { kind: "strand", run: id, id: strands[i]!, task: task[i]! },
        range: null,
      });
  return list.sort((a, b) => a.start - b.start);
}

/** Regions of this name, by start. */
export function regionPlaces(
  regions: readonly RegionSpan[],
  label: string,
  id: string,
): SearchPlace[] {
  return regions
    .filter((r) => r.label === label)
    .map((r): SearchPlace => ({
      start: r.start,
      selection: { kind: "task", run: id, id: r.task },
      range: { t0: r.start, t1: r.end },
    }))
    .sort((a, b) => a.start - b.start);
}

/** Finds the places of a search result. With fewer than two places there are no steps. */
export async function findPlaces(
  f: SearchResult,
  r: RunMeta,
  regions: readonly RegionSpan[],
): Promise<void> {
  searchPlaces.value = null;
  const of = f.target;
  if (!of) return;
  const make = (list: SearchPlace[], cut: boolean) => {
    searchPlaces.value =
      list.length > 0 ? { run: r.id, title: f.title, list, index: -1, truncated: cut } : null;
  };
  if ("region" in of) return make(regionPlaces(regions, of.region, r.id), false);
  try {
    const tile = await source.planes(requests.strands(r.id, r.top_level, 0));
    make(strandPlaces(tile, of, r.id), tile.facts["truncated"] === true);
  } catch {
    // Without the tile, the result is selected without steps.
  }
}

/** Selects the next hit or the previous one; the first follows the last. */
export function stepPlace(by: 1 | -1): void {
  const h = searchPlaces.peek();
  if (!h || h.run !== run.peek()) {
    announcement.value = "There is no search yet. Press / to search.";
    return;
  }
  const at = h.index < 0 ? firstStep(h, by) : (h.index + by + h.list.length) % h.list.length;
  searchPlaces.value = { ...h, index: at };
  const hit = h.list[at]!;
  const where = tab.peek() === "dag" ? "dag" : "timeline";
  showInTab(where, hit.range, hit.selection);
  announcement.value = `${h.title}, ${placeCounter.peek()}`;
}

/** The first step goes to the first hit, or back to the last one. */
function firstStep(h: SearchPlaces, by: 1 | -1): number {
  const now = selection.peek();
  const chosen = h.list.findIndex(
    (x) => now?.kind === "strand" && x.selection.kind === "strand" && x.selection.id === now.id,
  );
  if (chosen >= 0) return (chosen + by + h.list.length) % h.list.length;
  return by > 0 ? 0 : h.list.length - 1;
}
