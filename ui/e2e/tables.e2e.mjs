/**
 * Numbers of the tables of Sites, What-if and Compare: each equals the one that `workspan report`,
 * `stretch`, `compare` or `sql` prints, or follows from the run's strands.
 */

import { check, Skip } from "./harness.mjs";
import { printed, same } from "./printed.mjs";

/** Sizes that the page shows of one code. */
const MAX_SIZES = 10;

const cells = (row) => row.locator("th, td").allInnerTexts();
const sql = (browser, file, query) => browser.json("sql", "--format", "json", file, query);

/**
 * Time by site for which strands were ready after their waits, while the same thread ran another
 * task (MODEL.md §5, *buried*).
 */
const BURIED = `
  select w.site, sum(w.waited) as buried from (
    select *, max(case when "end" > start then "end" end) over (
      partition by thread order by start, strand rows between unbounded preceding and 1 preceding
    ) as ran from strands
  ) w join strands p on p.strand = w.previous
  where w.start_kind = 'wait' and w.waited > 0 and p.thread = w.thread and w.ran > w.ready
  group by w.site`;

/**
 * For each site and each place where its strands start, the strands by the nearest power of two of
 * their weights in ticks: with the mean number of running strands, and the time of free workers
 * for each that ran. SQL's times are whole nanoseconds: a strand whose weight is within half a
 * nanosecond of the border between two sizes is `unsure` in both.
 */
function bySize(strands, { workers, ticks_per_second }) {
  const long = strands.filter((s) => s.end > s.start);
  const times = [...new Set(long.flatMap((s) => [s.start, s.end]))].sort((a, b) => a - b);
  const at = new Map(times.map((time, i) => [time, i]));
  const running = new Array(times.length).fill(0);
  for (const s of long) for (let i = at.get(s.start); i < at.get(s.end); i++) running[i]++;
  const sizeOf = (ns) => Math.round(Math.log2(Math.max(1, ns * 1e-9 * ticks_per_second)));
  const groups = new Map();
  for (const s of long) {
    const from = s.start_kind === "begin" ? "begin" : s.from_site;
    const key = `${s.site} ${from}`;
    const code = groups.get(key) ?? { site: s.site, strands: 0, sizes: new Map() };
    groups.set(key, code);
    code.strands++;
    const [low, high] = [sizeOf(s.time - 0.501), sizeOf(s.time + 0.501)];
    for (const size of new Set([low, high])) {
      const of = code.sizes.get(size) ?? NO_STRANDS();
      code.sizes.set(size, of);
      if (low !== high) {
        of.unsure++;
        of.unsureTotal += s.time;
        continue;
      }
      of.strands++;
      of.total += s.time;
      of.length += s.end - s.start;
      for (let i = at.get(s.start); i < at.get(s.end); i++) {
        const length = times[i + 1] - times[i];
        of.ran += running[i] * length;
        of.free += (Math.max(0, workers - running[i]) / running[i]) * length;
      }
    }
  }
  return { codes: [...groups.values()], sizeOf };
}

const NO_STRANDS = () => ({
  strands: 0,
  total: 0,
  length: 0,
  ran: 0,
  free: 0,
  unsure: 0,
  unsureTotal: 0,
});

/** All ways to take one of each list. */
const product = ([first, ...rest]) =>
  first ? first.flatMap((of) => product(rest).map((more) => [of, ...more])) : [[]];

/** The strands of several sites as those of one code. */
function together(parts) {
  const sizes = new Map();
  for (const part of parts)
    for (const [size, of] of part.sizes) {
      const sum = sizes.get(size) ?? NO_STRANDS();
      for (const key of Object.keys(sum)) sum[key] += of[key];
      sizes.set(size, sum);
    }
  return { sizes };
}

