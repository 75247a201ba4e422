/**
 * An element of the page as one SVG document: its current markup and styles, with canvases as
 * images. Nothing is fetched.
 */

import { colours } from "../theme/theme";

/**
 * Maximum height that a picture adds to the view's, to include what is scrolled away, in pixels.
 */
const MAX_EXTRA_HEIGHT = 4000;

/** A picture of `width` by `height` pixels. */
export interface Picture {
  svg: string;
  width: number;
  height: number;
}

export function pictureOf(of: HTMLElement): Picture {
  const { width, height: seen } = of.getBoundingClientRect();
  const copy = of.cloneNode(true) as HTMLElement;
  const height = seen + extraHeight(of, copy);
  const [canvases, copies] = [of.querySelectorAll("canvas"), copy.querySelectorAll("canvas")];
  canvases.forEach((c, i) => {
    const image = document.createElement("img");
    image.src = c.width && c.height ? c.toDataURL() : "data:,";
    // Set through the object model, because the page's policy forbids style attributes in markup.
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
  const styles = [...document.styleSheets, ...document.adoptedStyleSheets]
    .flatMap((s) => {
      try {
        return rulesOf(s.cssRules);
      } catch {
        return [];
      }
    })
    .join("\n");
  const variables = document.documentElement.style.cssText;
  const page = document.createElement("div");
  page.setAttribute("xmlns", "http://www.w3.org/1999/xhtml");
  page.className = document.documentElement.className;
  page.style.cssText = `${variables};container-type:inline-size;width:${width}px;height:${height}px;background:${colours.value.panel};color:${colours.value.fg};font:13px/20px system-ui,sans-serif;font-variant-numeric:tabular-nums`;
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
 * The rules that apply now, without their conditions: a picture's media conditions would be
 * evaluated again wherever it is used, and change its layout.
 */
function rulesOf(rules: CSSRuleList): string[] {
  return [...rules].flatMap((rule) => {
    if (!(rule instanceof CSSMediaRule)) return rule.cssText;
    return matchMedia(rule.conditionText).matches ? rulesOf(rule.cssRules) : [];
  });
}

/**
 * Height that an element lacks to show all of its scrolled content. Source panes stay scrolled in
 * `copy`, because files may be very long.
 */
function extraHeight(of: HTMLElement, copy: HTMLElement): number {
  const [scrollers, copies] = [
    of.querySelectorAll<HTMLElement>(".scroll"),
    copy.querySelectorAll<HTMLElement>(".scroll"),
  ];
  let most = of.scrollHeight - of.clientHeight;
  scrollers.forEach((s, i) => {
    const first = copies[i]!.firstElementChild;
    if (!s.classList.contains("lines")) most = Math.max(most, s.scrollHeight - s.clientHeight);
    else if (first instanceof HTMLElement) first.style.marginTop = `${-s.scrollTop}px`;
  });
  return Math.min(MAX_EXTRA_HEIGHT, most);
}

/** At twice the size by default, for print. */
export async function toPng(p: Picture, scale = 2): Promise<Blob> {
  const image = new Image();
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(p.svg);
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(p.width * scale);
  canvas.height = Math.round(p.height * scale);
  const ctx = canvas.getContext("2d");
  if (!ctx) throw new Error("this browser cannot draw pictures");
  ctx.scale(scale, scale);
  ctx.drawImage(image, 0, 0);
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      (b) => (b ? resolve(b) : reject(new Error("the picture is too large"))),
      "image/png",
    ),
  );
}
