/** The colour of code, the same in every view. */

import { colour, type Colour } from "./colors";
import type { CodeName } from "./data/contract";

type Codes = readonly Pick<CodeName, "label">[];

const greys = new WeakMap<Codes, number>();

/**
 * Which code is grey: what the root task does by itself, as that is beside the matter in most
 * programs. Where several blocks are called so, the heaviest, so that the others are told from it;
 * −1 where none is. `codes` are most time first.
 */
export function greyCode(codes: Codes): number {
  let grey = greys.get(codes);
  if (grey === undefined) {
    grey = codes.findIndex((c) => c.label === "root" || c.label === "main");
    greys.set(codes, grey);
  }
  return grey;
}

/** The colour of one of a run's codes; `null` is unknown. */
export function codeColour(codes: Codes, code: number | null, dark: boolean): Colour {
  return colour("code", { code, root: code !== null && code === greyCode(codes) }, dark);
}