/** The sizes of `code` that the page shows as `rows`, in their order; null if they are not its. */
function sizesShown(code, rows, sizeOf) {
  const sure = [...code.sizes.values()].filter((of) => of.strands > 0).length;
  if (rows.length < Math.min(sure, MAX_SIZES) || rows.length > MAX_SIZES) return null;
  const found = [];
  for (const [, count, sum] of rows) {
    const strands = printed(count).value;
    const total = printed(sum);
    const mean = (total.value / strands) * 1e9;
    const size = [sizeOf(mean), sizeOf(mean * 0.99), sizeOf(mean * 1.01)]
      .map((size) => code.sizes.get(size))
      .find((of) => {
        if (!of || found.includes(of)) return false;
        if (strands < of.strands || strands > of.strands + of.unsure) return false;
        const error = total.half * 1.001 + strands * 1e-9;
        return (
          total.value >= of.total * 1e-9 - error &&
          total.value <= (of.total + of.unsureTotal) * 1e-9 + error
        );
      });
    if (!size) return null;
    found.push(size);
  }
  // Those that have no row are not longer than those that have one.
  const least = Math.min(...rows.map(([, , sum]) => printed(sum).value + printed(sum).half));
  const fits = [...code.sizes.values()].every(
    (of) => found.includes(of) || (of.total - of.strands) * 1e-9 <= least,
  );
  return fits ? found : null;
}

/** Compares a cell of changes: `+34.5 ms`, `−46 %`, `21.4×` or `same`. */
function sameChange(text, { absolute, relative }, unit, isAbsolute, what) {
  if (text.trim() === "same") {
    const tiny = Math.abs(absolute) < 500 || (relative !== null && Math.abs(relative) < 0.0005);
    check(absolute === 0 || (tiny && !isAbsolute), `${what}: “same” for ${absolute}`);
  } else if (isAbsolute || relative === null) same(text, absolute * unit, what);
  else if (text.includes("×")) same(text, 1 + relative, what);
  else same(text, relative, what, 1e-6);
}

