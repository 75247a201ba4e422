/** Colours of code, the same in every view and in every run of a program. */

import { colour, type Colour } from "./colors";
import type { CodeName, RunMeta } from "./data/contract";
import { meta } from "./store";

type Codes = readonly Pick<CodeName, "label">[];

const greyByCodes = new WeakMap<Codes, number>();

/**
 * The code that is grey: the root task's own code, which matters little in most programs. If
 * several blocks have that name, the heaviest one is grey, so that the others differ from it; −1 if
 * there is none. `codes` are in order of decreasing time.
 */
export function greyCode(codes: Codes): number {
  let grey = greyByCodes.get(codes);
  if (grey === undefined) {
    grey = codes.findIndex((c) => c.label === "root" || c.label === "main");
    greyByCodes.set(codes, grey);
  }
  return grey;
}

/**
 * Colour numbers for the codes of some runs: codes with the same name in several runs have one
 * number, and the first run's codes keep their own.
 */
export function colourNumbers(runs: readonly Pick<RunMeta, "codes">[]): number[][] {
  const numbers = new Map<string, number>();
  return runs.map(({ codes }) => {
    const seen = new Map<string, number>();
    return codes.map((c) => {
      const name = `${c.label}\u0000${c.file ?? ""}`;
      // Codes with one name stay distinct: the second of a run corresponds to the second of the
      // others.
      const nth = seen.get(name) ?? 0;
      seen.set(name, nth + 1);
      const key = `${name}\u0000${nth}`;
      if (!numbers.has(key)) numbers.set(key, numbers.size);
      return numbers.get(key)!;
    });
  });
}

const numbersByCodes = new WeakMap<Codes, number[]>();

/** The numbers of a run's codes among all open runs of its program; null if the run is not open. */
function runColourNumbers(codes: Codes): number[] | null {
  const known = numbersByCodes.get(codes);
  if (known) return known;
  const runs = meta.peek()?.runs ?? [];
  const own = runs.find((r) => r.codes === codes);
  if (!own) return null;
  const same = runs.filter((r) => r.name === own.name);
  colourNumbers(same).forEach((of, i) => numbersByCodes.set(same[i]!.codes, of));
  return numbersByCodes.get(codes)!;
}

/** The colour of one of a run's codes; `null` is unknown code. */
export function codeColour(codes: Codes, code: number | null, dark: boolean): Colour {
  return colourByNumber(codes, runColourNumbers(codes), code, dark);
}

/** The colour of a code when the numbers come from the runs shown side by side. */
export function colourByNumber(
  codes: Codes,
  numbers: number[] | null,
  code: number | null,
  dark: boolean,
): Colour {
  const number = code === null ? null : (numbers?.[code] ?? code);
  return colour("code", { code: number, root: code !== null && code === greyCode(codes) }, dark);
}
