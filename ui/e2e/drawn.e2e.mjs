/**
 * The timeline draws what `workspan sql` returns: steals, the critical path and the brackets of
 * findings, read from the exported picture at ten zoom levels.
 */

import { readFileSync } from "node:fs";
import { check, Skip, programFirst } from "./harness.mjs";

/**
 * Width of the row labels left of the plot in the exported picture, in pixels
 * (timeline/verticalLayout.ts).
 */
const LABELS = 148;
const RIGHT = 14;
/** Greatest distance between a drawn position and the expected one, in pixels. */
const MAX_DISTANCE = 1.6;

/**
 * Windows as shares of the run: the whole, then each half as long as the one before, at varying
 * places.
 */
const WINDOWS = Array.from({ length: 10 }, (_, i) => {
  const length = 0.62 ** i;
  const from = (1 - length) * ((i * 0.37) % 1);
  return [from, from + length];
});

const query = (browser, file, text) => browser.json("sql", "--format", "json", file, text);

/** The exported SVG of the tab, with the function from x to ticks. */
async function exported(t, window) {
  const saved = t.page.waitForEvent("download");
  await t.page.getByRole("button", { name: /Export/ }).click();
  await t.page.getByRole("menuitem", { name: /SVG, as shown/ }).click();
  const svg = readFileSync(await (await saved).path(), "utf8");
  const inner =
    /<svg x="0"[^>]*? width="([\d.]+)"/.exec(svg) ?? /<svg[^>]* width="([\d.]+)"/.exec(svg);
  const plot = Number(inner[1]) - LABELS - RIGHT;
  const x = (at) => LABELS + ((at - window.t0) / (window.t1 - window.t0)) * plot;
  // The baseline of a row's name is four pixels below the middle of its lane.
  const rows = new Map(
    [...svg.matchAll(/<text x="16" y="([\d.]+)"[^>]*font-weight="650"[^>]*>([^<]*)</g)].map(
      ([, y, name]) => [name, Number(y) - 4],
    ),
  );
  return { svg, x, plot, rows };
}

const numbers = (path) => [...path.matchAll(/-?\d+(?:\.\d+)?/g)].map(Number);

/** End points of the steal curves, each from its victim's row to its thief's. */
const curves = (svg) =>
  [...svg.matchAll(/<path d="(M[^"]*C[^"]*)"/g)].flatMap(([, d]) =>
    d
      .split("M")
      .filter(Boolean)
      .map(numbers)
      .map((n) => ({ x: n[0], from: n[1], to: n.at(-1) })),
  );

/** Horizontal pieces of a path's line: solid for the critical path, dashed for the ready path. */
const LINES = {
  critical: (how) => /stroke-width="3"/.test(how) && !/dasharray/.test(how),
  ready: (how) => /stroke-width="1.5"/.test(how) && /dasharray="2[ ,]2"/.test(how),
};

function pieces(svg, kind) {
  return [...svg.matchAll(/<path d="([^"]*)"([^>]*)>/g)]
    .filter(([, , how]) => LINES[kind](how))
    .flatMap(([, d]) =>
      d
        .split("M")
        .filter(Boolean)
        .map(numbers)
        .filter((n) => n.length === 4 && n[1] === n[3])
        .map(([a, y, b]) => ({ a, y, b })),
    );
}

/**
 * The ready path of MODEL.md: backwards from the end, always to the predecessor that ended last.
 */
function readyPath(strands, edges) {
  const before = new Map();
  for (const { source, target } of edges) {
    const list = before.get(target);
    if (list) list.push(source);
    else before.set(target, [source]);
  }
  const of = new Map(strands.map((s) => [s.strand, s]));
  const later = (a, b) => (b.end > a.end ? b : a);
  const path = [];
  for (let at = strands.reduce(later); at;) {
    path.push(at);
    const list = (before.get(at.strand) ?? []).map((id) => of.get(id)).filter(Boolean);
    at = list.length ? list.reduce(later) : null;
  }
  return path.reverse();
}

