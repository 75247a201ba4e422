/**
 * Meanings of the page's terms: the entries of docs/glossary.md, which `workspan help WORD` prints
 * too.
 */

import text from "./glossary.md?raw";

/** The first paragraph of each entry, by its name and by its other words. */
export function entries(glossary: string): Map<string, string> {
  const all = new Map<string, string>();
  // Words below this heading are not topics of help.
  const [topics] = glossary.split(/^# For contributors$/m);
  for (const entry of topics!.split(/^## /m).slice(1)) {
    const [name, ...paragraphs] = entry.split(/\n{2,}/).map((p) => p.trim());
    const first = paragraphs.find((p) => p && !p.startsWith("#"));
    if (!name || !first) continue;
    const meaning = first.replace(/[`*]/g, "").replace(/\s+/g, " ");
    const also = paragraphs.find((p) => p.startsWith("Also:"))?.slice("Also:".length) ?? "";
    for (const word of [name, ...also.split(",")]) all.set(word.trim().toLowerCase(), meaning);
  }
  return all;
}

const MEANINGS = entries(text);

/** The glossary's text for a word; `undefined` without an entry. */
export function meaning(word: string): string | undefined {
  return MEANINGS.get(word.toLowerCase());
}
