/** The last line: the view's status, and its most useful keys. */

import { commands } from "../commands";
import { bytes } from "../format";
import { meta, runMeta, status, tab } from "../store";
import { Key } from "../components/widgets";

/** Key hints by tab, as command ids; two ids are two keys of one hint, with a word for both. */
const HINTS: Partial<Record<string, (string | [string, string, string])[]>> = {
  timeline: [
    ["timeline.zoom-in", "timeline.zoom-out", "Zoom"],
    ["timeline.pan-left", "timeline.pan-right", "Move"],
    "timeline.focus",
    ["timeline.previous", "timeline.next", "Along the path"],
    "drawer",
  ],
  dag: ["dag.expand", "dag.collapse", "dag.fit", "split"],
};

interface Hint {
  id: string;
  keys: string[];
  title: string;
}

/** The hints of a tab whose commands exist. */
function hintsOf(at: string): Hint[] {
  const hint = (id: string, title?: string): Hint[] => {
    const c = commands.value.find((c) => c.id === id);
    return c ? [{ id, keys: c.keys.slice(0, 1), title: title ?? shortTitle(c.title) }] : [];
  };
  return (HINTS[at] ?? []).flatMap((wanted) => {
    if (typeof wanted === "string") return hint(wanted);
    const [first] = hint(wanted[0], wanted[2]);
    const [second] = hint(wanted[1]);
    return first ? [{ ...first, keys: [...first.keys, ...(second?.keys ?? [])] }] : [];
  });
}

export function StatusLine() {
  const r = runMeta();
  const here = commands.value.filter((c) => c.keys.length && c.tabs?.includes(tab.value));
  const wanted = hintsOf(tab.value);
  const usual = here.map((c) => ({
    id: c.id,
    keys: c.keys.slice(0, 1),
    title: shortTitle(c.title),
  }));
  const keys = (wanted.length >= 3 ? wanted : usual).slice(0, 5);
  const own =
    r &&
    [
      r.file,
      bytes(r.bytes),
      r.recorded && `recorded ${r.recorded}`,
      r.cpus && `on ${r.cpus} ${r.cpus === 1 ? "core" : "cores"}`,
    ]
      .filter(Boolean)
      .join(" · ");
  return (
    <footer>
      <span class="status">{status.value || own}</span>
      <span class="keys">
        {tab.value === "summary" && (
          <span>
            {meta.value?.mode === "report"
              ? "This file loads nothing from elsewhere"
              : "Nothing leaves this machine"}
          </span>
        )}
        {keys.map((c) => (
          <span key={c.id}>
            {c.keys.map((k) => (
              <Key key={k} of={k} />
            ))}{" "}
            {c.title}
          </span>
        ))}
        <span>
          <Key of="?" /> keys
        </span>
      </span>
    </footer>
  );
}

/** Words that must not end a short title. */
const DANGLING_WORDS = new Set([
  "a",
  "all",
  "an",
  "and",
  "at",
  "by",
  "in",
  "of",
  "on",
  "selected",
  "the",
  "this",
  "to",
  "what",
  "with",
]);

/** As many whole words as fit, without a dangling one at the end. */
function shortTitle(title: string): string {
  const words: string[] = [];
  for (const word of title.split(/[,:(]/)[0]!.trim().split(" ")) {
    if (words.length && words.join(" ").length + word.length > 17) break;
    words.push(word);
  }
  const whole = words.length === title.split(" ").length;
  while (!whole && words.length > 1 && DANGLING_WORDS.has(words.at(-1)!)) words.pop();
  return words.join(" ");
}
