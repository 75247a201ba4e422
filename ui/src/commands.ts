/**
 * Everything that can be done with a key or from the palette. Views register their own commands;
 * `?` and the palette list all of them.
 */

import { signal } from "@preact/signals";
import type { Tab } from "./store";

export interface Command {
  /** Unique, such as "timeline.zoom-in". */
  id: string;
  title: string;
  /**
   * Names of KeyboardEvent.key, prefixed with "Ctrl+" (also Cmd) and "Shift+" if they matter: "w",
   * "Shift+Enter", "Ctrl+Shift+p".
   */
  keys: string[];
  /** Tabs in which the keys work; all tabs by default. */
  tabs?: Tab[];
  /** Section of the `?` page. */
  group: string;
  run: (event?: KeyboardEvent) => void;
}

export const commands = signal<Command[]>([]);

/** Adds commands; the returned function removes them. */
export function register(...added: Command[]): () => void {
  commands.value = [...commands.value.filter((c) => !added.some((a) => a.id === c.id)), ...added];
  return () => {
    commands.value = commands.value.filter((c) => !added.includes(c));
  };
}
