/**
 * Exports a view: its numbers as CSV, its picture as SVG or PNG. Every view has a picture
 * (elementPicture.ts); some register a better one.
 */

import { signal } from "@preact/signals";
import { notify } from "../frame/overlay";
import { runMeta, tab, type Tab } from "../store";
import { pictureOf, toPng, type Picture } from "./elementPicture";
import { FIGURE_PAGES, layoutOf, wider, type FigurePage, type FigureSize } from "./figureSize";
import { laidOut, type Size } from "./paperLayout";
import { headingHeights, withHeading } from "./pictureHeading";
import { startPrint } from "./print";

export type ExportKind = "png" | "svg" | "csv";

export interface Exporter {
  tab: Tab;
  /** The view's numbers; with several tables, each file name has the table's name. */
  csv?: () => string;
  /** A whole SVG document that replaces the copy of the page's element. */
  svg?: () => string | Promise<string>;
  /** Replaces `svg` on a page of paper of this height, unless it is null. */
  paper?: (height: number) => PaperPage | null;
}

/** A document for a page of paper, and what the page does not show, in words. */
export interface PaperPage {
  svg: string;
  note: string;
}

const exporters = signal<Exporter[]>([]);

/** Registers a view's exports; the returned function removes them. */
export function registerExport(added: Exporter): () => void {
  exporters.value = [...exporters.value, added];
  return () => {
    exporters.value = exporters.value.filter((e) => e !== added);
  };
}

/** From now on views are laid out for paper when printed. */
export function startPrinting(): void {
  startPrint(() => exporters.peek().filter((e) => e.tab === tab.peek()));
}

export interface Choice {
  kind: ExportKind;
  size: FigureSize;
  title: string;
}

export function exportChoices(at: Tab): Choice[] {
  const own = exporters.value.filter((e) => e.tab === at);
  return [
    { kind: "png", size: "shown", title: "PNG, as shown" },
    { kind: "svg", size: "shown", title: "SVG, as shown" },
    { kind: "png", size: "column", title: "PNG, a paper's column" },
    { kind: "svg", size: "column", title: "SVG, a paper's column" },
    { kind: "png", size: "slide", title: "PNG, a slide" },
    { kind: "svg", size: "slide", title: "SVG, a slide" },
    ...(own.some((e) => e.csv)
      ? [{ kind: "csv", size: "shown", title: "CSV, the numbers" } as const]
      : []),
  ];
}

export async function exportView(kind: ExportKind, size: FigureSize = "shown"): Promise<void> {
  const at = tab.value;
  const own = exporters.value.filter((e) => e.tab === at).reverse();
  const name = [runMeta()?.name ?? "workspan", at, ...(size === "shown" ? [] : [size])].join("-");
  try {
    const blob = await make(kind, size, own);
    if (!blob) return notify("This view has no numbers to export.");
    save(blob, `${name}.${kind}`);
    notify(`Saved ${name}.${kind}`);
  } catch (e) {
    notify(`The export failed: ${e instanceof Error ? e.message : String(e)}`);
  }
}

async function make(kind: ExportKind, size: FigureSize, own: Exporter[]): Promise<Blob | null> {
  if (kind === "csv") {
    const csv = own.find((e) => e.csv)?.csv?.();
    return csv === undefined ? null : new Blob([csv], { type: "text/csv" });
  }
  const picture =
    size === "shown" ? await shownPicture(own, false) : await figurePicture(size, own);
  if (!picture) return null;
  if (kind === "png")
    return size === "shown"
      ? await toPng(picture)
      : await toPng(
          picture,
          (FIGURE_PAGES[size].width * FIGURE_PAGES[size].pixels) / picture.width,
        );
  const svg = size === "shown" ? picture.svg : inPoints(picture, FIGURE_PAGES[size]);
  return new Blob([svg], { type: "image/svg+xml" });
}

/** The view at its current size. */
async function shownPicture(own: Exporter[], isFigure: boolean): Promise<Picture | null> {
  const view = document.querySelector<HTMLElement>("main .view, main .halves");
  if (!view) return null;
  const drawn = own.find((e) => e.svg)?.svg;
  return withHeading(drawn ? sizeOf(await drawn()) : pictureOf(view), isFigure);
}

/** The view laid out for a figure, in pixels of the page. */
async function figurePicture(
  size: Exclude<FigureSize, "shown">,
  own: Exporter[],
): Promise<Picture | null> {
  let layout: Size | null = layoutOf(FIGURE_PAGES[size]);
  let picture: Picture | null = null;
  while (layout) {
    const { width, height }: Size = layout;
    const { head, key } = headingHeights(width, true);
    picture = await laidOut("for-figure", { width, height: height - head - key }, async () => {
      const restore = shrinkWideTables();
      try {
        return await shownPicture(own, true);
      } finally {
        restore();
      }
    });
    layout = picture && wider(size, layout, picture.height);
  }
  return picture;
}

/** Makes tables that are wider than their place smaller; the returned function undoes it. */
function shrinkWideTables(): () => void {
  const wide = [...document.querySelectorAll<HTMLElement>("main .view :is(table, .matrix)")]
    .map((table) => ({ table, share: roomIn(table.parentElement!) / table.scrollWidth }))
    .filter(({ share }) => share > 0 && share < 1);
  for (const { table, share } of wide) table.style.zoom = String(share);
  return () => {
    for (const { table } of wide) table.style.zoom = "";
  };
}

/** Width of an element's content. */
function roomIn(e: HTMLElement): number {
  const { paddingLeft, paddingRight } = getComputedStyle(e);
  return e.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
}

/** The document with its size in points. */
function inPoints({ svg, width, height }: Picture, page: FigurePage): string {
  const high = Math.round((height * page.width) / width);
  return svg.replace(
    / width="[\d.]+" height="[\d.]+"/,
    ` width="${page.width}pt" height="${high}pt"`,
  );
}

/** An SVG document with the size given in it. */
function sizeOf(svg: string): Picture {
  const of = (name: string) =>
    Number(new RegExp(`<svg[^>]* ${name}="([\\d.]+)"`).exec(svg)?.[1] ?? 0);
  return { svg, width: of("width"), height: of("height") };
}

export function save(blob: Blob, name: string): void {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(blob);
  a.download = name.replace(/[^\w.-]+/g, "_");
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10_000);
}
