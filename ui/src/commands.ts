/**
 * Everything that can be done by a key or from the palette. Views register what they add; `?` and
 * the palette list it.
 */

import { signal } from "@preact/signals";
import type { Tab } from "./store";

export interface Command {
  /** Unique, as "timeline.zoom-in". */
  id: string;
  title: string;
  /**
   * As KeyboardEvent.key, with "Ctrl+" (also Cmd) and "Shift+" before it where they matter: "w",
   * "Shift+Enter", "Ctrl+Shift+p".
   */
  keys: string[];
  /** Tabs in which the keys work; everywhere when absent. */
  tabs?: Tab[];
  /** Section of the `?` page. */
  group: string;
  run: (event?: KeyboardEvent) => void;
}

export const commands = signal<Command[]>([]);

/** Adds commands; the function returned takes them out again. */
export function register(...added: Command[]): () => void {
  commands.value = [...commands.value.filter((c) => !added.some((a) => a.id === c.id)), ...added];
  return () => {
    commands.value = commands.value.filter((c) => !added.includes(c));
  };
}
