/** A word that shows its meaning on hover or keyboard focus. */

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { meaning } from "./glossary";
import "./terms.css";

/** The current explanation, and the position of its word in the window. */
const shownTerm = signal<{ text: string; word: DOMRect } | null>(null);

const WIDTH_PX = 300;
/** Room below a word from which on the explanation is below it rather than above, in pixels. */
const MIN_BELOW_PX = 140;

export function Term({ of, children }: { of: string; children?: ComponentChildren }) {
  const text = meaning(of);
  if (!text) return <>{children ?? of}</>;
  const open = (e: Event) => {
    shownTerm.value = { text, word: (e.currentTarget as HTMLElement).getBoundingClientRect() };
  };
  const close = () => {
    shownTerm.value = null;
  };
  return (
    <span
      class="term"
      tabIndex={0}
      aria-describedby={shownTerm.value?.text === text ? "explained" : undefined}
      onPointerEnter={open}
      onPointerLeave={close}
      onFocus={open}
      onBlur={close}
      onKeyDown={(e) => {
        if (e.key === "Escape" && shownTerm.value) {
          e.stopPropagation();
          close();
        }
      }}
    >
      {children ?? of}
    </span>
  );
}

/** The explanation, above everything else. */
export function TermTooltip() {
  const at = shownTerm.value;
  if (!at) return null;
  const { left, top, bottom } = at.word;
  return (
    <div
      class="explained"
      role="tooltip"
      id="explained"
      style={{
        left: `${Math.max(8, Math.min(left, innerWidth - WIDTH_PX - 8))}px`,
        width: `${WIDTH_PX}px`,
        ...(innerHeight - bottom >= MIN_BELOW_PX
          ? { top: `${bottom + 6}px` }
          : { bottom: `${innerHeight - top + 6}px` }),
      }}
    >
      {at.text}
    </div>
  );
}
