/**
 * The table's filter: words that must occur, and limits such as `work>1ms`, `critical >= 5%`,
 * `count<10`. All of them must hold.
 */

export interface RowFacts {
  text: string;
  /** By name: times in seconds, shares from 0 to 1, counts. */
  numbers: Record<string, number | null>;
}

export type Filter = { error: string } | { fits: (facts: RowFacts) => boolean };

const UNITS: Record<string, number> = {
  s: 1,
  ms: 1e-3,
  us: 1e-6,
  µs: 1e-6,
  μs: 1e-6,
  ns: 1e-9,
  "%": 0.01,
  x: 1,
  "×": 1,
  k: 1e3,
  m: 1e6,
  g: 1e9,
  "": 1,
};
const LIMIT =
  /([A-Za-z_]+)\s*(>=|<=|!=|>|<|=)\s*([-\d.][\d.,_]*(?:e-?\d+)?)\s*(ns|us|µs|μs|ms|s|%|x|×|k|m|g)?(?=\s|,|$)/gi;

/** Parses a filter; `known` are the names allowed in limits. */
export function parse(text: string, known: readonly string[]): Filter {
  const tests: ((f: RowFacts) => boolean)[] = [];
  let error: string | null = null;
  const rest = text.replace(
    LIMIT,
    (_, name: string, sign: string, digits: string, unit: string = "") => {
      const key =
        known.find((k) => k === name.toLowerCase()) ??
        known.find((k) => k.startsWith(name.toLowerCase()));
      const value = Number(digits.replace(/[_,]/g, "")) * (UNITS[unit.toLowerCase()] ?? 1);
      if (!key) error ??= `Unknown column “${name}”. Columns: ${known.join(", ")}`;
      else if (!Number.isFinite(value)) error ??= `“${digits}” is not a number`;
      else
        tests.push((f) => {
          const n = f.numbers[key];
          return n !== null && n !== undefined && compare(n, sign, value);
        });
      return " ";
    },
  );
  const dangling = /[A-Za-z_]+\s*(?:>=|<=|>|<)\s*\S*/.exec(rest);
  if (dangling && !error) error = `“${dangling[0].trim()}” needs a number, as in work>1ms`;
  if (error) return { error };
  const words = rest
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((w) => w.toLowerCase());
  return {
    fits: (f) => {
      const t = f.text.toLowerCase();
      return (
        words.every((w) =>
          w.startsWith("-") && w.length > 1 ? !t.includes(w.slice(1)) : t.includes(w),
        ) && tests.every((test) => test(f))
      );
    },
  };
}

/** Compares to nine digits, because typed numbers have fewer digits than measured ones. */
function compare(a: number, sign: string, b: number): boolean {
  const same = Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
  switch (sign) {
    case ">":
      return a > b && !same;
    case "<":
      return a < b && !same;
    case ">=":
      return a > b || same;
    case "<=":
      return a < b || same;
    case "!=":
      return !same;
    default:
      return same;
  }
}
