/** The open sheet over the page, and the toast. */

import { signal } from "@preact/signals";
import { announcement } from "../store";

export type Overlay = "palette" | "help" | null;
export const overlay = signal<Overlay>(null);

/** Text at the bottom of the page, for a moment. */
export const toast = signal("");
let end: ReturnType<typeof setTimeout> | undefined;

export function notify(text: string): void {
  toast.value = text;
  announcement.value = text;
  clearTimeout(end);
  end = setTimeout(() => (toast.value = ""), 2600);
}
