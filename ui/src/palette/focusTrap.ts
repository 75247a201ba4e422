/** Keeps the keyboard focus inside a sheet while it is open, and restores it afterwards. */

import { useEffect, useRef } from "preact/hooks";

export function useFocusTrap() {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    const inside = () => [
      ...(box.current?.querySelectorAll<HTMLElement>("input, button, a[href], [tabindex='0']") ??
        []),
    ];
    inside()[0]?.focus();
    const key = (e: KeyboardEvent) => {
      if (e.key !== "Tab") return;
      const all = inside();
      if (!all.length) return e.preventDefault();
      const [first, last] = [all[0]!, all[all.length - 1]!];
      if (e.shiftKey && document.activeElement === first) {
        e.preventDefault();
        last.focus();
      } else if (!e.shiftKey && document.activeElement === last) {
        e.preventDefault();
        first.focus();
      }
    };
    const node = box.current;
    node?.addEventListener("keydown", key);
    return () => {
      node?.removeEventListener("keydown", key);
      before?.focus?.();
    };
  }, []);
  return box;
}
