/** Positions of labels below a bar's slivers, such that neither texts nor leader lines cross. */

export interface Label {
  /** x of its leader. */
  at: number;
  /** Width of its text. */
  width: number;
}

export interface LabelPosition {
  /** Index of the text line; 0 is the nearest to the bar. */
  line: number;
  /** The text is left of the leader. */
  left: boolean;
}

/** Distance between the leader and the text. */
const GAP = 10;
/** Free space beyond the text. */
const MARGIN = 3;

/**
 * The interval from the leader to beyond the text. The leaders of adjacent slivers may be as close
 * as the slivers.
 */
const span = (l: Label, left: boolean): [number, number] =>
  left ? [l.at - GAP - l.width - MARGIN, l.at] : [l.at, l.at + GAP + l.width + MARGIN];

/**
 * Positions for all labels on as few lines as possible. There are few labels: the parts of one bar.
 */
export function placeLabels(labels: readonly Label[], width: number): LabelPosition[] {
  const placed: LabelPosition[] = [];
  const fits = (i: number, p: LabelPosition): boolean => {
    const l = labels[i]!;
    const [from, to] = span(l, p.left);
    if (from < -2 * MARGIN || to > width + 2 * MARGIN) return false;
    return placed.every((q, k) => {
      const other = labels[k]!;
      const [a, b] = span(other, q.left);
      if (p.line === q.line) return to < a || from > b;
      // The leader of the lower label passes the text of the higher one.
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
  // Too wide for the bar: one below the other, so that at least no texts overlap.
  return labels.map((l, i) => ({ line: i, left: l.at + GAP + l.width > width }));
}
