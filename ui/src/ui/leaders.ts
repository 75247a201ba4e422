/**
 * Where labels of a bar's slivers stand below it, so that neither words nor the lines that lead to
 * them cross.
 */

export interface Label {
  /** Where its leader comes down. */
  at: number;
  /** Of the words. */
  width: number;
}

export interface Placed {
  /** Line of text, 0 nearest to the bar. */
  line: number;
  /** The words stand left of the leader. */
  left: boolean;
}

/** From the leader to the words. */
const GAP = 10;
/** Clear beyond the words. */
const CLEAR = 3;

/**
 * From the leader to beyond the words; leaders of slivers may come down as close beside each other
 * as those are.
 */
const span = (l: Label, left: boolean): [number, number] =>
  left ? [l.at - GAP - l.width - CLEAR, l.at] : [l.at, l.at + GAP + l.width + CLEAR];

/** Places for all labels on as few lines as there can be. Labels are few: parts of one bar. */
export function leaders(labels: readonly Label[], width: number): Placed[] {
  const placed: Placed[] = [];
  const fits = (i: number, p: Placed): boolean => {
    const l = labels[i]!;
    const [from, to] = span(l, p.left);
    if (from < -2 * CLEAR || to > width + 2 * CLEAR) return false;
    return placed.every((q, k) => {
      const other = labels[k]!;
      const [a, b] = span(other, q.left);
      if (p.line === q.line) return to < a || from > b;
      // Whoever stands lower leads its line past the other's words.
      const [low, words] = p.line > q.line ? [l, [a, b]] : [other, [from, to]];
      return low.at < words[0]! || low.at > words[1]!;
    });
  };
  const place = (i: number, lines: number): boolean => {
    if (i === labels.length) return true;
    for (let line = 0; line < lines; line++) {
      for (const left of [false, true]) {
        const p = { line, left };
        if (!fits(i, p)) continue;
        placed.push(p);
        if (place(i + 1, lines)) return true;
        placed.pop();
      }
    }
    return false;
  };
  for (let lines = 1; lines <= labels.length; lines++) if (place(0, lines)) return placed;
  // Too wide for the bar: one below the other, where they cross at least no words.
  return labels.map((l, i) => ({ line: i, left: l.at + GAP + l.width > width }));
}
