import { expect, test } from "vitest";
import { entries, meaning } from "./glossary";

test("an entry is its first paragraph, also by its other words", () => {
  const all = entries("# T\n\n## span\n\nThe *heaviest*\nchain.\n\nMore.\n\nAlso: T-infinity\n");
  expect(all.get("span")).toBe("The heaviest chain.");
  expect(all.get("t-infinity")).toBe("The heaviest chain.");
});

test("every word that the page explains is in the glossary", async () => {
  const sources = import.meta.glob("/src/**/*.tsx", { query: "?raw", import: "default" });
  const words = new Set<string>();
  for (const load of Object.values(sources)) {
    const text = String(await load());
    for (const [, word] of text.matchAll(/<Term of="([^"]+)"/g)) words.add(word!);
    for (const [, table] of text.matchAll(/const (?:TERMS|MEANINGS)\b[^{]*= \{([^}]*)\}/g))
      for (const [, word] of table!.matchAll(/: "([^"]+)"/g)) words.add(word!);
  }
  expect(words.size).toBeGreaterThan(12);
  expect([...words].filter((word) => !meaning(word))).toEqual([]);
});
