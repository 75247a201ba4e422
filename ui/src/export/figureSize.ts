/** Sizes of exported pictures: that of the window, or one of the sizes of the tool's figures. */

export type FigureSize = "shown" | "column" | "slide";

export interface FigurePage {
  /** In points, 1/72 inch. */
  width: number;
  height: number;
  /** Size of the text. */
  font: number;
  /** Pixels of a bitmap per point. */
  pixels: number;
}

/** The sizes of `workspan plot --size` and `flame --size` (crates/export/src/plot/page.rs). */
export const FIGURE_PAGES: Record<Exclude<FigureSize, "shown">, FigurePage> = {
  column: { width: 252, height: 180, font: 7, pixels: 4 },
  slide: { width: 960, height: 540, font: 18, pixels: 2 },
};

/** Size of the page's text, in pixels, that becomes the figure's. */
const TEXT_PX = 12;
/** A slide whose content is higher is laid out wider, with smaller text, up to this width. */
const MAX_SLIDE_PX = 1280;

/** Width and height of the page's layout whose text has the figure's size. */
export function layoutOf(page: FigurePage): { width: number; height: number } {
  const scale = TEXT_PX / page.font;
  return { width: Math.round(page.width * scale), height: Math.round(page.height * scale) };
}

/**
 * The next wider layout of the same shape for content of `height` pixels; `null` if the picture
 * fits or gets higher instead: a paper's column may be as high as it likes, a slide may not.
 */
export function wider(
  size: FigureSize,
  layout: { width: number; height: number },
  height: number,
): { width: number; height: number } | null {
  if (size !== "slide" || height <= layout.height + 1 || layout.width >= MAX_SLIDE_PX) return null;
  const width = Math.min(MAX_SLIDE_PX, Math.round(layout.width * 1.25));
  return { width, height: Math.round((width * layout.height) / layout.width) };
}
