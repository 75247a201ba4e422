/**
 * The figures of `workspan plot` and `flame` have the page's colours and textures. They are tables
 * in Rust, so this reads them from the source: a change on one side alone fails here.
 */

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { activity, colour, contrast, DARK, LIGHT, type Activity } from "./colors";

const source = (file: string) =>
  readFileSync(new URL(`../../crates/export/src/plot/${file}`, import.meta.url), "utf8");

const found = (text: string, what: RegExp): string => {
  const match = what.exec(text);
  if (!match) throw new Error(`crates/export/src/plot has nothing like ${what}`);
  return match[1]!;
};

/** The values of `const NAME: [TYPE; N] = [VALUE, …];`. */
const array = (text: string, name: string): string[] =>
  found(text, new RegExp(`const ${name}: \\[\\w+; \\d+\\] =\\s*\\[([^\\]]*)\\];`))
    .split(",")
    .map((value) => value.trim())
    .filter(Boolean);

const hex = (value: string): string => `#${value.replace(/^0x/, "").toLowerCase()}`;

describe("figures in Rust", () => {
  test("have the page's colour and texture of each code", () => {
    const flame = source("flame.rs");
    const [colours, textures] = [array(flame, "CODE"), array(flame, "TEXTURES")];
    const first = array(flame, "FIRST_TEXTURES").map(Number);
    expect(colours).toHaveLength(8);
    expect(first).toHaveLength(8);
    const rounds = textures.length;
    const there = Array.from({ length: colours.length * rounds }, (_, code) => {
      const [round, at] = [Math.floor(code / colours.length), code % colours.length];
      const texture = textures[(first[at]! + round) % rounds]!;
      return { fill: hex(colours[at]!), texture: texture.replace("Texture::", "").toLowerCase() };
    });
    const here = there.map((_, code) => {
      const { fill, texture } = colour("code", { code }, false);
      return { fill, texture };
    });
    expect(there).toEqual(here);
  });

  test("have the page's colour of recording, which differs from that of work in greyscale", () => {
    const there = found(source("fill.rs"), /const RECORDING: Fill =\s*Fill::plain\(Color\((\w+)\)/);
    expect(hex(there)).toBe(LIGHT.recording);
    for (const { recording, work } of [LIGHT, DARK])
      expect(contrast(recording, work)).toBeGreaterThan(2);
  });

  test.each<[Activity, string]>([
    ["work", "WORK"],
    ["delay", "DELAY"],
    ["sched", "SCHEDULER"],
    ["app", "PROGRAM"],
    ["descheduled", "DESCHEDULED"],
    ["blocked", "BLOCKED"],
  ])("have the page's look of %s", (kind, name) => {
    const fill = source("fill.rs");
    const named = (value: string): string =>
      hex(
        /^Color\((\w+)\)$/.exec(value)?.[1] ??
          found(fill, new RegExp(`const ${value}: Color = Color\\((\\w+)\\)`)),
      );
    const made = found(fill, new RegExp(`const ${name}: Fill =\\s*Fill::(\\w+\\(.*\\));`));
    const [, how, color, texture] = /^(\w+)\((Color\(\w+\)|\w+)(?:, Texture::(\w+))?/.exec(made)!;
    expect({
      fill: named(color!),
      texture: how === "plain" ? "none" : texture!.toLowerCase(),
    }).toEqual({
      fill: activity(kind, false).fill,
      texture: activity(kind, false).texture,
    });
  });
});
