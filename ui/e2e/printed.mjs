/** Compares numbers as the page prints them with their exact values. */

import { check } from "./harness.mjs";

const UNITS = {
  "": 1,
  "×": 1,
  "%": 0.01,
  ns: 1e-9,
  µs: 1e-6,
  ms: 1e-3,
  s: 1,
  min: 60,
  k: 1e3,
  M: 1e6,
  G: 1e9,
};

/** The value, and half of the last digit's place value; null if the text contains no number. */
export function printed(text) {
  const found = /([−+<≈-]?)\s?(\d[\d,]*)(\.\d+)?\s*(worker·)?(ns|µs|ms|min|s|%|×|k|M|G)?/.exec(
    text.replaceAll("\u00a0", " "),
  );
  if (!found) return null;
  const [, sign, whole, part = "", , unit = ""] = found;
  const digits = Math.max(0, part.length - 1);
  const factor = UNITS[unit];
  const value = Number(whole.replaceAll(",", "") + part) * factor;
  const half = 0.5 * 10 ** -digits * factor;
  // Times are shown with three digits: `1,234 ms` is no more precise than `1.23 s`.
  return {
    value: sign === "−" || sign === "-" ? -value : value,
    least: sign === "<" ? 0 : null,
    half,
  };
}

/** Throws unless `text` is `value` as printed; `value` may be off by `error`. */
export function same(text, value, what, error = 0) {
  const seen = printed(text ?? "");
  check(seen, `${what}: no number in “${text}”`);
  const near =
    seen.least === null
      ? Math.abs(seen.value - value) <= seen.half * 1.0001 + error + 1e-12
      : value > 0 && value <= seen.value;
  check(near, `${what}: the page has “${text}”, the report ${value}`);
}
