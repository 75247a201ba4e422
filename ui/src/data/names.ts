/**
 * Names of functions in traces of other tools, which may be whole C++ and Rust names. Recorded
 * traces have short ones already, made by the same rules.
 */

/** `after a::B<C>::f(int):7` becomes `after B::f:7`; other texts stay as they are. */
export function shortName(text: string): string {
  if (!/[\w>]<|::|\{/.test(text) || /[<({]/.exec(text) === null || /\boperator\b/.test(text))
    return text;
  const [, after = "", whole = "", line = ""] = /^(after )?(.*?)(:\d+)?$/.exec(text) ?? [];
  const plain = withoutParameters(withoutGenerics(whole));
  const parts: string[] = [];
  for (const part of plain.split("::")) {
    // The function stands before its closures.
    if (part.startsWith("{") && parts.length > 0) break;
    if (part !== "") parts.push(part);
  }
  const name = parts.at(-1);
  if (name === undefined) return text;
  const owner = parts.at(-2) ?? "";
  return `${after}${/^\p{Lu}/u.test(owner) ? `${owner}::` : ""}${name}${line}`;
}

/** Without what is in `<…>`; of `<T as Trait>::f` the type stays. */
function withoutGenerics(name: string): string {
  let out = "";
  let skipped = 0;
  let kept = 0;
  for (let i = 0; i < name.length; i++) {
    const c = name[i]!;
    if (c === "<") {
      if (skipped > 0) skipped++;
      else if (out === "") kept++;
      else skipped = 1;
    } else if (c === ">" && name[i - 1] !== "-") {
      if (skipped > 0) skipped--;
      else if (kept > 0) kept--;
    } else if (skipped > 0) continue;
    else if (kept > 0 && name.startsWith(" as ", i)) {
      // The trait is left out, up to the bracket that ends the type.
      skipped = 1;
      kept--;
    } else out += c;
  }
  return out;
}

const withoutParameters = (name: string): string => name.replace(/(?<=[\w}])\(.*$/, "");

/** Keys of names of functions, and of codes, in answers. */
const NAME_KEYS = new Set(["function", "label"]);

/** Shortens the names in an answer, in place. */
export function shortenNames(of: unknown): void {
  if (Array.isArray(of)) {
    for (const item of of) if (item !== null && typeof item === "object") shortenNames(item);
    return;
  }
  if (of === null || typeof of !== "object") return;
  const object = of as Record<string, unknown>;
  for (const [key, value] of Object.entries(object))
    if (typeof value === "string") {
      if (NAME_KEYS.has(key) || (key === "text" && object["as"] === "code"))
        object[key] = shortName(value);
    } else shortenNames(value);
}

/** An answer from its text; those about SQL and sources have no names to shorten. */
export function parsedAnswer(url: string, text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (/<|::\{/.test(text) && !/\/(sql|queries|source)\b/.test(url)) shortenNames(value);
  return value;
}
