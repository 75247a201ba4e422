import { describe, expect, it } from "vitest";
import { placeLabels, type Label, type LabelPosition } from "./leaderLines";

const words = (l: Label, p: LabelPosition): [number, number] =>
  p.left ? [l.at - 10 - l.width, l.at - 10] : [l.at + 10, l.at + 10 + l.width];

/** Asserts that no two texts on a line overlap, and that no leader crosses texts above its own. */
function clear(labels: Label[], placed: LabelPosition[]): void {
  labels.forEach((l, i) => {
    const [from, to] = words(l, placed[i]!);
    labels.forEach((other, k) => {
      if (k === i) return;
      const [a, b] = words(other, placed[k]!);
      if (placed[i]!.line === placed[k]!.line)
        expect(to <= a || from >= b, `${i} and ${k} meet`).toBe(true);
      if (placed[i]!.line > placed[k]!.line)
        expect(l.at <= a || l.at >= b, `the leader of ${i} crosses ${k}`).toBe(true);
    });
  });
}

describe("labels below a bar", () => {
  it("do not cross each other, even at the right end", () => {
    const labels = [
      { at: 420, width: 150 },
      { at: 880, width: 120 },
      { at: 895, width: 190 },
      { at: 940, width: 190 },
    ];
    const placed = placeLabels(labels, 980);
    clear(labels, placed);
    expect(Math.max(...placed.map((p) => p.line))).toBe(2);
  });

  it("do not cross if slivers are two pixels wide", () => {
    const labels = [
      { at: 730, width: 150 },
      { at: 732, width: 165 },
      { at: 746, width: 122 },
      { at: 759, width: 209 },
      { at: 822, width: 189 },
    ];
    clear(labels, placeLabels(labels, 856));
  });

  it("do not cross for any position of the slivers", () => {
    let seed = 7;
    const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
    for (let n = 0; n < 300; n++) {
      const labels = Array.from({ length: 1 + Math.floor(random() * 6) }, () => ({
        at: random() * 900,
        width: 90 + random() * 120,
      })).sort((a, b) => a.at - b.at);
      const placed = placeLabels(labels, 900);
      expect(placed).toHaveLength(labels.length);
      // Slivers almost on top of each other only allow labels one below the other.
      if (labels.every((l, i) => i === 0 || l.at - labels[i - 1]!.at > 8)) clear(labels, placed);
    }
  });

  it("share one line if there is room", () => {
    expect(
      placeLabels(
        [
          { at: 50, width: 100 },
          { at: 400, width: 100 },
          { at: 700, width: 100 },
        ],
        900,
      ).map((p) => p.line),
    ).toEqual([0, 0, 0]);
  });
});