export default function (suite) {
  const file = suite.runs.simulated ?? suite.runs.after ?? suite.runs.before;

  /** The run's times in ticks from its start, as in the page. */
  async function known(browser) {
    const report = await browser.json("report", "--json", file);
    const [{ begin, end }] = await query(
      browser,
      file,
      'select min(start) as begin, max("end") as end from strands',
    );
    const ticks = (ns) => ((ns - begin) * report.ticks_per_second) / 1e9;
    return { report, ticks, elapsed: ticks(end) };
  }

  async function each(t, elapsed, compare) {
    for (const [i, [from, to]] of WINDOWS.entries()) {
      const window = { t0: Math.round(from * elapsed), t1: Math.round(to * elapsed) };
      await t.go(`tab=timeline&drawer=0&t=${window.t0},${window.t1}`);
      await t.page.waitForLoadState("networkidle");
      await t.page.waitForTimeout(400);
      compare(await exported(t, window), window, `zoom ${i + 1}`);
    }
  }

  suite.test("steals at ten zooms are those of SQL", { files: [file] }, async (t, { browser }) => {
    const { ticks, elapsed } = await known(browser);
    const stolen = (
      await query(
        browser,
        file,
        `select t.start, s.thief, s.victim from steals s
       join strands t on t.strand = (select min(strand) from strands where task = s.task)
       where t.thread = s.thief`,
      )
    ).map((s) => ({ at: ticks(s.start), thief: `W${s.thief}`, victim: `W${s.victim}` }));
    if (stolen.length === 0) throw new Skip("nothing was stolen");
    let drawn = 0;
    await each(t, elapsed, ({ svg, x, rows }, { t0, t1 }, zoom) => {
      const there = curves(svg);
      const wanted = stolen.filter((s) => s.at >= t0 && s.at <= t1);
      for (const s of wanted) {
        const found = there.find(
          (c) =>
            Math.abs(c.x - x(s.at)) <= MAX_DISTANCE &&
            Math.abs(c.from - rows.get(s.victim)) <= MAX_DISTANCE &&
            Math.abs(c.to - rows.get(s.thief)) <= MAX_DISTANCE,
        );
        check(found, `${zoom}: no arc from ${s.victim} to ${s.thief} at ${s.at}`);
      }
      check(
        there.length === wanted.length,
        `${zoom}: ${there.length} arcs of ${wanted.length} steals`,
      );
      drawn += wanted.length;
    });
    check(drawn > stolen.length, `only ${drawn} arcs at all zooms`);
  });

  /** Every visible strand of the path is drawn, and nothing else. */
  function compare(kind, path, { svg, x, rows, plot }, zoom) {
    const there = pieces(svg, kind);
    const seen = (s) => [Math.max(x(s.from), LABELS), Math.min(x(s.to), LABELS + plot)];
    for (const s of path) {
      const [a, b] = seen(s);
      // Shorter pieces are merged with their neighbours.
      if (b - a < 4) continue;
      const row = rows.get(`W${s.thread}`) ?? rows.get("main");
      const covered = there
        .filter((p) => Math.abs(row - p.y) < 60 && (kind === "critical" ? p.y < row : p.y > row))
        .some((p) => p.a <= a + MAX_DISTANCE && p.b >= b - MAX_DISTANCE);
      check(covered, `${zoom}: the path's strand at ${s.from} on W${s.thread} is not drawn`);
    }
    for (const p of there.filter((q) => q.b - q.a > 4)) {
      const [a, b] = [Math.max(p.a, LABELS), Math.min(p.b, LABELS + plot)];
      const inside = (s) => Math.max(0, Math.min(b, x(s.to)) - Math.max(a, x(s.from)));
      const worked = path.reduce((sum, s) => sum + inside(s), 0);
      check(
        worked >= (b - a) * 0.7 - 2 * MAX_DISTANCE,
        `${zoom}: the line from ${p.a} to ${p.b} has ${worked} pixels of strands`,
      );
    }
  }

  for (const kind of ["critical", "ready"])
    suite.test(
      `the ${kind} path at ten zooms is that of SQL`,
      { files: [file] },
      async (t, { browser }) => {
        const { ticks, elapsed } = await known(browser);
        const strands = await query(
          browser,
          file,
          'select strand, start, "end" as end, thread, critical from strands order by start',
        );
        const chosen =
          kind === "critical"
            ? strands.filter((s) => s.critical)
            : readyPath(strands, await query(browser, file, "select source, target from edges"));
        const path = chosen.map((s) => ({
          from: ticks(s.start),
          to: ticks(s.end),
          thread: s.thread,
        }));
        await each(t, elapsed, (picture, _, zoom) => compare(kind, path, picture, zoom));
      },
    );

  suite.test(
    "brackets are as long as their findings",
    { files: [file] },
    async (t, { browser }) => {
      const { report, ticks, elapsed } = await known(browser);
      await t.open("tab=summary");
      await t.page.waitForSelector(".finding");
      const drawn = await t.page.evaluate(() =>
        [...document.querySelectorAll("svg g[aria-label^='Finding ']")].flatMap((g) => {
          const [, from, to] =
            /^M([\d.]+) .*H([\d.]+)/.exec(g.querySelector("path")?.getAttribute("d") ?? "") ?? [];
          if (!from) return [];
          const finding = Number(/Finding (\d+)/.exec(g.getAttribute("aria-label"))[1]) - 1;
          const plot = Number(g.closest("svg").dataset.plot);
          return [{ finding, from: Number(from), to: Number(to), plot }];
        }),
      );
      if (drawn.length === 0) throw new Skip("no finding has a bracket");
      for (const b of drawn) {
        const { strand } = programFirst(report.findings)[b.finding].place;
        const ns = Math.round((strand.start * 1e9) / report.ticks_per_second);
        const [one] = await query(
          browser,
          file,
          `select start, "end" as end, ready from strands where task = ${strand.task} and abs(start - ${ns}) < 3`,
        );
        check(one, `no strand of finding ${b.finding + 1} in SQL`);
        const x = (at) => (at / elapsed) * b.plot;
        const from = Math.min(x(ticks(one.ready)), x(ticks(one.start)));
        check(
          Math.abs(b.to - x(ticks(one.end))) <= 3 && b.from >= from - 3,
          `bracket ${b.finding + 1}: ${b.from} to ${b.to}, the finding ${from} to ${x(ticks(one.end))}`,
        );
      }
    },
  );
}
