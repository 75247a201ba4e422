/** The table's rows: spawn sites, each followed by its code blocks. */

import { fileName } from "../format";
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
  /** Lines of a block, if they are in one file. */
  lines: { from: number; to: number } | null;
  /** Ticks; the columns that are null are unknown for the row. */
  work: number;
  span: number | null;
  parallelism: number | null;
  critical: number;
  /** Share of the span. */
  share: number;
  count: number;
  delay: number | null;
  /** Time in which joins were ready to continue while their thread ran an unrelated task. */
  buried: number | null;
  /** Number of stolen strands; null if unknown. */
  steals: number | null;
  stretch: number | null;
  spark: number[];
  /** Number of blocks that are not shown. */
  hidden: number;
}

/** Number of blocks shown below a site at first. */
export const MAX_BLOCKS = 6;

interface End {
  kind: string;
  at: string | null;
  file: string | null;
  line: number | null;
  function: string | null;
}

const KINDS: Record<string, string> = {
  begin: "start",
  end: "end",
  wait: "wait",
  yield: "yield",
  create: "create",
  signal: "signal",
  after_create: "after create",
  after_wait: "after wait",
  after_yield: "after yield",
  after_signal: "after signal",
  handoff: "handoff",
  after_handoff: "after handoff",
};

/** `sort.rs:37→40`, `start→sort.rs:29`, `sort.rs:70→end`. */
export function stretchOfCode(from: End, to: End): string {
  const a = from.at ? fileName(from.at) : (KINDS[from.kind] ?? from.kind);
  const b = to.at
    ? from.file !== null && from.file === to.file && to.line !== null && from.at
      ? String(to.line)
      : fileName(to.at)
    : (KINDS[to.kind] ?? to.kind);
  return `${a}→${b}`;
}

const NO_VALUES = {
  lines: null,
  span: null,
  parallelism: null,
  delay: null,
  buried: null,
  steals: null,
  stretch: null,
  spark: [] as number[],
  hidden: 0,
};

/** Codes come with the extras; without them, the report's own blocks are listed below a site. */
export function siteTableRows(
  report: Report,
  extras: SiteExtra[],
  run: RunMeta,
): { site: Row; blocks: Row[] }[] {
  const span = Number(report.span) || 0;
  return (report.sites as any[]).map((s, i) => {
    const extra = extras[i];
    const name = s.function ?? (s.site === "root" ? "root" : fileName(s.site));
    const site: Row = {
      id: `s${i}`,
      kind: "site",
      site: i,
      code: null,
      name,
      place: s.function ? fileName(s.site) : "",
      file: s.file,
      line: s.line,
      lines: null,
      work: s.work,
      span: s.span,
      parallelism: s.parallelism,
      critical: s.critical_work,
      share: span > 0 ? s.critical_work / span : 0,
      count: s.count,
      delay: extra?.delay ?? null,
      buried: extra?.buried ?? null,
      steals: stealsOf(report, s.site),
      stretch: extra?.stretch ?? null,
      spark: extra?.spark ?? [],
      hidden: 0,
    };
    // Ends of the report's finer blocks, by the function in which they start: the lines of a code.
    const finer = (s.blocks ?? []) as any[];
    const blocks = extra
      ? extra.blocks
          .map((b, k): Row => {
            const code = run.codes[b.code];
            const ends =
              finer.find(
                (f) =>
                  code &&
                  f.from.function !== null &&
                  f.from.function === code.function &&
                  f.from.line === code.line,
              ) ??
              finer.find(
                (f) => code && f.from.function === code.function && f.from.file === code.file,
              );
            const within =
              ends &&
              ends.from.file &&
              ends.from.file === ends.to.file &&
              ends.to.line >= ends.from.line
                ? { from: ends.from.line, to: ends.to.line }
                : null;
            return {
              ...NO_VALUES,
              id: `s${i}b${k}`,
              kind: "block",
              site: i,
              code: code ? b.code : null,
              name: code?.label ?? "code",
              place: code?.file
                ? `${fileName(code.file)}${code.line !== null ? `:${code.line}` : ""}`
                : "",
              file: code?.file ?? null,
              line: code?.line ?? null,
              lines: within,
              work: b.work,
              critical: b.critical,
              share: span > 0 ? b.critical / span : 0,
              count: b.count,
              stretch: b.stretch,
              spark: b.spark,
            };
          })
          .sort((x, y) => y.critical - x.critical || y.work - x.work)
      : finer.map((b, k): Row => ({
          ...NO_VALUES,
          id: `s${i}b${k}`,
          kind: "block",
          site: i,
          code: null,
          name: b.from.function ?? b.to.function ?? "code",
          place: stretchOfCode(b.from, b.to),
          file: b.from.file ?? b.to.file,
          line: b.from.line ?? b.to.line,
          work: b.work,
          critical: b.critical_work,
          share: span > 0 ? b.critical_work / span : 0,
          count: b.count,
        }));
    return { site, blocks };
  });
}

/** Number of steals of a site's strands, from the report's statistics. */
function stealsOf(report: Report, site: string): number | null {
  const all = (report.statistics?.sites ?? []) as { site: string; ready?: { steals: number } }[];
  return all.find((s) => s.site === site)?.ready?.steals ?? null;
}

/**
 * The shown rows: groups in order, blocks below their site, without closed blocks and those beyond
 * the limit.
 */
export function visibleRows(
  groups: { site: Row; blocks: Row[] }[],
  closed: ReadonlySet<string>,
  whole: ReadonlySet<string>,
): Row[] {
  const out: Row[] = [];
  for (const { site, blocks } of groups) {
    out.push(site);
    if (closed.has(site.id)) continue;
    const all = whole.has(site.id) || blocks.length <= MAX_BLOCKS + 1;
    out.push(...(all ? blocks : blocks.slice(0, MAX_BLOCKS)));
    if (!all)
      out.push({
        ...site,
        id: `${site.id}more`,
        kind: "more",
        hidden: blocks.length - MAX_BLOCKS,
      });
  }
  return out;
}
