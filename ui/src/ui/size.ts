/** The width an element has. */

import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export function useWidth<E extends HTMLElement>(start = 600): [RefObject<E | null>, number] {
  const ref = useRef<E>(null);
  const [width, setWidth] = useState(start);
  useLayoutEffect(() => {
    const e = ref.current;
    if (!e) return;
    const measure = () => setWidth(Math.max(1, Math.round(e.clientWidth)));
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(e);
    return () => watch.disconnect();
  }, []);
  return [ref, width];
}

/**
 * About the width of a text in the page's font, without asking the browser: good enough to decide
 * whether a label fits.
 */
export function textWidth(text: string, size = 12, weight = 400): number {
  let n = 0;
  for (const c of text)
    n += "iljtf.,:;|' ·()".includes(c)
      ? 0.34
      : "mwMW%".includes(c)
        ? 0.88
        : c >= "A" && c <= "Z"
          ? 0.68
          : 0.57;
  return n * size * (weight >= 600 ? 1.06 : 1);
}
