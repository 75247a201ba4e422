import { describe, expect, test } from "vitest";
import { activity, colour, contrast, DARK, LIGHT, rgb, sequential, type Colour } from "./colors";

/**
 * Matrices of the three colour-vision deficiencies on linear RGB: Machado, Oliveira and Fernandes
 * 2009, severity 1.0.
 */
const VISIONS: Record<string, number[][]> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritan: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

/** CIELAB values of a colour as seen with a vision's matrix. */
function lab(hex: string, matrix: number[][]): number[] {
  const linear = rgb(hex).map((v) =>
    v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4,
  );
  const [r, g, b] = matrix.map((row) =>
    Math.min(
      1,
      Math.max(
        0,
        row.reduce((n, k, i) => n + k * linear[i]!, 0),
      ),
    ),
  ) as [number, number, number];
  const f = (t: number) => (t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116);
  const [x, y, z] = [
    f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505),
    f(0.2126 * r + 0.7152 * g + 0.0722 * b),
    f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089),
  ];
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}
const distance = (a: string, b: string, m: number[][]) =>
  Math.hypot(...lab(a, m).map((v, i) => v - lab(b, m)[i]!));

function closest(colours: string[]): number {
  let least = Infinity;
  for (const m of Object.values(VISIONS))
    colours.forEach((a, i) =>
      colours.slice(i + 1).forEach((b) => (least = Math.min(least, distance(a, b, m)))),
    );
  return least;
}

describe.each([
  ["light", false],
  ["dark", true],
] as const)("%s", (_, dark) => {
  const t = dark ? DARK : LIGHT;
  test("text is readable on every background", () => {
    for (const text of [
      t.fg,
      t.fg2,
      t.fg3,
      t.accent,
      t.good,
      t.bad,
      t.keyword,
      t.comment,
      t.string,
    ]) {
      for (const on of [t.panel, t.panel2])
        expect(contrast(text, on), `${text} on ${on}`).toBeGreaterThanOrEqual(4.5);
    }
    for (const text of [t.fg, t.fg2, t.fg3, t.accent])
      for (const on of [t.bg, t.inset, t.accentBg])
        expect(contrast(text, on), `${text} on ${on}`).toBeGreaterThanOrEqual(4.5);
    expect(contrast(t.onWork, t.work)).toBeGreaterThanOrEqual(4.5);
  });
  test("labels are readable on every box", () => {
    for (const mode of ["code", "site", "worker", "level", "critical"] as const)
      for (let i = 0; i < 40; i++) {
        const c = colour(
          mode,
          { code: i, site: i, row: i, level: i, critical: i % 2 === 0, readyPath: i % 3 === 0 },
          dark,
        );
        expect(
          contrast(c.ink, c.fill),
          `${mode} ${i}: ${c.ink} on ${c.fill}`,
        ).toBeGreaterThanOrEqual(4.5);
      }
  });
  test("the first five codes and the activities are distinct for every colour vision", () => {
    expect(
      closest(
        [0, 1, 2, 3]
          .map((code) => colour("code", { code }, dark).fill)
          .concat(colour("code", { root: true }, dark).fill),
      ),
    ).toBeGreaterThan(11);
    expect(
      closest([0, 1, 2, 3, 4, 5, 6, 7].map((row) => colour("worker", { row }, dark).fill)),
    ).toBeGreaterThan(11);
    expect(closest([t.work, t.delay, t.sched, t.appBg])).toBeGreaterThan(18);
  });
  test("the first three codes are far apart for every colour vision", () => {
    const first = [0, 1, 2].map((code) => colour("code", { code }, dark).fill);
    expect(closest(first)).toBeGreaterThan(24);
  });
  test("the first eight codes and the root differ in greyscale, by lightness or by texture", () => {
    const all = [0, 1, 2, 3, 4, 5, 6, 7].map((code) => colour("code", { code }, dark));
    all.push(colour("code", { root: true }, dark));
    all.forEach((a, i) => {
      for (const b of all.slice(i + 1))
        if (a.texture === b.texture)
          expect(contrast(a.fill, b.fill), `${a.fill}, ${b.fill}`).toBeGreaterThan(1.25);
    });
  });
  test("equal colours differ by pattern, up to 32 items", () => {
    const key = (c: Colour) => c.fill + c.texture;
    for (const mode of ["code", "worker"] as const)
      expect(
        new Set(Array.from({ length: 32 }, (_, i) => key(colour(mode, { code: i, row: i }, dark))))
          .size,
      ).toBe(32);
  });
  test("lost time is never shown by colour alone", () => {
    expect(
      new Set(
        (["delay", "sched", "app", "descheduled", "blocked"] as const).map(
          (a) => activity(a, dark).texture + activity(a, dark).fill,
        ),
      ).size,
    ).toBe(5);
    for (const a of ["delay", "sched", "app", "descheduled", "blocked"] as const)
      expect(activity(a, dark).texture).not.toBe("none");
  });
  test("the sequential scale grows in lightness only", () => {
    const l = Array.from(
      { length: 20 },
      (_, i) => lab(sequential(i / 19, dark), VISIONS.normal!)[0]!,
    );
    expect(l).toEqual([...l].sort((a, b) => a - b));
  });
});

test("an unknown item is grey, also beyond the lists", () => {
  expect(colour("code", { code: 0xffff }, false)).toEqual(colour("code", { code: null }, false));
  expect(colour("level", {}, false).texture).toBe("none");
});
