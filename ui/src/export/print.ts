/**
 * The view on paper: one A4 page with a heading, the whole view at the width of the paper, and the
 * code colours. Timeline and DAG are drawn again as vectors, a timeline of many rows in the height
 * of a page; other views are copies of the page's elements without controls.
 */

import type { Exporter } from "./export";
import { notify } from "../frame/overlay";
import { runMeta, split, tab } from "../store";
import { laidOut } from "./paperLayout";
import { headingOf, WITH_COLOUR_KEY, colourKeyOf } from "./pictureHeading";

/** The long side of A4 without margins of 10 mm, in CSS pixels. */
const LONG = 1046;
const SHORT = 717;
/** Smallest readable scale. A longer view is cut at the end of the page, with a note. */
const MIN_SCALE = 0.44;
/**
 * Width of the page while it is printed by its own command: texts of 11 pixels are 7 points high.
 */
const WIDTH = 1240;
const HEIGHT = 900;
/** Room that stays free, as heights are rounded and a note may take a second line. */
const SPARE = 24;

let sheet: HTMLElement | null = null;
/** Not an element, because the page's policy forbids styles in markup. */
let paper: CSSStyleSheet | null = null;

/** Makes the sheet for every print; `own` are the exporters of a tab. */
export function startPrint(own: () => Exporter[]): void {
  addEventListener("beforeprint", () => layOut(own()));
  addEventListener("afterprint", clear);
}

/** Prints in light colours, laid out for paper, independent of the window. */
export async function print(): Promise<void> {
  try {
    await laidOut("for-paper", { width: WIDTH, height: HEIGHT }, async () => window.print());
  } catch {
    notify("This browser cannot print.");
  }
}

function clear(): void {
  sheet?.remove();
  document.adoptedStyleSheets = document.adoptedStyleSheets.filter((s) => s !== paper);
  sheet = null;
  paper = null;
}

function layOut(own: Exporter[]): void {
  clear();
  const view = document.querySelector<HTMLElement>("main .view, main .halves");
  const r = runMeta();
  if (!view || !r) return;
  const { title, said } = headingOf(r);
  const head = document.createElement("header");
  head.append(element("b", title), element("span", said));
  sheet = document.createElement("div");
  sheet.className = "print-sheet";
  sheet.dataset.tab = tab.peek();
  const svg = split.peek() ? undefined : own.find((e) => e.svg)?.svg?.();
  let drawn = typeof svg === "string" ? vectors(svg) : null;
  const width = Number(drawn?.getAttribute("width") ?? view.clientWidth);
  sheet.append(head);
  const drawer = document.querySelector<HTMLElement>(".frame > .drawer");
  if (drawer) sheet.append(copyOf(drawer));
  const key = WITH_COLOUR_KEY.has(tab.peek()) ? colourKeyOf(r, width) : "";
  if (key)
    sheet.append(
      vectors(
        `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="18"><g transform="translate(16 0)">${key}</g></svg>`,
      ),
    );
  sheet.style.width = `${width}px`;
  document.body.append(sheet);
  if (drawn) {
    const page = Math.floor((width * LONG) / SHORT) - sheet.scrollHeight - SPARE;
    const full = own.find((e) => e.paper)?.paper?.(page);
    if (full) {
      drawn = vectors(full.svg);
      head.append(element("i", full.note));
    }
  }
  head.after(drawn ?? copyOf(view));
  const isUpright = fit(sheet, head, width);
  paper = new CSSStyleSheet();
  paper.replaceSync(
    `@page { size: A4 ${isUpright ? "portrait" : "landscape"}; margin: 10mm; } @media print { ${ofWidth()} }`,
  );
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, paper];
}

/** Rules for the window's width also apply to its copy, whatever the paper's width. */
function ofWidth(): string {
  return [...document.styleSheets]
    .flatMap((s) => [...s.cssRules])
    .filter((rule) => rule instanceof CSSMediaRule)
    .filter(
      ({ conditionText: on }) => on.startsWith("screen and (max-width") && matchMedia(on).matches,
    )
    .flatMap((rule) => [...rule.cssRules].map((inner) => inner.cssText))
    .join("\n");
}

/** Scales the sheet onto one page, and returns whether portrait format fits more. */
function fit(sheet: HTMLElement, head: HTMLElement, width: number): boolean {
  let height = sheet.scrollHeight;
  const scale = (w: number, h: number) => Math.min(w / width, h / height);
  const isUpright = scale(SHORT, LONG) > scale(LONG, SHORT);
  const [w, h] = isUpright ? [SHORT, LONG] : [LONG, SHORT];
  let k = Math.min(1, scale(w, h));
  const least = Math.min(w / width, MIN_SCALE);
  if (k < least) {
    k = least;
    head.append(element("i", "Only the first page is shown. Export the view to get all of it."));
    height = h / k;
  }
  // A pixel less than the page, because rounding must not start a second page.
  sheet.style.height = `${Math.floor(Math.min(height, h / k - 2))}px`;
  sheet.style.zoom = String(k);
  return isUpright;
}

function element(name: string, text: string): HTMLElement {
  const e = document.createElement(name);
  e.textContent = text;
  return e;
}

/** An SVG document as an element. */
function vectors(svg: string): Element {
  const { documentElement: e } = new DOMParser().parseFromString(svg, "image/svg+xml");
  return document.importNode(e, true);
}

/** A copy that includes the content of canvases and fields and the scrolling of source panes. */
function copyOf(of: HTMLElement): HTMLElement {
  const copy = of.cloneNode(true) as HTMLElement;
  each(of, copy, "canvas", (from: HTMLCanvasElement, to: HTMLCanvasElement) => {
    to.style.width = `${from.clientWidth}px`;
    to.style.height = `${from.clientHeight}px`;
    if (from.width && from.height) to.getContext("2d")?.drawImage(from, 0, 0);
  });
  each(of, copy, "input", (from: HTMLInputElement, to: HTMLInputElement) => {
    to.setAttribute("value", from.value);
    to.checked = from.checked;
  });
  each(of, copy, "textarea", (from: HTMLTextAreaElement, to: HTMLTextAreaElement) => {
    const query = element("pre", from.value);
    query.className = "printed-query";
    to.replaceWith(query);
  });
  each(of, copy, ".lines", (from: HTMLElement, to: HTMLElement) => {
    // A file may be very long: only the visible lines stay.
    to.style.height = `${from.clientHeight}px`;
    if (to.firstElementChild instanceof HTMLElement)
      to.firstElementChild.style.marginTop = `${-from.scrollTop}px`;
  });
  // Removes the placeholder rows for the invisible part of a long table.
  for (const row of copy.querySelectorAll("tbody > tr[aria-hidden]")) row.remove();
  return copy;
}

function each<E extends Element>(
  of: HTMLElement,
  copy: HTMLElement,
  selector: string,
  then: (from: E, to: E) => void,
): void {
  const copies = [...copy.querySelectorAll<E>(selector)];
  of.querySelectorAll<E>(selector).forEach((from, i) => then(from, copies[i]!));
}
