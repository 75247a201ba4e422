/**
 * What a word of the page means: the entries of docs/glossary.md, which `workspan help WORD` prints
 * too.
 */

import text from "./glossary.md?raw";

/** The first paragraph of each entry, by its name and by the words that also lead to it. */
export function entries(glossary: string): Map<string, string> {
  const all = new Map<string, string>();
  // Words below this heading are no topics of help.
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

/** What the glossary says about a word; `undefined` where it has no entry. */
export function meaning(word: string): string | undefined {
  return MEANINGS.get(word.toLowerCase());
}
