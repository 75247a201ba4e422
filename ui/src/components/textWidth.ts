/** Width of an element or text, and height of an element. */

import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export function useWidth<E extends HTMLElement>(start = 600): [RefObject<E | null>, number] {
  const [ref, width] = useSize<E>(start);
  return [ref, width];
}

/** Width and height of an element, which is drawn again if either changes. */
export function useSize<E extends HTMLElement>(start = 600): [RefObject<E | null>, number, number] {
  const ref = useRef<E>(null);
  const [size, setSize] = useState<readonly [number, number]>([start, 0]);
  useLayoutEffect(() => {
    const e = ref.current;
    if (!e) return;
    const measure = () => {
      const now = [Math.max(1, Math.round(e.clientWidth)), Math.round(e.clientHeight)] as const;
      setSize((last) => (last[0] === now[0] && last[1] === now[1] ? last : now));
    };
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(e);
    return () => watch.disconnect();
  }, []);
  return [ref, ...size];
}

/** Font size at which texts are measured, in pixels; widths for other sizes are in proportion. */
const MEASURED_PX = 100;
const MAX_MEASURED = 20_000;
const measured = new Map<string, number>();
let pen: CanvasRenderingContext2D | null | undefined;

/** Width of a text in the page's font, or an approximation without a browser. */
export function textWidth(text: string, size = 12, weight = 400): number {
  if (typeof document === "undefined") return estimatedWidth(text, size, weight);
  pen ??= document.createElement("canvas").getContext("2d");
  if (!pen) return estimatedWidth(text, size, weight);
  const key = `${weight} ${text}`;
  let width = measured.get(key);
  if (width === undefined) {
    pen.font = `${weight} ${MEASURED_PX}px ${getComputedStyle(document.body).fontFamily}`;
    width = pen.measureText(text).width;
    if (measured.size >= MAX_MEASURED) measured.clear();
    measured.set(key, width);
  }
  return (width * size) / MEASURED_PX;
}

function estimatedWidth(text: string, size: number, weight: number): number {
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
