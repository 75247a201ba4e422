/** The table's rows: each spawn site, under it its code blocks. */

import type { Report, RunMeta, SiteExtra } from "../data/contract";

export interface Row {
  id: string;
  kind: "site" | "block" | "more";
  site: number;
  code: number | null;
  name: string;
  place: string;
  file: string | null;
  line: number | null;
  /** Lines of a block, where they are in one file. */
  lines: { from: number; to: number } | null;
  /** Ticks; null where it says nothing of such a row. */
  work: number;
  span: number | null;
  parallelism: number | null;
  critical: number;
  /** Share of the span. */
  share: number;
  count: number;
  delay: number | null;
  stretch: number | null;
  spark: number[];
  /** Blocks that are not shown. */
  hidden: number;
}

/** Blocks shown below a site at once. */
export const MOST_BLOCKS = 6;

const short = (label: string) => label.replace(/^.*[/\\](?=[^/\\]+$)/, "");

interface End { kind: string; at: string | null; file: string | null; line: number | null; function: string | null }

const KINDS: Record<string, string> = { begin: "start", end: "end", wait: "wait", yield: "yield", create: "create", signal: "signal", after_create: "after create", after_wait: "after wait", after_yield: "after yield", after_signal: "after signal" };

/** `sort.rs:37→40`, `start→sort.rs:29`, `sort.rs:70→end`. */
export function stretchOfCode(from: End, to: End): string {
  const a = from.at ? short(from.at) : (KINDS[from.kind] ?? from.kind);
  const b = to.at ? (from.file !== null && from.file === to.file && to.line !== null && from.at ? String(to.line) : short(to.at)) : (KINDS[to.kind] ?? to.kind);
  return `${a}→${b}`;
}

export function rows(report: Report, extras: SiteExtra[], run: RunMeta): { site: Row; blocks: Row[] }[] {
  const span = Number(report.span) || 0;
  return (report.sites as any[]).map((s, i) => {
    const extra = extras[i];
    const name = s.function ?? (s.site === "root" ? "root" : s.site);
    const site: Row = {
      id: `s${i}`, kind: "site", site: i, code: null, name, place: s.function ? short(s.site) : "", file: s.file, line: s.line, lines: null, work: s.work, span: s.span, parallelism: s.parallelism, critical: s.critical_work, share: span > 0 ? s.critical_work / span : 0, count: s.count,
      delay: extra?.delay ?? null, stretch: extra?.stretch ?? null, spark: extra?.spark ?? [], hidden: 0,
    };
    const blocks = ((s.blocks ?? []) as any[]).map((b, k): Row => {
      const more = extra?.blocks[k];
      const code = more && more.code < run.codes.length ? more.code : null;
      const within = b.from.file && b.from.file === b.to.file && b.to.line >= b.from.line ? { from: b.from.line, to: b.to.line } : null;
      const label = code !== null ? run.codes[code]!.label : (b.from.function ?? b.to.function ?? "code");
      return {
        id: `s${i}b${k}`, kind: "block", site: i, code, name: label, place: stretchOfCode(b.from, b.to), file: run.codes[code ?? -1]?.file ?? b.from.file ?? b.to.file, line: run.codes[code ?? -1]?.line ?? b.from.line ?? b.to.line, lines: within, work: b.work, span: null, parallelism: null,
        critical: b.critical_work, share: span > 0 ? b.critical_work / span : 0, count: b.count, delay: null, stretch: more?.stretch ?? null, spark: more?.spark ?? [], hidden: 0,
      };
    });
    return { site, blocks };
  });
}

/** What is shown of them: groups in order, blocks under their site, closed and over-long ones cut. */
export function flatten(groups: { site: Row; blocks: Row[] }[], closed: ReadonlySet<string>, whole: ReadonlySet<string>): Row[] {
  const out: Row[] = [];
  for (const { site, blocks } of groups) {
    out.push(site);
    if (closed.has(site.id)) continue;
    const all = whole.has(site.id) || blocks.length <= MOST_BLOCKS + 1;
    out.push(...(all ? blocks : blocks.slice(0, MOST_BLOCKS)));
    if (!all) out.push({ ...site, id: `${site.id}more`, kind: "more", hidden: blocks.length - MOST_BLOCKS });
  }
  return out;
}
