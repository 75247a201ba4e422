/** The invented run's answers to `sites` and `source`. */

import type { SiteExtras, Source } from "../contract";
import { report } from "./report";
import { CODES, inventedRun, SITES, type Run } from "./run";
import { FILE, HEAT, SORT } from "./program";

function spark(r: Run, of: (s: Run["strands"][number]) => boolean): number[] {
  const bins = new Array<number>(64).fill(0),
    width = r.elapsed / 64;
  for (const s of r.strands)
    if (of(s))
      for (let i = Math.floor(s.start / width); i < 64 && i * width < s.end; i++)
        bins[i]! += (Math.min(s.end, (i + 1) * width) - Math.max(s.start, i * width)) / width;
  return bins;
}

export function sites(id: string): SiteExtras {
  const r = inventedRun(id),
    rep = report(id);
  const sum = (l: Run["strands"]) => l.reduce((n, s) => n + s.end - s.start, 0);
  const codes = CODES.map((_, code) => {
    const of = r.strands.filter((s) => s.code === code);
    return {
      code,
      sites: new Set(of.map((s) => s.site)).size,
      work: sum(of),
      critical: sum(of.filter((s) => s.critical)),
      count: of.length,
      sizes: [
        {
          strands: of.length,
          total: sum(of),
          spark: spark(r, (s) => s.code === code),
          busy: 1,
          free: sum(of) * (r.workers - 1),
        },
      ],
    };
  });
  const sites = SITES.map((_, place) => {
    const own = r.strands.filter((s) => s.site === place),
      by = own.map((s) => s.end - s.start).sort((x, y) => x - y);
    return {
      place,
      delay: own.reduce((n, s) => n + s.start - s.ready, 0),
      buried: 0,
      spark: spark(r, (s) => s.site === place),
      lengths: {
        min: by[0] ?? 0,
        median: by[by.length >> 1] ?? 0,
        p90: by[Math.floor(by.length * 0.9)] ?? 0,
        max: by[by.length - 1] ?? 0,
      },
      stretch: place === 1 ? 0.08 : null,
      longest: [...own]
        .sort((x, y) => y.end - y.start - (x.end - x.start))
        .slice(0, 8)
        .map((s) => ({ task: s.task, start: s.start, end: s.end })),
      blocks: rep.sites[place].blocks.map((b: { from: { function: string } }) => {
        const code = CODES.indexOf(b.from.function);
        const of = own.filter((s) => s.code === code);
        return {
          code,
          work: sum(of),
          critical: sum(of.filter((s) => s.critical)),
          count: of.length,
          spark: spark(r, (s) => s.site === place && s.code === code),
          stretch: code === 1 ? 0.08 : null,
        };
      }),
    };
  });
  return { sites, codes };
}

export function source(id: string, file: string): Source {
  if (file !== FILE)
    return {
      file,
      missing: `${file} was not found where the program was built.`,
      part: null,
      changed: false,
      lines: [],
    };
  const r = inventedRun(id),
    heat: Record<number, { ticks: number; critical: number }> = {};
  for (const s of r.strands)
    for (const [line, share] of Object.entries(HEAT[s.code] ?? {})) {
      const h = (heat[Number(line)] ??= { ticks: 0, critical: 0 });
      h.ticks += (s.end - s.start) * share;
      if (s.critical) h.critical += (s.end - s.start) * share;
    }
  return {
    file,
    missing: null,
    part: null,
    changed: false,
    lines: SORT.map((text, i) => ({
      line: i + 1,
      text,
      samples: Math.round((heat[i + 1]?.ticks ?? 0) / 1e6),
      critical: heat[i + 1]?.critical ?? 0,
      ticks: heat[i + 1]?.ticks ?? 0,
    })),
  };
}
