/** Name and look of a frame. */

import { codeColour } from "../codeColours";
import { ink, mix, tokens, type Colour } from "../colors";
import type { RunMeta } from "../data/contract";
import { fileName, percent, sized, ticks } from "../format";
import type { FrameLook } from "./FlameGraph";
import type { FlameNode } from "./tree";

/** The code's name, or the function that creates the tasks of a site, with their sizes. */
export function nameOf(n: FlameNode, r: RunMeta): string {
  if (n.code !== null) return r.codes[n.code]?.label ?? "other code";
  const site = r.sites[n.site];
  if (!site || site.label === "root") return sized(n.parent ? "other site" : r.name, n.sizes);
  return sized(site.function ?? fileName(site.label), n.sizes);
}

export function placeOf(n: FlameNode, r: RunMeta): string {
  if (n.code !== null) {
    const code = r.codes[n.code];
    return code?.file ? `${fileName(code.file)}${code.line === null ? "" : `:${code.line}`}` : "";
  }
  const site = r.sites[n.site];
  return !n.parent || !site || site.label === "root" ? "" : `spawned at ${fileName(site.label)}`;
}

/** Share of the code's colour in the frames of its ancestors. */
const TINT = 0.4;

/** The code's own colour and texture for its frames; a tint of the colour for their ancestors. */
export function colourOf(n: FlameNode, r: RunMeta, dark: boolean): Colour {
  const full = codeColour(r.codes, n.heaviest, dark);
  if (n.code !== null) return full;
  const fill = mix(tokens(dark).panel, full.fill, TINT);
  return { fill, ink: ink(fill), texture: "none" };
}

/** The look of the frames of one run. */
export const lookOf =
  (root: FlameNode, r: RunMeta, dark: boolean) =>
  (n: FlameNode): FrameLook => {
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
