/**
 * The selected items of the What-if tab, in the form of the request: `code:1`, `site:3`,
 * `lines:src/a.rs:10-20`, `region:setup`.
 */

import type { RunMeta } from "../data/contract";

/** The default factors of MODEL.md section 4. */
export const FACTORS = [2, 4, 8, 16, 50, 100, 200, 400] as const;

/** The default factor nearest to a factor on a logarithmic scale. */
export function nearestFactor(factor: number): (typeof FACTORS)[number] {
  return FACTORS.reduce((best, f) =>
    Math.abs(Math.log(f / factor)) < Math.abs(Math.log(best / factor)) ? f : best,
  );
}

export function toggleTarget(what: string[], one: string): string[] {
  return what.includes(one) ? what.filter((w) => w !== one) : [...what, one];
}

export interface Lines {
  file: string;
  from: number;
  to: number;
}

/** The lines of an item; null if it is something else. The file name may contain colons. */
export function linesOf(what: string): Lines | null {
  const m = /^lines:(.+):(\d+)-(\d+)$/s.exec(what);
  return m ? { file: m[1]!, from: Number(m[2]), to: Number(m[3]) } : null;
}

/** Merges adjacent and overlapping ranges of one file. */
export function mergeRanges(ranges: Lines[]): Lines[] {
  const out: Lines[] = [];
  for (const r of [...ranges].sort((a, b) => a.from - b.from)) {
    const last = out.at(-1);
    if (last && r.from <= last.to + 1) last.to = Math.max(last.to, r.to);
    else out.push({ ...r });
  }
  return out;
}

/** The item's name for people. */
export function targetLabel(what: string, r: RunMeta): string {
  const lines = linesOf(what);
  if (lines)
    return `${lines.file.replace(/^.*[/\\]/, "")}:${lines.from === lines.to ? lines.from : `${lines.from}–${lines.to}`}`;
  const [kind, id = ""] = [what.slice(0, what.indexOf(":")), what.slice(what.indexOf(":") + 1)];
  if (kind === "code") return r.codes[Number(id)]?.label ?? "code";
  if (kind === "site") {
    const s = r.sites.find((x) => x.place === Number(id));
    return s?.function ?? s?.label ?? "site";
  }
  return id;
}
