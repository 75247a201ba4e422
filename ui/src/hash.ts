/**
 * The view's state in the location's hash: `#v=1&tab=timeline&run=a&t=0,1000&sel=task:a:12&…`.
 * Initial values are omitted. A change of tab, run or finding makes a new entry of the browser's
 * history; other changes rewrite the entry, some time after the last one.
 */

import { batch, effect } from "@preact/signals";
import { sameSet } from "./sets";
import * as store from "./store";
import {
  LAYERS,
  LAYERS_AT_START,
  ROWS_AT_START,
  TABS,
  type ColorBy,
  type Layer,
  type Layout,
  type RowsShown,
  type Selection,
  type Tab,
} from "./store";

/** All state in the hash. */
export interface ViewState {
  tab: Tab;
  run: string;
  other: string | null;
  furtherRuns: readonly string[];
  range: { t0: number; t1: number } | null;
  selection: Selection | null;
  colorBy: ColorBy;
  layers: ReadonlySet<Layer>;
  rowsShown: RowsShown;
  layout: Layout;
  power: number;
  expanded: ReadonlySet<string>;
  theme: "system" | "light" | "dark";
  drawer: boolean;
  split: boolean;
  secondLayout: Layout | null;
  sections: boolean;
  compareBy: "time" | "fraction";
  finding: number | null;
  whatif: { what: string[]; factor: number };
}

export const START: ViewState = {
  tab: "summary",
  run: "a",
  other: null,
  furtherRuns: [],
  range: null,
  selection: null,
  colorBy: "code",
  layers: LAYERS_AT_START,
  rowsShown: ROWS_AT_START,
  layout: "time",
  power: 0.5,
  expanded: new Set(["t0"]),
  theme: "system",
  drawer: true,
  split: false,
  secondLayout: null,
  sections: false,
  compareBy: "time",
  finding: null,
  whatif: { what: [], factor: 2 },
};

/** Maximum number of node ids in a link, to limit its length. */
const MAX_EXPANDED = 300;
const COLORS: ColorBy[] = ["code", "site", "worker", "activity", "level", "critical"];
const LAYOUTS: Layout[] = ["structure", "linear", "power", "log", "time"];

export function write(s: ViewState): string {
  const out: string[] = ["v=1", `tab=${s.tab}`];
  const put = (key: string, value: string) => out.push(`${key}=${value}`);
  const text = encodeURIComponent;
  if (s.run !== START.run) put("run", text(s.run));
  if (s.other !== null) put("with", text(s.other));
  if (s.furtherRuns.length) put("beside", s.furtherRuns.map(text).join(","));
  if (s.range) put("t", `${number(s.range.t0)},${number(s.range.t1)}`);
  if (s.selection) put("sel", selectionText(s.selection));
  if (s.colorBy !== START.colorBy) put("color", s.colorBy);
  if (!sameSet(s.layers, START.layers))
    put("layers", LAYERS.filter((l) => s.layers.has(l)).join(",") || "none");
  const rows = rowsText(s.rowsShown);
  if (rows) put("rows", rows);
  if (s.layout !== START.layout || s.power !== START.power)
    put("layout", s.layout + (s.power !== START.power ? `:${number(s.power)}` : ""));
  if (!sameSet(s.expanded, START.expanded))
    put("dag", [...s.expanded].slice(0, MAX_EXPANDED).map(text).join(",") || "none");
  if (s.theme !== START.theme) put("theme", s.theme);
  if (!s.drawer) put("drawer", "0");
  if (s.split) put("split", "1");
  if (s.secondLayout) put("second", s.secondLayout);
  if (s.sections) put("sections", "1");
  if (s.compareBy !== START.compareBy) put("by", s.compareBy);
  if (s.finding !== null) put("finding", String(s.finding + 1));
  if (s.whatif.what.length) put("what", s.whatif.what.map(text).join(","));
  if (s.whatif.factor !== START.whatif.factor) put("factor", number(s.whatif.factor));
  return "#" + out.join("&");
}

