/** What a picture needs to stand alone: run, verdict, and a key to the code colours. */

import { codeColour } from "../codeColours";
import { markInk, type Colour } from "../colors";
import type { Report, RunMeta } from "../data/contract";
import { requests } from "../data/requests";
import { count, plural, plainNumber, ticks } from "../format";
import { TITLES } from "../frame/Tabs";
import { colorBy, runMeta, source, tab, type Tab } from "../store";
import { colours, dark } from "../theme/theme";
import { textWidth } from "../components/textWidth";
import type { Picture } from "./elementPicture";

const MARGIN = 16;
const LINE = 17;
/** Room above and below the heading's lines. */
const HEAD_ROOM = 12;
/** Maximum number of lines of the key in a figure; a picture of the window has one. */
const MAX_KEY_LINES = 3;

/** Heights that {@link withHeading} adds to a picture of this width. */
export function headingHeights(width: number, isFigure: boolean): { head: number; key: number } {
  const r = runMeta();
  if (!r) return { head: 0, key: 0 };
  const { said } = headingOf(r);
  const lines = 1 + (isFigure ? wrapped(said, width - 2 * MARGIN).length : 1);
  const key = WITH_COLOUR_KEY.has(tab.value) ? keyOf(r, width, isFigure ? MAX_KEY_LINES : 1) : null;
  return { head: lines * LINE + HEAD_ROOM, key: key?.svg ? key.lines * LINE + 5 : 0 };
}

/**
 * Adds a heading to a picture: run, workers, time, verdict; and below it a key to the code colours,
 * if the view has them. In a figure both may take several lines.
 */
export function withHeading(p: Picture, isFigure: boolean): Picture {
  const r = runMeta();
  if (!r) return p;
  const t = colours.value;
  const { title, said } = headingOf(r);
  const { head, key } = headingHeights(p.width, isFigure);
  const room = p.width - 2 * MARGIN;
  const height = p.height + head + key;
  const text = (y: number, size: number, ink: string, words: string, weight = 400) =>
    `<text x="${MARGIN}" y="${y}" font-size="${size}" font-weight="${weight}" fill="${ink}">${escaped(words)}</text>`;
  const lines = isFigure ? wrapped(said, room) : [said];
  const inner = p.svg.replace("<svg ", `<svg x="0" y="${head}" `);
  return {
    svg:
      `<svg xmlns="http://www.w3.org/2000/svg" width="${p.width}" height="${height}" viewBox="0 0 ${p.width} ${height}" font-family="system-ui, sans-serif">` +
      `<rect width="100%" height="100%" fill="${t.panel}"/>` +
      text(19, 14, t.fg, title, 600) +
      lines.map((line, i) => text(19 + (i + 1) * LINE, 11.5, t.fg2, line)).join("") +
      inner +
      (key > 0
        ? `<g transform="translate(${MARGIN} ${p.height + head})">${keyOf(r, p.width, isFigure ? MAX_KEY_LINES : 1).svg}</g>`
        : "") +
      "</svg>",
    width: p.width,
    height,
  };
}

/** Views with code colours. */
export const WITH_COLOUR_KEY: ReadonlySet<Tab> = new Set<Tab>(["timeline", "dag"]);

/** The title of a picture of the current view, and the run's verdict. */
export function headingOf(r: RunMeta): { title: string; said: string } {
  return { title: `${r.name}: ${TITLES[tab.value]}`, said: verdictOf(r).join(SEPARATOR) };
}

const SEPARATOR = " · ";

/** The code colours in one line, if boxes have them. */
export const colourKeyOf = (r: RunMeta, width: number): string => keyOf(r, width, 1).svg;

/** The verdict in lines of at most `room` pixels, broken between its parts. */
function wrapped(said: string, room: number): string[] {
  const lines: string[] = [];
  for (const part of said.split(SEPARATOR)) {
    const longer = lines.length > 0 ? `${lines.at(-1)}${SEPARATOR}${part}` : "";
    if (longer && textWidth(longer, 11.5) <= room) lines[lines.length - 1] = longer;
    else lines.push(part);
  }
  return lines;
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

/** The codes that fit on some lines, most time first. */
function keyOf(r: RunMeta, width: number, maxLines: number): { svg: string; lines: number } {
  if (colorBy.value !== "code") return { svg: "", lines: 0 };
  let [x, line] = [0, 0];
  const out: string[] = [];
  for (const [code, { label }] of r.codes.entries()) {
    const needs = 26 + textWidth(label, 11);
    if (x > 0 && x + needs > width - 2 * MARGIN) [x, line] = [0, line + 1];
    if (line >= maxLines) break;
    const c = codeColour(r.codes, code, dark.value);
    out.push(
      `<g transform="translate(${x} ${line * LINE})">` +
        `<rect y="2" width="11" height="11" rx="2" fill="${c.fill}"/>${mark(c)}` +
        `<text x="16" y="12" font-size="11" fill="${colours.value.fg2}">${escaped(label)}</text></g>`,
    );
    x += needs + 8;
  }
  return { svg: out.join(""), lines: Math.min(line + 1, maxLines) };
}

/** A texture's marks on a swatch. */
function mark(c: Colour): string {
  const stroke = `stroke="${markInk(dark.value)}" stroke-width="1.6" fill="none"`;
  if (c.texture === "diagonal") return `<path d="M0 8L6 2M0 13L11 2M5 13L11 7" ${stroke}/>`;
  if (c.texture === "lines") return `<path d="M0 5h11M0 9h11" ${stroke}/>`;
  if (c.texture === "dots") return `<path d="M2 5h2M7 5h2M2 10h2M7 10h2" ${stroke}/>`;
  return "";
}

const escaped = (s: string): string =>
  s.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`).replace(/\p{Cc}/gu, " ");
