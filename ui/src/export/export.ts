/**
 * Exports a view: its numbers as CSV, its picture as SVG or PNG. Every view has a picture
 * (elementPicture.ts); some register a better one.
 */

import { signal } from "@preact/signals";
import { notify } from "../frame/overlay";
import { runMeta, tab, type Tab } from "../store";
import { withHeading, pictureOf, toPng, type Picture } from "./elementPicture";
import { startPrint } from "./print";

export type ExportKind = "png" | "svg" | "csv";

export interface Exporter {
  tab: Tab;
  /** The view's numbers; with several tables, each file name has the table's name. */
  csv?: () => string;
  /** A whole SVG document that replaces the copy of the page's element. */
  svg?: () => string | Promise<string>;
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

export function exportKinds(at: Tab): { kind: ExportKind; title: string; end?: string }[] {
  const own = exporters.value.filter((e) => e.tab === at);
  return [
    { kind: "png", title: "Picture, PNG" },
    { kind: "svg", title: "Picture, SVG" },
    ...(own.some((e) => e.csv) ? [{ kind: "csv" as const, title: "Numbers, CSV" }] : []),
  ];
}

export async function exportView(kind: ExportKind): Promise<void> {
  const at = tab.value;
  const own = exporters.value.filter((e) => e.tab === at).reverse();
  try {
    const blob = await make(kind, own);
    if (!blob) return notify("This view has no numbers to export.");
    save(blob, `${runMeta()?.name ?? "workspan"}-${at}.${kind}`);
    notify(`Saved ${runMeta()?.name ?? "workspan"}-${at}.${kind}`);
  } catch (e) {
    notify(`The export failed: ${e instanceof Error ? e.message : String(e)}`);
  }
}

async function make(kind: ExportKind, own: Exporter[]): Promise<Blob | null> {
  if (kind === "csv") {
    const csv = own.find((e) => e.csv)?.csv?.();
    return csv === undefined ? null : new Blob([csv], { type: "text/csv" });
  }
  const view = document.querySelector<HTMLElement>("main .view, main .halves");
  if (!view) return null;
  const drawn = own.find((e) => e.svg)?.svg;
  const what = withHeading(drawn ? sizeOf(await drawn()) : pictureOf(view));
  return kind === "svg" ? new Blob([what.svg], { type: "image/svg+xml" }) : await toPng(what);
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
