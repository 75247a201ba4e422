/**
 * An element of the page as one SVG document: its current markup and styles, with canvases as
 * images. Nothing is fetched.
 */

import { codeColour } from "../codeColours";
import { markInk, type Colour } from "../colors";
import type { Report, RunMeta } from "../data/contract";
import { requests } from "../data/requests";
import { count, plural, plainNumber, ticks } from "../format";
import { TITLES } from "../frame/Tabs";
import { colorBy, runMeta, source, tab, type Tab } from "../store";
import { colours, dark } from "../theme/theme";
import { textWidth } from "../components/textWidth";

/**
 * Maximum height that a picture adds to the view's, to include what is scrolled away, in pixels.
 */
const MAX_EXTRA_HEIGHT = 4000;

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
  const styles = [...document.styleSheets]
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
  let most = 0;
  scrollers.forEach((s, i) => {
    const first = copies[i]!.firstElementChild;
    if (!s.classList.contains("lines")) most = Math.max(most, s.scrollHeight - s.clientHeight);
    else if (first instanceof HTMLElement) first.style.marginTop = `${-s.scrollTop}px`;
  });
  return Math.min(MAX_EXTRA_HEIGHT, most);
}

const HEAD = 46;
const LEGEND = 22;

/**
 * Adds a heading to a picture: run, workers, time, verdict; and below it a key to the code colours,
 * if the view has them.
 */
export function withHeading(p: Picture): Picture {
  const r = runMeta();
  if (!r) return p;
  const t = colours.value;
  const { title, said } = headingOf(r);
  const key = WITH_COLOUR_KEY.has(tab.value) ? colourKeyOf(r, p.width) : "";
  const height = p.height + HEAD + (key ? LEGEND : 0);
  const text = (x: number, y: number, size: number, ink: string, words: string, weight = 400) =>
    `<text x="${x}" y="${y}" font-size="${size}" font-weight="${weight}" fill="${ink}">${escaped(words)}</text>`;
  const inner = p.svg.replace("<svg ", `<svg x="0" y="${HEAD}" `);
  return {
    svg:
      `<svg xmlns="http://www.w3.org/2000/svg" width="${p.width}" height="${height}" viewBox="0 0 ${p.width} ${height}" font-family="system-ui, sans-serif">` +
      `<rect width="100%" height="100%" fill="${t.panel}"/>` +
      text(16, 19, 14, t.fg, title, 600) +
      text(16, 36, 11.5, t.fg2, said) +
      inner +
      (key ? `<g transform="translate(16 ${p.height + HEAD})">${key}</g>` : "") +
      "</svg>",
    width: p.width,
    height,
  };
}

/** Views with code colours. */
export const WITH_COLOUR_KEY: ReadonlySet<Tab> = new Set<Tab>(["timeline", "dag"]);

/** The title of a picture of the current view, and the run's verdict. */
export function headingOf(r: RunMeta): { title: string; said: string } {
  return { title: `${r.name}: ${TITLES[tab.value]}`, said: verdictOf(r).join(" · ") };
}

/** The code colours in one line, if boxes have them. */
export function colourKeyOf(r: RunMeta, width: number): string {
  return colorBy.value === "code" ? legend(r, width) : "";
}

/** `8 workers · 1.90 s · 3.9 of 8 workers busy · recorded 2026-11-26`. */
function verdictOf(r: RunMeta): string[] {
  const report = source.cached(requests.report(r.id)) as Report | undefined;
  return [
    r.file,
    plural(r.workers, "worker"),
    ticks(r.elapsed, r.ticks_per_second),
    report ? `${plainNumber(report.mean_busy)} of ${count(r.workers)} workers busy` : "",
    report ? `at most ${plainNumber(report.largest_speedup)}×` : "",
    r.runtime ?? "",
    r.recorded ? `recorded ${r.recorded}` : "",
  ].filter(Boolean);
}

/** The codes that fit on a line, most time first. */
function legend(r: RunMeta, width: number): string {
  let x = 0;
  const out: string[] = [];
  for (const [code, { label }] of r.codes.entries()) {
    const needs = 26 + textWidth(label, 11);
    if (x + needs > width - 32) break;
    const c = codeColour(r.codes, code, dark.value);
    out.push(
      `<rect x="${x}" y="2" width="11" height="11" rx="2" fill="${c.fill}"/>` +
        mark(c, x) +
        `<text x="${x + 16}" y="12" font-size="11" fill="${colours.value.fg2}">${escaped(label)}</text>`,
    );
    x += needs + 8;
  }
  return out.join("");
}

/** A texture's marks on a swatch. */
function mark(c: Colour, x: number): string {
  const stroke = `stroke="${markInk(dark.value)}" stroke-width="1.6" fill="none"`;
  if (c.texture === "diagonal")
    return `<path d="M${x} 8L${x + 6} 2M${x} 13L${x + 11} 2M${x + 5} 13L${x + 11} 7" ${stroke}/>`;
  if (c.texture === "lines") return `<path d="M${x} 5h11M${x} 9h11" ${stroke}/>`;
  if (c.texture === "dots")
    return `<path d="M${x + 2} 5h2M${x + 7} 5h2M${x + 2} 10h2M${x + 7} 10h2" ${stroke}/>`;
  return "";
}

const escaped = (s: string): string =>
  s.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`).replace(/\p{Cc}/gu, " ");

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
