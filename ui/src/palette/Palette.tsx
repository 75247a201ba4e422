/** All commands by name. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { commands, type Command } from "../commands";
import { overlay } from "../frame/overlay";
import { tab } from "../store";
import { Key } from "../components/widgets";
import { useFocusTrap } from "./focusTrap";

/**
 * Rank of a match: letters in order, with preference for the starts of words; null if some are
 * missing.
 */
export function score(query: string, title: string): number | null {
  const q = query.toLowerCase().replace(/\s+/g, ""),
    t = title.toLowerCase();
  let at = -1,
    sum = 0;
  for (const c of q) {
    const next = t.indexOf(c, at + 1);
    if (next < 0) return null;
    sum += next === at + 1 ? 0 : next === 0 || t[next - 1] === " " ? 1 : 3 + (next - at) / 10;
    at = next;
  }
  return sum;
}

export function matching(query: string, list: Command[]): Command[] {
  return list
    .map((c, i) => ({ c, i, s: score(query, `${c.title} ${c.group}`) }))
    .filter((x): x is { c: Command; i: number; s: number } => x.s !== null)
    .sort((a, b) => a.s - b.s || a.i - b.i)
    .map((x) => x.c);
}

export function Palette() {
  const text = useSignal("");
  const at = useSignal(0);
  const input = useRef<HTMLInputElement>(null);
  const trap = useFocusTrap();
  useEffect(() => input.current?.focus(), []);
  const list = matching(
    text.value,
    commands.value.filter((c) => c.id !== "palette" && (!c.tabs || c.tabs.includes(tab.value))),
  );
  const close = () => (overlay.value = null);
  const go = (c: Command | undefined) => {
    if (c) {
      close();
      c.run();
    }
  };
  const key = (e: KeyboardEvent) => {
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      e.preventDefault();
      at.value =
        (at.value + (e.key === "ArrowDown" ? 1 : -1) + Math.max(1, list.length)) %
        Math.max(1, list.length);
      document.getElementById(`command-${at.value}`)?.scrollIntoView({ block: "nearest" });
    } else if (e.key === "Enter") {
      e.preventDefault();
      go(list[at.value]);
    }
  };
  return (
    <div
      class="veil"
      onPointerDown={(e) => {
        if (e.target === e.currentTarget) close();
      }}
    >
      <div ref={trap} class="sheet" role="dialog" aria-modal="true" aria-label="Commands">
        <input
          ref={input}
          type="text"
          value={text.value}
          placeholder="Type a command"
          aria-label="Command"
          role="combobox"
          aria-expanded="true"
          aria-controls="commands"
          aria-activedescendant={`command-${at.value}`}
          spellcheck={false}
          autocomplete="off"
          onInput={(e) => {
            text.value = e.currentTarget.value;
            at.value = 0;
          }}
          onKeyDown={key}
        />
        <div class="menu" role="listbox" id="commands" aria-label="Commands">
          {list.map((c, i) => (
            <div
              key={c.id}
              id={`command-${i}`}
              role="option"
              aria-selected={i === at.value}
              class={`row ${i === at.value ? "at" : ""}`}
              onPointerMove={() => (at.value = i)}
              onClick={() => go(c)}
            >
              {c.title}
              <span class="end">
                {c.group}{" "}
                {c.keys.slice(0, 2).map((k) => (
                  <Key key={k} of={k} />
                ))}
              </span>
            </div>
          ))}
          {list.length === 0 && <div class="none">No command of this tab matches.</div>}
        </div>
      </div>
    </div>
  );
}
