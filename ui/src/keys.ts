/** Maps keys to commands (commands.ts). */

import { commands, type Command } from "./commands";
import { tab, type Tab } from "./store";

/** Names of an event's key in `Command.keys`, most specific first. */
export function keyNames(
  e: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">,
): string[] {
  if (e.altKey && e.key.length !== 1) return [];
  const control = e.ctrlKey || e.metaKey ? "Ctrl+" : "";
  const key = e.key === " " ? "Space" : e.key;
  // A sign that needs Shift on some keyboards is named by the sign alone; letters and named keys
  // distinguish Shift.
  const sign = key.length === 1 && !/[a-z]/i.test(key);
  if (sign) return [control + key];
  return [control + (e.shiftKey ? "Shift+" : "") + key].map((n) => n.toLowerCase());
}

/**
 * The command of an event on a tab. A tab's commands precede global ones, and later ones precede
 * earlier ones.
 */
export function commandFor(
  list: Command[],
  e: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">,
  at: Tab,
): Command | undefined {
  const wanted = keyNames(e);
  const fits = list.filter(
    (c) =>
      (!c.tabs || c.tabs.includes(at)) &&
      c.keys.some(
        (k) =>
          wanted.includes(k.length === 1 ? k.toLowerCase() : k.toLowerCase()) || wanted.includes(k),
      ),
  );
  return fits.findLast((c) => c.tabs) ?? fits.at(-1);
}

/** True if keys enter text. */
export function isTextInput(target: EventTarget | null): boolean {
  const e = target as HTMLElement | null;
  return (
    !!e &&
    (e.isContentEditable ||
      e.tagName === "TEXTAREA" ||
      e.tagName === "SELECT" ||
      (e.tagName === "INPUT" &&
        (e as HTMLInputElement).type !== "checkbox" &&
        (e as HTMLInputElement).type !== "range"))
  );
}

/** True for keys that a focused button, link or slider handles itself. */
function handlesKey(target: EventTarget | null, key: string): boolean {
  const e = target as HTMLElement | null;
  if (!e?.closest) return false;
  if (
    (key === "Enter" || key === " ") &&
    e.closest("button, a[href], summary, [role=option], [role=row], tr[tabindex]")
  )
    return true;
  return (
    key.startsWith("Arrow") &&
    !!e.closest("input[type=range], [role=tab], [role=listbox], tr[tabindex], .source[tabindex]")
  );
}

export function startKeys(): void {
  addEventListener("keydown", (e) => {
    if (e.defaultPrevented || e.isComposing) return;
    if (isTextInput(e.target) && e.key !== "Escape" && !(e.ctrlKey || e.metaKey)) return;
    if (handlesKey(e.target, e.key)) return;
    const command = commandFor(commands.value, e, tab.value);
    if (!command) return;
    // The browser's find keeps its key, except where the view is a picture.
    e.preventDefault();
    command.run(e);
  });
}

/** A key's name for people. */
export function keyText(key: string): string {
  const mac = typeof navigator !== "undefined" && /Mac|iP(hone|ad)/.test(navigator.platform);
  return key
    .split(/(?<=.)\+/)
    .map(
      (k) =>
        ({
          ctrl: mac ? "⌘" : "Ctrl",
          shift: "⇧",
          arrowup: "↑",
          arrowdown: "↓",
          arrowleft: "←",
          arrowright: "→",
          escape: "Esc",
          enter: "Enter",
          space: "Space",
        })[k.toLowerCase()] ?? (k.length === 1 ? k.toUpperCase() : k),
    )
    .join(" ");
}
