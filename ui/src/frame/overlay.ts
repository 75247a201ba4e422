/** Which sheet lies over the page, and words that come and go. */

import { signal } from "@preact/signals";
import { announcement } from "../store";

export type Overlay = "palette" | "help" | null;
export const overlay = signal<Overlay>(null);

/** The words at the foot of the page, for a moment. */
export const toast = signal("");
let end: ReturnType<typeof setTimeout> | undefined;

export function say(text: string): void {
  toast.value = text;
  announcement.value = text;
  clearTimeout(end);
  end = setTimeout(() => (toast.value = ""), 2600);
}
