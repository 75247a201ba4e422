/**
 * An element of the page as one SVG document: its markup and styles as they stand, canvases as
 * images inside. Nothing is fetched for it.
 */

import { colours } from "../theme/theme";

/**
 * Pixels that a picture is higher than the view at most, so that what is scrolled away is on it.
 */
const MOST_MORE = 4000;

export interface Picture {
  svg: string;
  width: number;
  height: number;
}

export function picture(of: HTMLElement): Picture {
  const { width, height: seen } = of.getBoundingClientRect();
  const copy = of.cloneNode(true) as HTMLElement;
  const height = seen + more(of, copy);
  const [canvases, copies] = [of.querySelectorAll("canvas"), copy.querySelectorAll("canvas")];
  canvases.forEach((c, i) => {
    const image = document.createElement("img");
    image.src = c.width && c.height ? c.toDataURL() : "data:,";
    // Through the object model: the page's policy forbids style attributes that come as text.
    image.style.cssText = `${copies[i]!.style.cssText};width:${c.clientWidth}px;height:${c.clientHeight}px`;
    image.className = copies[i]!.className;
    copies[i]!.replaceWith(image);
  });
  const [inputs, inputCopies] = [of.querySelectorAll("input"), copy.querySelectorAll("input")];
  inputs.forEach((input, i) => inputCopies[i]!.setAttribute("value", input.value));
  const defs = document.querySelector("svg[aria-hidden] defs")?.parentElement?.cloneNode(true);
  if (defs) copy.prepend(defs);
  copy.style.position = "relative";
  copy.style.inset = "auto";
  copy.style.width = `${width}px`;
  copy.style.height = `${height}px`;
  const styles = [...document.styleSheets]
    .flatMap((s) => {
      try {
        return [...s.cssRules].map((r) => r.cssText);
      } catch {
        return [];
      }
    })
    .join("\n");
  const variables = document.documentElement.style.cssText;
  const page = document.createElement("div");
  page.setAttribute("xmlns", "http://www.w3.org/1999/xhtml");
  page.style.cssText = `${variables};width:${width}px;height:${height}px;background:${colours.value.panel};color:${colours.value.fg};font:13px/20px system-ui,sans-serif;font-variant-numeric:tabular-nums`;
  const style = document.createElement("style");
  style.textContent = `${styles}\n* { scrollbar-width: none !important; }`;
  page.append(style, copy);
  const body = new XMLSerializer().serializeToString(page);
  return {
    svg: `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><foreignObject width="100%" height="100%">${body}</foreignObject></svg>`,
    width,
    height,
  };
}

/**
 * How much higher than it is an element has to be to show all that scrolls in it. Source stands in
 * `copy` as it is scrolled: a file has no end.
 */
function more(of: HTMLElement, copy: HTMLElement): number {
  const [scrollers, copies] = [
    of.querySelectorAll<HTMLElement>(".scroll"),
    copy.querySelectorAll<HTMLElement>(".scroll"),
  ];
  let most = 0;
  scrollers.forEach((s, i) => {
    const first = copies[i]!.firstElementChild;
    if (!s.classList.contains("lines")) most = Math.max(most, s.scrollHeight - s.clientHeight);
    else if (first instanceof HTMLElement) first.style.marginTop = `${-s.scrollTop}px`;
  });
  return Math.min(MOST_MORE, most);
}

/** At twice the size, so that it can be printed. */
export async function toPng(p: Picture, scale = 2): Promise<Blob> {
  const image = new Image();
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(p.svg);
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(p.width * scale);
  canvas.height = Math.round(p.height * scale);
  const ctx = canvas.getContext("2d");
  if (!ctx) throw new Error("this browser draws no pictures");
  ctx.scale(scale, scale);
  ctx.drawImage(image, 0, 0);
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      (b) => (b ? resolve(b) : reject(new Error("the picture is too large"))),
      "image/png",
    ),
  );
}
