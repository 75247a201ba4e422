/**
 * The look of everything: tokens of the two themes, one function from an item to its colour in
 * every mode, and the patterns that express what colour alone must not. Pure: it can run in a
 * worker. The current theme is in theme/theme.ts.
 *
 * Code and worker colours are Paul Tol's "muted" scheme (its least distance under the three
 * colour-vision deficiencies is 15.6, CIE76, Machado 2009); the activities are based on Okabe and
 * Ito. Contrast and distances are checked in colors.test.ts.
 */

import type { ColorBy } from "./store";

export interface Tokens {
  bg: string;
  panel: string;
  panel2: string;
  inset: string;
  line: string;
  line2: string;
  fg: string;
  fg2: string;
  fg3: string;
  accent: string;
  accentBg: string;
  accentLine: string;
  /** The outline of paths, then the paths themselves. */
  halo: string;
  path: string;
  work: string;
  onWork: string;
  delay: string;
  sched: string;
  schedInk: string;
  appBg: string;
  appHatch: string;
  desch: string;
  blocked: string;
  /** Lighter than work, beside which it is also in greyscale. */
  recording: string;
  leap: string;
  /** Waits that another thread ended. */
  wait: string;
  steal: string;
  good: string;
  bad: string;
  heat: string;
  keyword: string;
  comment: string;
  string: string;
}

export const LIGHT: Tokens = {
  bg: "#f5f6f8",
  panel: "#ffffff",
  panel2: "#f9fafb",
  inset: "#f0f2f5",
  line: "#e4e7ec",
  line2: "#cdd3dc",
  fg: "#12161d",
  fg2: "#434c5a",
  fg3: "#616b7a",
  accent: "#0a5fbf",
  accentBg: "#e8f1fb",
  accentLine: "#a9cbf0",
  halo: "#ffffff",
  path: "#12161d",
  work: "#0072b2",
  onWork: "#ffffff",
  delay: "#d55e00",
  sched: "#f0e442",
  schedInk: "#6b6500",
  appBg: "#eceef2",
  appHatch: "#b9bfc8",
  desch: "#616b7a",
  blocked: "#8a6d3b",
  recording: "#a3acba",
  leap: "#aa4499",
  wait: "#882255",
  steal: "rgba(18,22,29,.62)",
  good: "#117733",
  bad: "#a34700",
  heat: "#cc6677",
  keyword: "#6b3fa0",
  comment: "#616b7a",
  string: "#117733",
};

export const DARK: Tokens = {
  bg: "#0d1014",
  panel: "#14181e",
  panel2: "#181d24",
  inset: "#1d232b",
  line: "#252c36",
  line2: "#3a4350",
  fg: "#e9edf2",
  fg2: "#b4bdc9",
  fg3: "#8b96a5",
  accent: "#69b1ff",
  accentBg: "#14283f",
  accentLine: "#2c5788",
  halo: "#ffffff",
  path: "#0b0e12",
  work: "#2f8fd0",
  onWork: "#081019",
  delay: "#ea7317",
  sched: "#f0e442",
  schedInk: "#4d4800",
  appBg: "#191e25",
  appHatch: "#3a424d",
  desch: "#8b96a5",
  blocked: "#c9a86a",
  recording: "#c9d0da",
  leap: "#d77fce",
  wait: "#e08fb0",
  steal: "rgba(240,244,250,.62)",
  good: "#55c08a",
  bad: "#f39a55",
  heat: "#cc6677",
  keyword: "#c3a1f0",
  comment: "#8b96a5",
  string: "#7fd0a6",
};

export const tokens = (dark: boolean): Tokens => (dark ? DARK : LIGHT);

/**
 * A pattern over a colour. Colours of the palette that are alike in greyscale have different ones,
 * and repeated colours too, so that no two of the first 32 items look the same.
 */
export type Texture = "none" | "diagonal" | "dots" | "lines" | "cross";
const TEXTURES: Texture[] = ["none", "diagonal", "dots", "lines"];
/** Textures of the palette's colours. */
export const MARKS = ["diagonal", "dots", "lines"] as const satisfies Texture[];

/** Colour of a texture's marks over a fill. */
export const markInk = (dark: boolean): string =>
  dark ? "rgba(13,16,20,.4)" : "rgba(255,255,255,.6)";

/** Share by which a fill is mixed with the marks' colour when there is no room for marks. */
const MARK_SHARE: Record<Texture, number> = {
  none: 0,
  dots: 0.25,
  diagonal: 0.4,
  cross: 0.5,
  lines: 0.55,
};

/** Colour and texture as one flat colour, for pixels and for rows too low for marks. */
export function flatOf(c: Pick<Colour, "fill" | "texture">, dark: boolean): string {
  return mix(c.fill, dark ? "#0d1014" : "#ffffff", MARK_SHARE[c.texture]);
}

export interface Colour {
  /** `#rrggbb`. */
  fill: string;
  /** Text colour on the fill, with a contrast of at least 4.5. */
  ink: string;
  texture: Texture;
}

/** The properties of an item that determine its colour. Missing ones are unknown. */
export interface Item {
  code?: number | null;
  site?: number | null;
  row?: number | null;
  level?: number | null;
  critical?: boolean;
  /** The item is on the ready path. */
  readyPath?: boolean;
  activity?: Activity;
  /** The code or site is the root's own: grey in every view. */
  root?: boolean;
}

export type Activity = "work" | "delay" | "sched" | "app" | "descheduled" | "blocked";

/**
 * Colours of codes and sites, in order of decreasing time. The first three are far apart for every
 * colour vision, as most pictures have no more that matter.
 */
