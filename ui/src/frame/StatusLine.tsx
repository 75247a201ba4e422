/** The last line: what the view says of itself, and its most useful keys. */

import { commands } from "../commands";
import { bytes } from "../format";
import { meta, runMeta, status, tab } from "../store";
import { Key } from "../ui/parts";

/** Views may put their own here, by command id; the first four with keys are shown. */
const SHOWN: Partial<Record<string, string[]>> = {
  timeline: ["timeline.zoom-in", "timeline.pan-left", "timeline.focus", "timeline.next", "drawer"],
  dag: ["dag.expand", "dag.collapse", "dag.fit", "split"],
};

export function StatusLine() {
  const r = runMeta();
  const here = commands.value.filter((c) => c.keys.length && c.tabs?.includes(tab.value));
  const wanted =
    SHOWN[tab.value]
      ?.map((id) => commands.value.find((c) => c.id === id))
      .filter((c) => c !== undefined) ?? [];
  const keys = (wanted.length >= 3 ? wanted : here).slice(0, 5);
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
              ? "One file: nothing is loaded from anywhere"
              : "Nothing leaves this machine"}
          </span>
        )}
        {keys.map((c) => (
          <span key={c.id}>
            <Key of={c.keys[0]!} /> {shortTitle(c.title)}
          </span>
        ))}
        <span>
          <Key of="?" /> keys
        </span>
      </span>
    </footer>
  );
}

/** What a short title must not end in. */
const HANGING = new Set([
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

/** As many whole words as fit, and make sense at an end. */
function shortTitle(title: string): string {
  const words: string[] = [];
  for (const word of title.split(/[,:(]/)[0]!.trim().split(" ")) {
    if (words.length && words.join(" ").length + word.length > 17) break;
    words.push(word);
  }
  const whole = words.length === title.split(" ").length;
  while (!whole && words.length > 1 && HANGING.has(words.at(-1)!)) words.pop();
  return words.join(" ");
}
