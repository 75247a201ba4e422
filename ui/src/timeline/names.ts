/** Names of a legend's entries, which have to differ. */

/**
 * One name for each entry. `forms` are an entry's names, the shortest first. Entries whose short
 * names are equal get their longer ones, and a number if all forms are equal.
 */
export function distinct(forms: readonly (readonly string[])[]): string[] {
  const most = Math.max(0, ...forms.map((of) => of.length));
  let names = forms.map((of) => of[0] ?? "");
  for (let level = 1; level < most; level++) {
    const counts = countsOf(names);
    names = names.map((name, i) => (counts.get(name)! > 1 ? (forms[i]![level] ?? name) : name));
  }
  const counts = countsOf(names);
  const seen = new Map<string, number>();
  return names.map((name) => {
    const nth = (seen.get(name) ?? 0) + 1;
    seen.set(name, nth);
    return counts.get(name)! > 1 && nth > 1 ? `${name} #${nth}` : name;
  });
}

function countsOf(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** `rank 3 · W1` in less room: `3·W1`, or `W1`, or nothing. */
export function shortName(label: string, fits: (words: string) => boolean): string {
  const last = label.split(" · ").at(-1)!;
  const short = label.replace(/^rank (\d+) · /, "$1·");
  return [label, short, last].find(fits) ?? "";
}