/** Parses any hash: invalid parts have their initial values. */
export function read(hash: string): ViewState {
  const values = new Map(
    hash
      .replace(/^#/, "")
      .split("&")
      .filter(Boolean)
      .map((p) => {
        const i = p.indexOf("=");
        return i < 0 ? ([p, ""] as const) : ([p.slice(0, i), p.slice(i + 1)] as const);
      }),
  );
  const get = (key: string) => {
    const v = values.get(key);
    return v === undefined || v === "" ? null : v;
  };
  const one = <T extends string>(key: string, of: readonly T[], or: T): T =>
    (of as readonly string[]).includes(get(key) ?? "") ? (get(key) as T) : or;
  const [layoutName, powerText] = (get("layout") ?? "").split(":");
  const t = get("t")?.split(",").map(Number);
  const finding = Number(get("finding") ?? NaN);
  const power = Number(powerText ?? NaN);
  const factor = Number(get("factor") ?? NaN);
  const layers = get("layers");
  const dag = get("dag");
  return {
    tab: one("tab", TABS, START.tab),
    run: decode(get("run")) ?? START.run,
    other: decode(get("with")),
    furtherRuns: (get("beside") ?? "").split(",").flatMap((id) => decode(id) || []),
    range:
      t && t.length === 2 && t.every(Number.isFinite) && t[1]! > t[0]!
        ? { t0: t[0]!, t1: t[1]! }
        : null,
    selection: readSelection(get("sel")),
    colorBy: one("color", COLORS, START.colorBy),
    layers:
      layers === null ? START.layers : new Set(LAYERS.filter((l) => layers.split(",").includes(l))),
    rowsShown: readRows(get("rows")),
    layout: LAYOUTS.includes(layoutName as Layout) ? (layoutName as Layout) : START.layout,
    power: power >= 0.2 && power <= 1 ? power : START.power,
    expanded:
      dag === null
        ? START.expanded
        : dag === "none"
          ? new Set()
          : new Set(
              dag
                .split(",")
                .map(decode)
                .filter((id): id is string => id !== null && /^(?:t|gr?|s)[\d.]+$/.test(id))
                .slice(0, MAX_EXPANDED),
            ),
    theme: one("theme", ["system", "light", "dark"] as const, "system"),
    drawer: get("drawer") !== "0",
    split: get("split") === "1",
    secondLayout: LAYOUTS.find((l) => l === get("second")) ?? null,
    sections: get("sections") === "1",
    compareBy: one("by", ["time", "fraction"] as const, "time"),
    finding: Number.isInteger(finding) && finding >= 1 && finding <= 99 ? finding - 1 : null,
    whatif: {
      what: (get("what") ?? "")
        .split(",")
        .filter(Boolean)
        .map(decode)
        .filter((w): w is string => w !== null)
        .slice(0, 64),
      factor: factor > 1 && factor <= 1000 ? factor : START.whatif.factor,
    },
  };
}

/** `compact,busy,pin:0.3,hide:5`; initial values are omitted. */
function rowsText(s: RowsShown): string {
  const out: string[] = [];
  if (s.height !== ROWS_AT_START.height) out.push(s.height);
  if (s.sort !== ROWS_AT_START.sort) out.push(s.sort);
  if (s.group !== ROWS_AT_START.group) out.push(`by-${s.group}`);
  if (s.pinned.length) out.push(`pin:${s.pinned.join(".")}`);
  if (s.hidden.length) out.push(`hide:${s.hidden.join(".")}`);
  return out.join(",");
}

function readRows(text: string | null): RowsShown {
  const words = (text ?? "").split(",");
  const list = (name: string): number[] => {
    const found = words.find((w) => w.startsWith(`${name}:`))?.slice(name.length + 1);
    const numbers = (found ?? "").split(".").filter((n) => /^\d{1,6}$/.test(n));
    return [...new Set(numbers.map(Number))];
  };
  const height = (["full", "compact"] as const).find((h) => words.includes(h));
  return {
    height: height ?? ROWS_AT_START.height,
    sort: words.includes("busy") ? "busy" : ROWS_AT_START.sort,
    group:
      (["none", "pool", "process", "node", "tens"] as const).find((g) =>
        words.includes(`by-${g}`),
      ) ?? ROWS_AT_START.group,
    pinned: list("pin"),
    hidden: list("hide"),
  };
}

function selectionText(s: Selection): string {
  const run = encodeURIComponent(s.run);
  switch (s.kind) {
    case "strand":
      return `strand:${run}:${s.id}:${s.task}${s.inner === undefined ? "" : `:${s.inner}`}`;
    case "steal":
      return `steal:${run}:${s.strand}:${s.task}`;
    case "task":
      return `task:${run}:${s.id}`;
    case "site":
      return `site:${run}:${s.site}`;
    case "code":
      return `code:${run}:${s.code}`;
    case "row":
      return `row:${run}:${[s.row, ...(s.others ?? [])].join(",")}`;
    case "group":
      return `group:${run}:${encodeURIComponent(s.id)}:${s.task}`;
    case "range":
      return `range:${run}:${number(s.t0)}:${number(s.t1)}`;
    case "line":
      return `line:${run}:${encodeURIComponent(s.file)}:${s.line}`;
  }
}

function readSelection(text: string | null): Selection | null {
  if (text === null) return null;
  const [kind, runText, first, second, third] = text.split(":");
  const run = decode(runText ?? null);
  if (!run || first === undefined) return null;
  const [a, b] = [Number(first), Number(second)];
  const whole = (n: number) => Number.isInteger(n) && n >= 0;
  switch (kind) {
    case "strand": {
      const inner = third === undefined ? null : Number(third);
      if (!whole(a) || !whole(b) || (inner !== null && !whole(inner))) return null;
      return inner === null ? { kind, run, id: a, task: b } : { kind, run, id: a, task: b, inner };
    }
    case "steal":
      return whole(a) && whole(b) ? { kind, run, strand: a, task: b } : null;
    case "task":
      return whole(a) ? { kind, run, id: a } : null;
    case "site":
      return whole(a) ? { kind, run, site: a } : null;
    case "code":
      return whole(a) ? { kind, run, code: a } : null;
    case "row": {
      const [row, ...others] = first.split(",").map(Number);
      if (row === undefined || ![row, ...others].every(whole)) return null;
      return others.length ? { kind, run, row, others } : { kind, run, row };
    }
    case "group": {
      const id = decode(first);
      return id && whole(b) ? { kind, run, id, task: b } : null;
    }
    case "range":
      return Number.isFinite(a) && b > a ? { kind, run, t0: a, t1: b } : null;
    case "line": {
      const file = decode(first);
      return file && whole(b) ? { kind, run, file, line: b } : null;
    }
    default:
      return null;
  }
}

function decode(text: string | null): string | null {
  if (text === null) return null;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function number(n: number): string {
  return String(Math.abs(n) >= 1e6 ? Math.round(n) : Number(n.toPrecision(9)));
}

/** The signals' current values. */
export function current(): ViewState {
  return Object.fromEntries(
    Object.keys(START).map((k) => [k, (store as any)[k].value]),
  ) as unknown as ViewState;
}

/** Sets the signals that differ. */
export function apply(s: ViewState): void {
  const now = current() as any;
  const text = (v: unknown) => JSON.stringify(v instanceof Set ? [...v] : v);
  batch(() => {
    for (const [k, v] of Object.entries(s))
      if (text(now[k]) !== text(v)) (store as any)[k].value = v;
  });
}

const historyKey = (s: ViewState) => [s.tab, s.run, s.other, s.finding, s.split].join(" ");

/** Keeps hash and signals equal, starting with the initial hash. */
export function startHash(): void {
  apply(read(location.hash));
  let last = current(),
    pending: ReturnType<typeof setTimeout> | undefined;
  let shown = write(last);
  history.replaceState(null, "", shown);
  const settle = () => {
    clearTimeout(pending);
    pending = undefined;
    store.stats.hashLate = false;
  };
  const flush = () => {
    settle();
    const text = write(last);
    if (text !== shown) {
      shown = text;
      history.replaceState(null, "", text);
    }
  };
  effect(() => {
    const next = current();
    if (historyKey(next) !== historyKey(last)) {
      // The previous entry keeps its last state.
      flush();
      last = next;
      const text = write(next);
      if (text !== shown) {
        shown = text;
        history.pushState(null, "", text);
      }
      return;
    }
    last = next;
    clearTimeout(pending);
    store.stats.hashLate = true;
    pending = setTimeout(flush, 200);
  });
  const follow = () => {
    if (location.hash === shown) return;
    settle();
    shown = location.hash;
    last = read(location.hash);
    apply(last);
    last = current();
    shown = write(last);
    if (shown !== location.hash) history.replaceState(null, "", shown);
  };
  addEventListener("popstate", follow);
  addEventListener("hashchange", follow);
  addEventListener("pagehide", flush);
}

/** The page's address with the current state. */
export function link(): string {
  return location.href.replace(/#.*$/, "") + write(current());
}
