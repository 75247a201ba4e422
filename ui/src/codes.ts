/** The colour of code, the same in every view and in every run of a program. */

import { colour, type Colour } from "./colors";
import type { CodeName, RunMeta } from "./data/contract";
import { meta } from "./store";

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

/**
 * The numbers by which the codes of some runs are coloured: what is called the same in several runs
 * has one number, and numbers of the first run are its codes' own.
 */
export function numbersOf(runs: readonly Pick<RunMeta, "codes">[]): number[][] {
  const numbers = new Map<string, number>();
  return runs.map(({ codes }) => {
    const seen = new Map<string, number>();
    return codes.map((c) => {
      const name = `${c.label}\u0000${c.file ?? ""}`;
      // Code of one name is still told apart: the second of a run is the second of the others.
      const nth = seen.get(name) ?? 0;
      seen.set(name, nth + 1);
      const key = `${name}\u0000${nth}`;
      if (!numbers.has(key)) numbers.set(key, numbers.size);
      return numbers.get(key)!;
    });
  });
}

const shared = new WeakMap<Codes, number[]>();

/** The numbers of a run's codes among all open runs of its program; null where it is not open. */
function numbers(codes: Codes): number[] | null {
  const known = shared.get(codes);
  if (known) return known;
  const runs = meta.peek()?.runs ?? [];
  const own = runs.find((r) => r.codes === codes);
  if (!own) return null;
  const same = runs.filter((r) => r.name === own.name);
  numbersOf(same).forEach((of, i) => shared.set(same[i]!.codes, of));
  return shared.get(codes)!;
}

/** The colour of one of a run's codes; `null` is unknown. */
export function codeColour(codes: Codes, code: number | null, dark: boolean): Colour {
  return numbered(codes, numbers(codes), code, dark);
}

/** The same where the runs that are beside each other give the numbers. */
export function numbered(
  codes: Codes,
  numbers: number[] | null,
  code: number | null,
  dark: boolean,
): Colour {
  const number = code === null ? null : (numbers?.[code] ?? code);
  return colour("code", { code: number, root: code !== null && code === greyCode(codes) }, dark);
}