const CODE = [
  "#cc6677",
  "#88ccee",
  "#ddcc77",
  "#44aa99",
  "#332288",
  "#999933",
  "#117733",
  "#882255",
];
/** The texture of each colour the first time that it is used. */
const FIRST_TEXTURE: Record<string, Texture> = {
  "#cc6677": "none",
  "#88ccee": "none",
  "#ddcc77": "dots",
  "#44aa99": "diagonal",
  "#332288": "lines",
  "#999933": "dots",
  "#117733": "diagonal",
  "#882255": "dots",
};
/** Colours of rows, in Tol's order. */
const ROW = [
  "#332288",
  "#88ccee",
  "#44aa99",
  "#117733",
  "#999933",
  "#ddcc77",
  "#cc6677",
  "#882255",
];
/** Brighter variants of the scheme's dark colours, for a dark background. */
const BRIGHTENED: Record<string, string> = {
  "#332288": "#7463d6",
  "#117733": "#377a29",
  "#882255": "#95468a",
};
/** Cividis from its dark end to its light one, evenly spaced in lightness. */
const LEVELS = ["#00336f", "#31446b", "#575c6d", "#7b7775", "#a49a6f", "#d1be5a", "#fde737"];

const INK = { dark: "#12161d", light: "#ffffff" };

/** The colour of a run's letter and lines. Runs also differ by letter and label. */
export function runColour(id: string, dark: boolean): string {
  const t = tokens(dark);
  const all = dark
    ? [t.fg, t.accent, "#dd9a35", "#44aa99", "#cc6677", "#999933", "#d77fce", "#b4bdc9"]
    : [t.fg, t.accent, "#a34700", "#117733", "#882255", "#332288", "#6b6500", "#616b7a"];
  return all[Math.max(0, id.charCodeAt(0) - 97) % all.length]!;
}

/** The colour of an item in a mode. */
export function colour(mode: ColorBy, item: Item, dark: boolean): Colour {
  const t = tokens(dark);
  switch (mode) {
    case "code":
      return item.root ? flat(dark ? "#dde1e6" : "#4a515c") : cycle(CODE, item.code, dark);
    case "site":
      return item.root || item.site === 0
        ? flat(dark ? "#dde1e6" : "#4a515c")
        : cycle(CODE, item.site == null ? null : item.site - 1, dark);
    case "worker":
      return cycle(ROW, item.row, dark);
    case "activity":
      return activity(item.activity ?? "work", dark);
    case "level": {
      if (item.level == null) return flat(t.line2);
      // Level 8 is at half of the scale and level 16 at three quarters: deep recursions stay
      // distinguishable at the levels that are most common.
      return flat(sequential(1 - 2 ** (-item.level / 8), dark));
    }
    case "critical":
      return flat(
        item.critical ? "#cc6677" : item.readyPath ? "#ddcc77" : dark ? "#3a4350" : "#cdd3dc",
      );
  }
}

export function activity(kind: Activity, dark: boolean): Colour {
  const t = tokens(dark);
  switch (kind) {
    case "work":
      return flat(t.work);
    case "delay":
      return { ...flat(t.delay), texture: "diagonal" };
    case "sched":
      return { ...flat(t.sched), texture: "dots" };
    case "app":
      return { ...flat(t.appBg), texture: "diagonal" };
    case "descheduled":
      return { ...flat(t.panel), texture: "lines" };
    case "blocked":
      return { ...flat(t.panel), texture: "cross" };
  }
}

/**
 * Position from 0 (dark) to 1 (light) on cividis, which all colour visions see as one ramp. On a
 * dark background its dark end is lifted.
 */
export function sequential(at: number, dark: boolean): string {
  const low = dark ? 0.18 : 0;
  const x = (low + (1 - low) * Math.min(1, Math.max(0, at))) * (LEVELS.length - 1);
  const i = Math.min(LEVELS.length - 2, Math.floor(x));
  return mix(LEVELS[i]!, LEVELS[i + 1]!, x - i);
}

function cycle(list: string[], index: number | null | undefined, dark: boolean): Colour {
  if (index == null || index < 0 || index >= 0xffff) return flat(dark ? "#5a6472" : "#a7afba");
  const base = list[index % list.length]!;
  const fill = dark ? (BRIGHTENED[base] ?? base) : base;
  const turn = TEXTURES.indexOf(FIRST_TEXTURE[base] ?? "none") + Math.floor(index / list.length);
  return { fill, ink: ink(fill), texture: TEXTURES[turn % TEXTURES.length]! };
}

function flat(fill: string): Colour {
  return { fill, ink: ink(fill), texture: "none" };
}

/**
 * The most readable text colour on `fill`: the page's dark colour or white; plain black if neither
 * has a contrast of 4.5, as on middle tones.
 */
export function ink(fill: string): string {
  const best = contrast(fill, INK.dark) >= contrast(fill, INK.light) ? INK.dark : INK.light;
  return contrast(fill, best) >= 4.5 ? best : "#000000";
}

export function rgb(hex: string): [number, number, number] {
  const n = parseInt(hex.slice(1), 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}

/** The colour as `#rrggbb` with an alpha value. */
export function alpha(hex: string, a: number): string {
  const [r, g, b] = rgb(hex);
  return `rgba(${r},${g},${b},${a})`;
}

export function mix(a: string, b: string, at: number): string {
  const [x, y] = [rgb(a), rgb(b)];
  return (
    "#" +
    x
      .map((v, i) =>
        Math.round(v + (y[i]! - v) * at)
          .toString(16)
          .padStart(2, "0"),
      )
      .join("")
  );
}

/** Contrast ratio of WCAG 2, 1 to 21. */
export function contrast(a: string, b: string): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

function luminance(hex: string): number {
  const [r, g, b] = rgb(hex).map((v) =>
    v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4,
  ) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
