/** Search: sites, code, regions and functions by name or place, tasks by number. */

import type { RegionSpan, RunMeta } from "../data/contract";
import { count } from "../format";
import { showInTab, tab, type Selection, type Tab } from "../store";

export interface SearchResult {
  kind: "task" | "site" | "code" | "region" | "function";
  title: string;
  where: string;
  go: () => void;
  /** The item whose places can be stepped through. */
  target?: { code: number } | { site: number } | { region: string };
}

/** Results, best first, at most `most`. */
export function search(
  text: string,
  run: RunMeta,
  regions: RegionSpan[],
  most = 40,
): SearchResult[] {
  const query = text.trim().toLowerCase();
  if (!query) return [];
  const found: (SearchResult & { rank: number })[] = [];
  const number = /^(?:task\s*)?#?(\d+)$/.exec(query);
  if (number && Number(number[1]) < run.numbered_tasks) {
    const id = Number(number[1]);
    // If subtrees are folded, numbers do not count the tasks inside.
    const where =
      run.numbered_tasks < run.tasks
        ? `of the ${count(run.numbered_tasks)} tasks that are not folded`
        : "";
    found.push({
      kind: "task",
      title: `task ${id}`,
      where,
      rank: 0,
      go: () => go({ kind: "task", run: run.id, id }, "timeline", ["timeline", "dag"]),
    });
  }
  // A task inside a folded strand: the strand's number and the task's number in it.
  const inner = run.has.inside ? /^(?:task\s*)?#?(\d+)\.(\d+)$/.exec(query) : null;
  if (inner)
    found.push({
      kind: "task",
      title: `task ${inner[1]}.${inner[2]}`,
      where: "inside a folded strand",
      rank: 0,
      go: () =>
        go({ kind: "group", run: run.id, id: `s${inner[1]}.${inner[2]}`, task: 0 }, "dag", [
          "dag",
          "timeline",
        ]),
    });
  run.sites.forEach((s, site) => {
    const at = rank(query, [s.function, s.label, s.file && `${s.file}:${s.line}`]);
    if (at !== null)
      found.push({
        kind: "site",
        title: s.function ?? s.label,
        where: s.function ? s.label : "",
        rank: at + 0.1,
        target: { site },
        go: () => go({ kind: "site", run: run.id, site }, "sites", ["timeline", "dag", "sites"]),
      });
  });
  const functions = new Set<string>();
  run.codes.forEach((c, code) => {
    const where = c.file ? `${c.file}:${c.line ?? "?"}` : "";
    const at = rank(query, [c.label, c.function, where]);
    if (at === null) return;
    found.push({
      kind: "code",
      title: c.label,
      where,
      rank: at + 0.2,
      target: { code },
      go: () => go({ kind: "code", run: run.id, code }, "sites", ["timeline", "dag", "sites"]),
    });
    if (c.function) functions.add(c.function);
  });
  for (const c of [...run.codes, ...run.sites]) {
    if (
      !c.function ||
      functions.has(c.function) ||
      rank(query, [c.function]) === null ||
      !c.file ||
      c.line === null
    )
      continue;
    functions.add(c.function);
    const { file, line } = c;
    found.push({
      kind: "function",
      title: c.function,
      where: `${file}:${line}`,
      rank: rank(query, [c.function])! + 0.4,
      go: () => go({ kind: "line", run: run.id, file, line }, "sites", ["sites"]),
    });
  }
  for (const r of regions) {
    const at = rank(query, [r.label]);
    if (at !== null)
      found.push({
        kind: "region",
        title: r.label,
        where: r.part ? "part" : r.tree ? "tree" : "region",
        rank: at + 0.3,
        target: { region: r.label },
        go: () =>
          showInTab(
            "timeline",
            { t0: r.start, t1: r.end },
            { kind: "task", run: run.id, id: r.task },
          ),
      });
  }
  return found.sort((a, b) => a.rank - b.rank).slice(0, most);
}

/** Selects it on the current tab if that can show it, otherwise on `to`. */
function go(what: Selection, to: Tab, stay: Tab[]): void {
  showInTab(stay.includes(tab.value) ? tab.value : to, null, what);
}

/** 0 equal, 1 prefix, 2 prefix of a word, 3 contained; null otherwise. */
function rank(query: string, texts: (string | null | undefined)[]): number | null {
  let best: number | null = null;
  for (const t of texts) {
    if (!t) continue;
    const low = t.toLowerCase(),
      at = low.indexOf(query);
    if (at < 0) continue;
    const r = low === query ? 0 : at === 0 ? 1 : /[^a-z0-9]/.test(low[at - 1]!) ? 2 : 3;
    if (best === null || r < best) best = r;
  }
  return best;
}
