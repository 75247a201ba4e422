/** Logical stacks from the frames of a flame graph. */

import type { Flame } from "../data/contract";

export interface CodeStack {
  /** The root's site first; a site occurs once, however often its tasks create each other. */
  sites: number[];
  code: number;
  ticks: number;
}

/** The stacks that end in code of a site, in a code, or in a code of a site: most time first. */
export function stacksOf(flame: Flame, site: number | null, code: number | null): CodeStack[] {
  const paths: number[][] = [];
  const out = new Map<string, CodeStack>();
  for (const f of flame.frames) {
    const above = f.parent === null ? [] : (paths[f.parent] ?? []);
    // Parents precede their children.
    paths.push(above.includes(f.site) ? above : [...above, f.site]);
    if (f.code === null || f.ticks <= 0) continue;
    if (site !== null && f.site !== site) continue;
    if (code !== null && f.code !== code) continue;
    const sites = paths.at(-1)!;
    const key = `${sites.join()}:${f.code}`;
    const known = out.get(key);
    if (known) known.ticks += f.ticks;
    else out.set(key, { sites, code: f.code, ticks: f.ticks });
  }
  return [...out.values()].sort((a, b) => b.ticks - a.ticks);
}
