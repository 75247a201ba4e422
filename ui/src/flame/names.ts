/** What a frame is called and how it looks. */

import { codeColour } from "../codes";
import { ink, mix, tokens, type Colour } from "../colors";
import type { RunMeta } from "../data/contract";
import { fileName, percent, ticks } from "../format";
import type { Look } from "./Graph";
import type { FlameNode } from "./tree";

/** The code's name; the function that creates the tasks of a site. */
export function nameOf(n: FlameNode, r: RunMeta): string {
  if (n.code !== null) return r.codes[n.code]?.label ?? "other code";
  const site = r.sites[n.site];
  if (!site || site.label === "root") return n.parent ? "other site" : r.name;
  return site.function ?? fileName(site.label);
}

export function placeOf(n: FlameNode, r: RunMeta): string {
  if (n.code !== null) {
    const code = r.codes[n.code];
    return code?.file ? `${fileName(code.file)}${code.line === null ? "" : `:${code.line}`}` : "";
  }
  const site = r.sites[n.site];
  return !n.parent || !site || site.label === "root" ? "" : `spawned at ${fileName(site.label)}`;
}

/** How much of the code's colour the frames of its ancestors have. */
const TINT = 0.4;

/** The code's own colour where it runs; a tint of it in the frames below. */
export function colourOf(n: FlameNode, r: RunMeta, dark: boolean): Colour {
  const full = codeColour(r.codes, n.heaviest, dark);
  if (n.code !== null) return full;
  const fill = mix(tokens(dark).panel, full.fill, TINT);
  return { fill, ink: ink(fill), texture: full.texture };
}

/** How the frames of one run look. */
export const lookOf =
  (root: FlameNode, r: RunMeta, dark: boolean) =>
  (n: FlameNode): Look => {
    const name = nameOf(n, r);
    const value = ticks(n.total);
    return {
      colour: colourOf(n, r, dark),
      name,
      place: placeOf(n, r),
      value,
      words: `${name}, ${value}, ${percent(n.total / root.total, 1)}`,
    };
  };
