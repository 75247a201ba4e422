/**
 * The current theme: the user's choice, or otherwise the system's. Copies the tokens of colors.ts
 * into the page as CSS variables.
 */

import { computed, effect, signal } from "@preact/signals";
import { tokens } from "../colors";
import { theme } from "../store";

const query = typeof matchMedia === "undefined" ? null : matchMedia("(prefers-color-scheme: dark)");
const system = signal(query?.matches ?? false);

/** True while the page is dark. */
export const dark = computed(() =>
  theme.value === "system" ? system.value : theme.value === "dark",
);

/** The tokens of the current theme. */
export const colours = computed(() => tokens(dark.value));

/** True if the user prefers reduced motion: there are no animations then. */
export const reducedMotion = signal(false);

/** Keeps the page's variables equal to the tokens. */
export function startTheme(): void {
  query?.addEventListener("change", (e) => (system.value = e.matches));
  const motion = matchMedia("(prefers-reduced-motion: reduce)");
  reducedMotion.value = motion.matches;
  motion.addEventListener("change", (e) => (reducedMotion.value = e.matches));
  effect(() => {
    const root = document.documentElement;
    root.dataset.theme = dark.value ? "dark" : "light";
    root.style.colorScheme = dark.value ? "dark" : "light";
    for (const [name, value] of Object.entries(colours.value))
      root.style.setProperty("--" + name.replace(/[A-Z]/g, (c) => "-" + c.toLowerCase()), value);
  });
}
