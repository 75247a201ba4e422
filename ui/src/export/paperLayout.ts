/** Lays the page out for paper or for a figure, independent of the window, in light colours. */

import { theme } from "../store";

/** Width up to which a figure has one column. */
const NARROW_PX = 600;
/** Time after which sizes were observed, tiles requested and pictures drawn, in milliseconds. */
const SETTLED_MS = 600;

export interface Size {
  width: number;
  height: number;
}

/** Whether the page is laid out for a figure now. */
export const isForFigure = (): boolean => document.documentElement.classList.contains("for-figure");

/** Runs `act` while the page has this size and the class `kind`. */
export async function laidOut<T>(
  kind: "for-paper" | "for-figure",
  size: Size,
  act: () => Promise<T>,
): Promise<T> {
  const shown = theme.peek();
  const root = document.documentElement;
  const before = document.adoptedStyleSheets;
  theme.value = "light";
  root.classList.add(kind);
  root.classList.toggle("narrow", kind === "for-figure" && size.width <= NARROW_PX);
  root.style.setProperty("--paper-width", `${size.width}px`);
  root.style.setProperty("--paper-height", `${size.height}px`);
  if (kind === "for-figure") document.adoptedStyleSheets = [...before, rulesOfWidth(size.width)];
  try {
    await new Promise((done) => setTimeout(done, SETTLED_MS));
    return await act();
  } finally {
    root.classList.remove(kind, "narrow");
    document.adoptedStyleSheets = before;
    theme.value = shown;
  }
}

/** The page's rules for windows of this width, as the layout is narrower than the window. */
function rulesOfWidth(width: number): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(
    [...document.styleSheets]
      .flatMap((s) => [...s.cssRules])
      .filter((rule) => rule instanceof CSSMediaRule)
      .filter(({ conditionText }) => {
        const most = /^screen and \(max-width: (\d+)px\)$/.exec(conditionText)?.[1];
        return most !== undefined && width <= Number(most);
      })
      .flatMap((rule) => [...rule.cssRules].map((inner) => inner.cssText))
      .join("\n"),
  );
  return sheet;
}