export default function (suite) {
  const { before, after, one, simulated } = suite.runs;
  const ready = (t) => t.page.waitForSelector(".sites tbody tr[data-row]");
  const cell = (t, row, id) => t.page.locator(`tr[data-row="${row}"] td.c-${id}`).innerText();
  const codesOf = (t, site) =>
    t.page
      .locator(`.sites tbody tr[data-row^="s${site}b"]`)
      .evaluateAll((all) => all.map((row) => row.dataset.row));

  for (const [name, file] of [
    ["recorded", before],
    ["simulated", simulated],
  ])
    suite.test(
      `numbers: join waits of a ${name} run`,
      { files: [file] },
      async (t, { browser }) => {
        const report = await browser.json("report", "--json", file);
        const rows = await sql(browser, file, BURIED);
        const all = rows.reduce((sum, row) => sum + row.buried, 0);
        if (all === 0) throw new Skip("no wait was buried");
        await t.open("tab=sites");
        await ready(t);
        let compared = 0;
        for (const [i, site] of report.sites.entries()) {
          const shown = t.page.locator(`tr[data-row="s${i}"] td.c-buried`);
          if ((await shown.count()) === 0) continue;
          const wanted = rows.find((row) => row.site === site.id)?.buried ?? 0;
          same(await shown.innerText(), wanted * 1e-9, `join wait of ${site.site}`, 1e-9);
          compared += wanted;
        }
        check(compared === all, `${compared} ns of ${all} ns are in the table`);
      },
    );

  suite.test("numbers: stretch of sites", { files: [before, one] }, async (t, { browser }) => {
    const report = await browser.json("report", "--json", before);
    const { sites } = await browser.json("stretch", "--json", one, before);
    await t.open("tab=sites");
    await ready(t);
    await t.page.waitForSelector("td.c-stretch");
    let compared = 0;
    for (const [i, site] of report.sites.entries()) {
      const wanted = sites.find((row) => (row.site?.at ?? "root") === site.site)?.relative ?? null;
      const text = await cell(t, `s${i}`, "stretch").catch(() => null);
      if (text === null) continue;
      if (wanted === null) {
        check(text.trim() === "", `${site.site} has a stretch of ${text}`);
        continue;
      }
      same(text, wanted, `stretch of ${site.site}`, 1e-6);
      compared++;
      // Serial and parallel times of the code add up to the site's.
      const codes = await codesOf(t, i);
      let [least, most, parallel] = [0, 0, 0];
      for (const row of codes) {
        const work = printed(await cell(t, row, "work"));
        const of = printed(await cell(t, row, "stretch"));
        if (!of) continue;
        parallel += work.value;
        least += (work.value - work.half) / (1 + of.value + of.half);
        most += (work.value + work.half) / (1 + of.value - of.half);
      }
      check(
        parallel / most - 1.001 <= wanted && wanted <= parallel / least - 0.999,
        `${site.site}: ${wanted}; its code has ${parallel / most - 1} to ${parallel / least - 1}`,
      );
    }
    check(compared > 1, `stretch of only ${compared} sites`);
  });

  suite.test("numbers: strands by size", { files: [simulated] }, async (t, { browser }) => {
    const report = await browser.json("report", "--json", simulated);
    const strands = await sql(
      browser,
      simulated,
      `select site, start_kind, from_site, start, "end", time from strands`,
    );
    const { codes, sizeOf } = bySize(strands, report);
    await t.open("tab=sites");
    await ready(t);
    // The rows of each code of the page, in all sites, with the sizes shown for it.
    const shown = new Map();
    for (const [i, site] of report.sites.entries())
      for (const row of await codesOf(t, i)) {
        await t.page.locator(`tr[data-row="${row}"]`).click();
        await t.page.waitForSelector(`tr[data-row="${row}"][aria-selected=true]`);
        await t.page.evaluate(() => new Promise((r) => requestAnimationFrame(() => setTimeout(r))));
        const table = t.page.locator(".by-size");
        const code = await table.getAttribute("data-code");
        const sizes = await table.locator("tbody tr:not(.rest)").all();
        const of = shown.get(code) ?? { rows: [], sizes: await Promise.all(sizes.map(cells)) };
        shown.set(code, of);
        of.rows.push({ row, site: site.id, count: printed(await cell(t, row, "count")).value });
      }
    let compared = 0;
    for (const { rows, sizes } of shown.values()) {
      // Of a site, the strands with the row's number that start in the same place.
      const candidates = rows.map(({ site, count }) =>
        codes.filter((of) => of.site === site && of.strands === count && !of.isTaken),
      );
      const all = product(candidates).map((parts) => ({ parts, code: together(parts) }));
      const match = all
        .map((of) => ({ ...of, found: sizesShown(of.code, sizes, sizeOf) }))
        .find(({ found }) => found);
      const names = rows.map(({ row }) => row).join(", ");
      check(match, `${names}: no code has these sizes: ${sizes.join("; ")}`);
      for (const part of match.parts) part.isTaken = true;
      for (const [n, size] of match.found.entries()) {
        if (size.unsure > 0) continue;
        // Times in SQL are whole nanoseconds.
        const error = report.workers * size.strands;
        const what = `${names}, ${size.strands} strands of ${size.total / size.strands} ns`;
        const [, , , , busy, free] = sizes[n];
        same(busy, size.ran / size.length, `${what}, running meanwhile`, error / size.length);
        same(free, size.free * 1e-9, `${what}, free meanwhile`, error * 1e-9);
        compared++;
      }
    }
    check(
      [...shown.values()].some(({ rows }) => rows.length > 1),
      "no code is in two sites",
    );
    check(compared > 10, `only ${compared} sizes`);
  });

  suite.test("numbers: lengths below the sites", async (t, { browser }) => {
    const report = await browser.json("report", "--json", "--statistics", before);
    await t.open("tab=sites");
    await ready(t);
    let compared = 0;
    for (const [i, site] of report.sites.entries()) {
      const told = report.statistics.sites.find((of) => of.id === site.id);
      const row = t.page.locator(`tr[data-row="s${i}"]`);
      if (!told || (await row.count()) === 0) continue;
      await row.click();
      await t.page.waitForSelector(`tr[data-row="s${i}"][aria-selected=true]`);
      await t.page.evaluate(() => new Promise((r) => requestAnimationFrame(() => setTimeout(r))));
      const lengths = await t.page.locator(".lengths > div").allInnerTexts();
      for (const [n, key] of ["min", "median", "p90", "max"].entries())
        same(
          lengths[n],
          told.strand_lengths[key] / report.ticks_per_second,
          `${site.site}, ${key} of its strands`,
        );
      compared++;
    }
    check(compared > 1, `lengths of only ${compared} sites`);
  });

  suite.test("numbers: ready times and steals by site in Statistics", async (t, { browser }) => {
    const report = await browser.json("report", "--json", "--statistics", before);
    await t.open("tab=statistics");
    await t.page.waitForSelector("table[aria-label='Lengths by spawn site'] tbody tr[data-row]");
    let compared = 0;
    for (const { id, site, ready: of } of report.statistics.sites) {
      const row = t.page.locator(`table[aria-label='Lengths by spawn site'] tr[data-row="${id}"]`);
      if ((await row.count()) === 0) continue;
      const median = of.times.median / report.ticks_per_second;
      same(await row.locator("td.c-ready").innerText(), median, `${site}, ready before start`);
      if (of.starts === 0) continue;
      const [steals, starts] = (await row.locator("td.c-steals").innerText()).split(" of ");
      same(steals, of.steals, `${site}, stolen`);
      same(starts, of.starts, `${site}, starts`);
      compared++;
    }
    check(compared > 0, "no site with starts");
  });

  suite.test("numbers: What changed where", { files: [before, after] }, async (t, { browser }) => {
    const answer = await browser.json("compare", "--json", before, after);
    await t.open("tab=compare");
    const table = t.page.locator("table[aria-label='Changes by place']");
    await table.waitFor();
    let compared = 0;
    for (const [name, rows] of [
      ["code", answer.blocks],
      ["spawn sites", answer.sites],
    ]) {
      await t.page.getByRole("radio", { name, exact: true }).click();
      const first = name === "code" ? "b" : "s";
      await t.page.waitForSelector(`table[aria-label='Changes by place'] tr[data-row^="${first}"]`);
      const all = t.page.locator(".compare button.all", { hasText: /^All/ });
      if ((await all.count()) > 0) await all.click();
      const shown = await table.locator("tbody tr").all();
      check(shown.length === rows.length, `${name}: ${shown.length} rows of ${rows.length}`);
      for (const row of shown) {
        const of = rows[Number((await row.getAttribute("data-row")).slice(1))];
        const [where, criticalA, criticalB, , onSpan, workA, workB, ofWork] = await cells(row);
        const what = `${name}: ${where.trim()}`;
        same(criticalA, of.critical_work[0].mean * 1e-9, `${what}, critical of A`, 1e-12);
        same(criticalB, of.critical_work[1].mean * 1e-9, `${what}, critical of B`, 1e-12);
        same(workA, of.work[0].mean * 1e-9, `${what}, work of A`, 1e-12);
        same(workB, of.work[1].mean * 1e-9, `${what}, work of B`, 1e-12);
        sameChange(onSpan, of.critical_differences[0], 1e-9, true, `${what}, change on the span`);
        sameChange(ofWork, of.work_differences[0], 1e-9, false, `${what}, change of work`);
        compared++;
      }
    }
    check(compared > 5, `only ${compared} rows`);
  });

  suite.test("numbers: shares in What-if", async (t, { browser }) => {
    const report = await browser.json("report", "--json", before);
    await t.open("tab=whatif");
    const options = (title) => t.page.locator(`.whatif section[aria-label="${title}"]`);
    await options("Spawn sites").locator(".option .number").first().waitFor();
    const sites = await options("Spawn sites").locator(".option .number").allInnerTexts();
    check(sites.length === Math.min(60, report.sites.length), `${sites.length} sites`);
    for (const [i, text] of sites.entries())
      same(text, report.sites[i].critical_percent / 100, `share of ${report.sites[i].site}`);
    const code = options("Code");
    const more = code.locator("button.more");
    if ((await more.count()) > 0) await more.click();
    const shares = (await code.locator(".option .number").allInnerTexts()).map(printed);
    const sum = shares.reduce((all, of) => all + (of.least === 0 ? 0 : of.value), 0);
    const error = shares.reduce((all, of) => all + (of.least === 0 ? of.value : of.half), 0);
    check(Math.abs(sum - 1) <= error * 1.001, `code has ${sum} of the critical path`);
  });
}
