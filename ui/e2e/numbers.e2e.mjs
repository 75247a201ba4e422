/** Every number of the run on a tab equals the one in `workspan report --json`. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, Skip, until, programFirst } from "./harness.mjs";
import { lockTrace } from "./textTraces.mjs";
import { printed, same } from "./printed.mjs";

export default function (suite) {
  const { before, after } = suite.runs;
  const reportOf = (browser, file) => browser.json("report", "--json", "--statistics", file);
  const seconds = (report) => (n) => n / report.ticks_per_second;
  const lock = join(suite.browser.folder, "lock.jsonl");
  writeFileSync(lock, lockTrace());
  /** A test of a usual run, and of one whose bound is a lock's, not work / span. */
  const walk = (name, run) => {
    for (const [of, file] of [
      ["numbers", before],
      ["numbers with a contended lock", lock],
    ])
      suite.test(`${of}: ${name}`, { files: [file] }, (t, tools) => run(t, { ...tools, file }));
  };
  const cells = (row) => row.locator("th, td").allInnerTexts();

  walk("Summary", async (t, { browser, file }) => {
    const report = await reportOf(browser, file);
    const s = seconds(report);
    await t.open("tab=summary");
    await t.page.waitForSelector(".numbers");
    const numbers = await t.page.locator(".numbers > div").allInnerTexts();
    const wanted = {
      work: s(report.work),
      span: s(report.span),
      parallelism: report.parallelism,
      task: report.tasks,
      steal: report.steals,
      burdened: report.burdened_parallelism,
    };
    for (const [word, value] of Object.entries(wanted)) {
      const text = numbers.find((n) => n.includes(word));
      check(text, `${word} is missing: ${numbers}`);
      if (!(word === "burdened" && report.burden === 0)) same(text, value, word);
    }
    const title = await t.text("h2:has-text('Where')");
    const [workers, elapsed, all] = title
      .replace(" went", "")
      .split(/[×=]/)
      .map((x) => x.replace("Where", ""));
    same(workers, report.workers, "workers");
    same(elapsed, s(report.elapsed), "elapsed");
    same(all, s(report.elapsed * report.workers), "worker time");
    const bar = await t.page
      .locator("svg[aria-label^='Where the worker time went']")
      .getAttribute("aria-label");
    const whole = report.workers * report.elapsed;
    for (const [words, key] of [
      ["work", "work"],
      ["descheduled", "descheduled"],
      ["blocked", "blocked"],
      ["delay", "delay"],
      ["no work, scheduler", "no_work_sched"],
      ["no work, program", "no_work_app"],
    ]) {
      const part = new RegExp(`(?:: |, )${words} ([^·]*) · ([^,%]*%)`).exec(bar);
      const ticks = report.breakdown[key];
      check(part || ticks === 0, `${words} is not in ${bar}`);
      if (!part) continue;
      same(part[1], s(ticks), words);
      same(part[2], ticks / whole, `share of ${words}`);
    }
    // The last row shows the losses without a finding, so that all rows add up.
    const rest = t.page.locator(".finding.rest .cost");
    const lost = report.workers * report.elapsed - report.breakdown.work;
    const shown = programFirst(report.findings);
    const told = shown.slice(0, 5).reduce((sum, f) => sum + f.lost, 0);
    if ((await rest.count()) > 0) same(await rest.innerText(), s(lost - told), "the rest");
    else check(lost - told < 0.006 * lost, `${lost - told} of ${lost} are not told`);
    const findings = t.page.locator(".finding:not(.head-row, .rest)");
    for (let i = 0; i < (await findings.count()); i++) {
      const { lost, lost_percent } = shown[i];
      same(await findings.nth(i).locator(".cost").innerText(), s(lost), `cost of finding ${i + 1}`);
      const share = (await findings.nth(i).locator(".share").innerText()).match(/[<\d.]+\s*%/)?.[0];
      same(share, lost_percent / 100, `share of finding ${i + 1}`);
    }
    const sites = await t.page.locator("aside .onpath").allInnerTexts();
    check(sites.length > 0, "no spawn sites on the critical path");
    for (const [i, text] of sites.entries()) {
      const share = /[<\d.]+\s*%/.exec(text)?.[0];
      same(share, report.sites[i].critical_percent / 100, `row ${i} of the sites: ${text}`);
    }
    const delay = t.page.locator("aside .checked", { hasText: "Scheduler delay" });
    same(
      /[<\d.]+\s*%/.exec(await delay.innerText())[0],
      report.breakdown.delay / whole,
      "scheduler delay among what was checked",
    );
  });

  suite.test(
    "numbers: what was not read of a trace that was cut off",
    { files: [suite.runs.truncated] },
    async (t, { browser }) => {
      const file = suite.runs.truncated;
      const report = await browser.json("report", "--json", "--allow-truncated", file);
      const { unread, work } = report.breakdown;
      if (unread === 0) throw new Skip("all that runs was read");
      const s = seconds(report);
      const whole = report.workers * report.elapsed;
      await t.open("tab=summary");
      const bar = await t.page
        .locator("svg[aria-label^='Where the worker time went']")
        .getAttribute("aria-label");
      const [, time, share] = /(?:: |, )not read ([^·]*) · ([^,%]*%)/.exec(bar) ?? [];
      same(time, s(unread), "not read");
      same(share, unread / whole, "share of what was not read");
      const [sql] = await browser.json(
        "sql",
        "--format",
        "json",
        "--allow-truncated",
        file,
        `select unread, working, working + delay + no_work_sched + no_work_app + descheduled + blocked
         + recording + unread as whole, workers * elapsed as wanted from runs`,
      );
      same(time, sql.unread * 1e-9, "not read, in SQL");
      check(Math.abs(sql.whole - sql.wanted) < 10, `parts of ${sql.whole} ns, not ${sql.wanted}`);
      // The columns over time have the same sums as the bar.
      await t.open(`tab=timeline&sel=range:a:0:${report.elapsed}`);
      const row = t.page.locator(".drawer table[aria-label='Where its worker time went'] tr", {
        hasText: "not read",
      });
      const { value, half } = printed((await cells(row))[1]);
      check(
        Math.abs(value - s(unread)) <= half + 0.002 * s(whole),
        `the drawer has ${value} s, the report ${s(unread)}`,
      );
      check(work > 0, "nothing was read at all");
    },
  );

  walk("the verdict on every other tab", async (t, { browser, file }) => {
    const report = await reportOf(browser, file);
    for (const tab of [
      "timeline",
      "dag",
      "flame",
      "scalability",
      "sites",
      "whatif",
      "statistics",
    ]) {
      await t.go(`tab=${tab}`);
      await t.page.waitForSelector(".verdict-chip b");
      const [busy, , bound] = await t.page
        .locator(".verdict-chip b, .verdict-chip")
        .evaluateAll((all) => {
          const chip = all.find((e) => e.className === "verdict-chip");
          const bold = [...chip.querySelectorAll("b")].map((e) => e.textContent);
          return [bold[0], chip.textContent, bold[1]];
        });
      same(busy, report.mean_busy, `${tab}: workers busy`);
      same(bound, report.largest_speedup, `${tab}: bound`);
    }
  });

  suite.test(
    "numbers: a lock's bound in headlines and charts",
    { files: [lock] },
    async (t, { browser }) => {
      const report = await reportOf(browser, lock);
      const bound = report.largest_speedup;
      check(bound < 0.98 * report.parallelism, "the lock does not limit the speedup");
      await t.open("tab=summary");
      const headline = await t.text(".verdict");
      same(/most ([\d.]+)/.exec(headline)?.[1], bound, "the headline");
      for (const tab of ["summary", "scalability", "whatif"]) {
        await t.go(`tab=${tab}`);
        const label = t.page.locator("main svg text", { hasText: /at most [\d.]+×/ }).first();
        await label.waitFor();
        const [, most] = /at most ([\d.]+)×/.exec(await label.textContent());
        same(most, bound, `the chart in ${tab}`);
      }
      await t.go("tab=scalability");
      const title = await t.text("main h1");
      same(/most ([\d.]+)/i.exec(title)?.[1], bound, "the title of Scalability");
    },
  );

  walk("Sites", async (t, { browser, file }) => {
    const report = await reportOf(browser, file);
    const s = seconds(report);
    await t.open("tab=sites");
    await t.page.waitForSelector(".sites tbody tr[data-row]");
    for (const [i, site] of report.sites.entries()) {
      const row = t.page.locator(`tbody tr[data-row="s${i}"]`);
      if ((await row.count()) === 0) continue;
      const of = (id) => row.locator(`td.c-${id}`).innerText();
      const what = `site ${site.site}`;
      same(await of("critical"), site.critical_percent / 100, `${what}, critical`);
      same(await of("count"), site.count, `${what}, count`);
      same(await of("work"), s(site.work), `${what}, work`);
      if (site.span !== null) same(await of("span"), s(site.span), `${what}, span`);
      if (site.parallelism !== null)
        same(await of("parallelism"), site.parallelism, `${what}, parallelism`);
    }
    check((await t.page.locator("tbody tr[data-row^='s']").count()) > 1, "no rows of sites");
  });

  walk("Statistics", async (t, { browser, file }) => {
    const { statistics, ...report } = await reportOf(browser, file);
    const s = seconds(report);
    await t.open("tab=statistics");
    await t.page.waitForSelector("table[aria-label='Lengths by spawn site'] tbody tr[data-row]");
    for (const site of statistics.sites) {
      const row = t.page.locator(`tr[data-row="${site.id}"]`);
      if ((await row.count()) === 0) continue;
      same(await row.locator("td.c-tasks").innerText(), site.tasks, `${site.site}, tasks`);
      for (const key of ["min", "median", "p90", "p99", "max"])
        same(
          await row.locator(`td.c-${key}`).innerText(),
          s(site.task_lengths[key]),
          `${site.site}, ${key}`,
        );
    }
    for (const edge of statistics.ready_by_edge) {
      const row = t.page.locator(
        `table[aria-label='Ready times by edge'] tr[data-row="${edge.edge}"] td`,
      );
      const [, starts, stolen, sum, median, p90, longest] = await row.allInnerTexts();
      same(starts, edge.starts, `${edge.edge}, starts`);
      same(stolen, edge.steals, `${edge.edge}, stolen`);
      for (const [text, key] of [
        [sum, "sum"],
        [median, "median"],
        [p90, "p90"],
        [longest, "max"],
      ])
        same(text, s(edge.times[key]), `${edge.edge}, ${key}`);
    }
    const waited = await t.text("section[aria-label='Strands that waited'] h2 span");
    const [mean, most] = waited.split(",");
    same(mean, statistics.ready.mean, "strands that waited on average");
    same(most, statistics.ready.max, "strands that waited at most");
  });

  walk("steals in Statistics", async (t, { browser, file }) => {
    const { statistics, ...report } = await reportOf(browser, file);
    const s = seconds(report);
    if (report.steals === 0) throw new Skip("nothing was stolen");
    await t.open("tab=statistics");
    const section = t.page.locator("section[aria-label=Steals]");
    await section.waitFor();
    const [count, perSecond, leaps, failed] = (
      await section.locator("h2 span").first().innerText()
    ).split(", ");
    same(count, statistics.steals.count, "steals");
    same(perSecond, statistics.steals.per_second, "steals a second");
    same(leaps, statistics.steals.leapfrogs, "while waiting in a join");
    // Of a runtime that does not report attempts and sleep, the page has no numbers.
    const tells = failed !== undefined;
    if (tells) same(failed, statistics.steals.failed, "attempts");
    else check(statistics.steals.failed === 0, "failed attempts are not on the page");
    for (const worker of statistics.steals.workers) {
      const of = (id) => section.locator(`tr[data-row="${worker.worker}"] td.c-${id}`).innerText();
      for (const id of ["steals", "leapfrogs", "stolen", ...(tells ? ["failed"] : [])])
        same(await of(id), worker[id], `worker ${worker.worker}, ${id}`);
      const asleep = await of("asleep");
      if (asleep !== "–") same(asleep, s(worker.asleep), `worker ${worker.worker}, asleep`);
      else check(worker.asleep === 0, `worker ${worker.worker} slept`);
      const first = await of("first_steal");
      if (worker.first_steal === null) check(first === "never", `a first steal: ${first}`);
      else same(first, s(worker.first_steal), `worker ${worker.worker}, first steal`);
    }
    // The matrix shows each pair in a tooltip.
    const told = await section.locator(".matrix rect title").allTextContents();
    const cells = told.map((text) => / took ([\d,]+) from /.exec(text)[1]);
    const wanted = statistics.steals.matrix.flat();
    check(cells.length === wanted.length, `${cells.length} cells of ${wanted.length}`);
    for (const [i, n] of wanted.entries()) same(cells[i], n, `cell ${i} of the matrix`);
  });

  suite.test(
    "numbers: what a runtime does not tell of its steals is no 0",
    { files: [suite.runs.broad] },
    async (t) => {
      await t.open("tab=statistics");
      const section = t.page.locator("section[aria-label=Steals]");
      await section.locator("table").waitFor();
      // GNU OpenMP does not report attempts.
      const failed = await section.locator("td.c-failed").allInnerTexts();
      check(failed.length > 0 && failed.every((text) => text === "–"), `failed: ${failed}`);
      const head = await section.locator("h2").innerText();
      check(!head.includes("attempt"), head);
    },
  );

  /**
   * Compares the cells of a table of groups with the report's rows; keys that are times are in
   * ticks.
   */
  const groups = async (t, label, rows, times, counts, s) => {
    await t.open("tab=statistics");
    const table = t.page.locator(`table[aria-label='${label}']`);
    await table.waitFor();
    check((await table.locator("tbody tr").count()) === rows.length, `rows of ${label}`);
    for (const [i, row] of rows.entries()) {
      const of = (id) => table.locator(`tr[data-row="${i}"] td.c-${id}`).innerText();
      for (const key of times) same(await of(key), s(row[key]), `${label} ${i}, ${key}`);
      for (const key of counts) same(await of(key), row[key], `${label} ${i}, ${key}`);
    }
  };
  suite.test("numbers: Pools", { files: [suite.runs.pools] }, async (t, { browser }) => {
    const report = await reportOf(browser, suite.runs.pools);
    const s = seconds(report);
    const times = ["elapsed", "work", "span", "delay", "blocked"];
    const counts = ["workers", "busy", "strands", "enough"];
    await groups(t, "Pools of the run", report.pools, times, counts, s);
  });
  suite.test("numbers: Processes", { files: [suite.runs.ranks] }, async (t, { browser }) => {
    const report = await reportOf(browser, suite.runs.ranks);
    const s = seconds(report);
    const times = ["elapsed", "work", "descheduled", "blocked", "waited", "awaited"];
    await groups(
      t,
      "Processes of the run",
      report.processes,
      [...times, "communication"],
      ["workers", "strands"],
      s,
    );
  });
  suite.test("rows of ranks are named", { files: [suite.runs.ranks] }, async (t, { browser }) => {
    const { processes } = await reportOf(browser, suite.runs.ranks);
    await t.open("tab=timeline");
    await t.page.waitForFunction(() => window.__timeline?.scene);
    const labels = await t.page.evaluate(() =>
      window.__timeline.meta.threads.filter((x) => x.worker).map((x) => x.label),
    );
    for (const { rank } of processes)
      check(labels.includes(`rank ${rank} · W0`), `rank ${rank} is not in ${labels}`);
  });

  walk("By size", async (t, { browser, file }) => {
    const report = await reportOf(browser, file);
    const sql = await browser.json(
      "sql",
      "--format",
      "json",
      file,
      "select site, count(*) as strands, sum(time) as time from strands group by site",
    );
    await t.open("tab=sites");
    const rows = t.page.locator(".sites tbody tr[data-row]");
    await rows.first().waitFor();
    const ids = await rows.evaluateAll((all) => all.map((row) => row.dataset.row));
    const sites = new Map();
    const codes = new Map();
    const heads = new Map();
    const cell = (id, column) => t.page.locator(`tr[data-row="${id}"] td.c-${column}`).innerText();
    const add = (sums, key, count, work) => {
      const sum = sums.get(key) ?? { n: 0, time: 0, half: 0, sites: 0 };
      sums.set(key, {
        n: sum.n + printed(count).value,
        time: sum.time + printed(work).value,
        half: sum.half + printed(work).half,
        sites: sum.sites + 1,
      });
    };
    for (const id of ids) {
      const [, site, row] = /^s(\d+)\D+(\d+)$/.exec(id) ?? [];
      if (row === undefined) continue;
      await t.page.locator(`tr[data-row="${id}"]`).click();
      const table = t.page.locator(".by-size table");
      await t.page.waitForSelector(`tr[data-row="${id}"][aria-selected=true]`);
      await table.waitFor();
      // Selected rows are drawn in the next frame.
      await t.page.evaluate(() => new Promise((r) => requestAnimationFrame(() => setTimeout(r))));
      const code = await t.page.locator(".by-size").getAttribute("data-code");
      const own = [await cell(id, "count"), await cell(id, "work")];
      add(sites, site, ...own);
      add(codes, code, ...own);
      if (heads.has(code)) continue;
      const head = await t.text(".by-size h2 span:last-child");
      const [strands, work] = head.split(", ");
      heads.set(code, head);
      let n = 0;
      let time = 0;
      let half = 0;
      for (const row of await table.locator("tbody tr").all()) {
        const [each, count, total] = await cells(row);
        const of = printed(total);
        if (each !== "other sizes") {
          const mean = of.value / printed(count).value;
          same(each, mean, `${id}, each`, of.half / printed(count).value);
        }
        n += printed(count).value;
        time += of.value;
        half += of.half;
      }
      check(n === printed(strands).value, `${id}: ${n} strands by size, ${strands} in the head`);
      same(work, time, `${id}, work`, half);
    }
    // A code's sizes are of all its sites.
    for (const [code, { n, time, half, sites: count }] of codes) {
      const [strands, work] = heads.get(code).split(", ");
      check(n === printed(strands).value, `code ${code}: ${n} strands in its sites, ${strands}`);
      same(work, time, `code ${code}, work`, half);
      const told = / of (\d+) spawn sites$/.exec(strands)?.[1] ?? "1";
      check(Number(told) === count, `code ${code} is in ${count} sites, not in ${told}`);
    }
    check(sites.size > 1, `codes of only ${sites.size} sites`);
    for (const [site, { n, time, half }] of sites) {
      const own = sql.find((row) => row.site === report.sites[site].id);
      check(own.strands === n, `${report.sites[site].site}: ${n} of ${own.strands} strands`);
      check(
        Math.abs(own.time * 1e-9 - time) <= half * 1.001 + 1e-9 * n,
        `${report.sites[site].site}: ${time} s in its code, ${own.time} ns in SQL`,
      );
    }
  });

  walk("delay and steals of sites add up", async (t, { browser, file }) => {
    const { statistics, ...report } = await reportOf(browser, file);
    const s = seconds(report);
    await t.open("tab=sites");
    await t.page.waitForSelector(".sites tbody tr[data-row]");
    let delay = 0;
    let half = 0;
    for (const [i, site] of report.sites.entries()) {
      const row = t.page.locator(`tbody tr[data-row="s${i}"]`);
      if ((await row.count()) === 0) continue;
      const of = printed(await row.locator("td.c-delay").innerText());
      delay += of.value;
      half += of.half;
      const told = statistics.sites.find((x) => x.id === site.id);
      if (told) same(await row.locator("td.c-steals").innerText(), told.ready.steals, site.site);
    }
    check(
      Math.abs(delay - s(report.breakdown.delay)) <= half * 1.001,
      `delay of the sites is ${delay}, of the run ${s(report.breakdown.delay)}`,
    );
  });

  walk("how busy each row was", async (t, { browser, file }) => {
    const report = await reportOf(browser, file);
    const threads = await browser.json(
      "sql",
      "--format",
      "json",
      file,
      "select thread, work from threads",
    );
    await t.open("tab=timeline");
    await t.page.waitForFunction(() => window.__timeline?.scene);
    const rows = await t.page.evaluate(() => window.__timeline.meta.threads);
    const elapsed = report.elapsed / report.ticks_per_second;
    for (const row of rows) {
      const { work } = threads.find((x) => x.thread === row.thread);
      check(
        Math.abs(row.busy - Math.min(1, (work * 1e-9) / elapsed)) < 1e-4,
        `${row.label}: ${row.busy} busy, ${work} ns of work in SQL`,
      );
    }
  });

  walk("Scalability", async (t, { browser, file }) => {
    const report = await reportOf(browser, file);
    await t.open("tab=scalability");
    await t.page.getByRole("button", { name: "View as table" }).click();
    const table = t.page.locator("table[aria-label='Speedup bounds by number of workers']");
    await table.waitFor();
    let compared = 0;
    for (const row of await table.locator("tbody tr").all()) {
      const [workers, least, most] = await cells(row);
      const bound = report.speedup.find((b) => b.workers === Number(workers));
      if (!bound) continue;
      same(least, bound.lower, `at least on ${workers}`);
      same(most, bound.upper, `at most on ${workers}`);
      compared++;
    }
    check(compared >= 5, `only ${compared} numbers of workers`);
    const aside = t.page.locator("aside section").first();
    const fact = async (name) =>
      (await aside.locator(`dt:text-is("${name}") + dd`).first().innerText()).trim();
    const s = seconds(report);
    same(await fact("work"), s(report.work), "work beside the chart");
    same(await fact("span"), s(report.span), "span beside the chart");
    same(await fact("parallelism"), report.parallelism, "parallelism beside the chart");
    if (report.burdened_span > report.span) {
      const [parallelism, span] = (await fact("burdened")).split(/span/);
      same(parallelism, report.burdened_parallelism, "burdened parallelism");
      same(span, s(report.burdened_span), "burdened span");
    }
    same(await fact("measured"), report.mean_busy, "what the run reached");
  });

  walk("the critical path of the DAG adds up to the span", async (t, { browser, file }) => {
    const report = await reportOf(browser, file);
    await t.open("tab=dag");
    const foot = t.page.locator(".dag-side tfoot tr").last();
    await foot.waitFor();
    same((await cells(foot)).join(" "), seconds(report)(report.span), "span");
  });

  walk(
    "the flame graph is as wide as the work, its path as the span",
    async (t, { browser, file }) => {
      const report = await reportOf(browser, file);
      const s = seconds(report);
      for (const [choice, value] of [
        ["CPU time", s(report.work)],
        ["Critical path", s(report.span)],
      ]) {
        await t.open("tab=flame");
        await t.page.getByRole("radio", { name: choice }).click();
        await until(
          async () =>
            (await t.text(".flame h1 span")).includes(choice === "CPU time" ? "CPU" : "path"),
          choice,
        );
        const words = await t.text(".flame h1 span");
        same(/;\s*(.*) in total/.exec(words)[1], value, choice);
      }
    },
  );

  walk("a range over the whole run has the report's breakdown", async (t, { browser, file }) => {
    const report = await reportOf(browser, file);
    const s = seconds(report);
    await t.open(`tab=timeline&sel=range:a:0:${report.elapsed}`);
    const table = t.page.locator(".drawer table[aria-label='Where its worker time went']");
    await table.waitFor();
    const rows = Object.fromEntries(
      await Promise.all(
        (await table.locator("tr").all()).map(async (row) => {
          const [name, time] = await cells(row);
          return [name, time];
        }),
      ),
    );
    const { breakdown: b } = report;
    // Bins have single precision, and strands of the recorder itself count as busy.
    const near = (text, ticks, what) => {
      const { value, half } = printed(text);
      check(
        Math.abs(value - s(ticks)) <= half + 0.002 * s(report.elapsed * report.workers),
        `${what}: the drawer has ${text}, the report ${s(ticks)}`,
      );
    };
    near(rows["busy"], b.work + b.recording, "busy");
    for (const [words, key] of [
      ["descheduled", "descheduled"],
      ["delay", "delay"],
      ["no work, scheduler", "no_work_sched"],
      ["no work, program", "no_work_app"],
    ])
      if (rows[words] || b[key] > 0.001 * report.elapsed) near(rows[words] ?? "0 s", b[key], words);
  });

  walk("the report of a site's tasks, and of all tasks", async (t, { browser, file }) => {
    const report = await reportOf(browser, file);
    const s = seconds(report);
    const figures = async () => t.page.locator(".drawer .figures > div").allInnerTexts();
    await t.open("tab=timeline&sel=site:a:1");
    await t.page.locator(".drawer .figures").waitFor();
    const tasks = (await figures()).find((x) => /tasks?$/.test(x.trim()));
    same(tasks, report.sites[1].count, "tasks of the site");
    await t.open("tab=timeline&sel=task:a:0");
    await t.page.getByRole("radio", { name: "With descendants" }).click();
    await t.page.locator(".drawer .figures").waitFor();
    const all = await figures();
    same(
      all.find((x) => x.includes("work")),
      s(report.work),
      "work of the root task",
    );
    same(
      all.find((x) => /tasks?$/.test(x.trim())),
      report.tasks,
      "tasks of the root task",
    );
  });

  suite.test("numbers: Compare", { files: [before, after] }, async (t, { browser }) => {
    const table = await browser.json("compare", "--json", before, after);
    await t.open("tab=compare");
    const whole = t.page.locator("table[aria-label='Whole run']");
    await whole.waitFor();
    const keys = {
      elapsed: "elapsed",
      work: "work",
      span: "span",
      parallelism: "parallelism",
      "workers busy": "mean_busy",
      delay: "delay",
      tasks: "tasks",
      steals: "steals",
    };
    let compared = 0;
    for (const row of await whole.locator("tbody tr").all()) {
      const [name, a, b] = await cells(row);
      const quantity = table.quantities[keys[name]];
      if (!quantity) continue;
      const unit = quantity.unit === "ns" ? 1e-9 : 1;
      same(a, quantity.values[0].mean * unit, `${name} of A`);
      same(b, quantity.values[1].mean * unit, `${name} of B`);
      compared++;
    }
    check(compared >= 6, `only ${compared} quantities`);
  });

  suite.test("numbers: What-if", async (t, { browser }) => {
    const report = await reportOf(browser, before);
    const s = seconds(report);
    await t.open("tab=timeline");
    const sites = await t.page.evaluate(() => window.__timeline.meta.sites);
    const index = sites.findIndex((x) => x.label !== "root");
    const site = sites[index];
    const told = await browser.json("whatif", "--json", "--site", site.label, before);
    await t.go(`tab=whatif&what=${encodeURIComponent(`site:${site.place}`)}`);
    const table = t.page.locator("table[aria-label='Parallelism by factor']");
    await table.waitFor();
    const rows = await table.locator("tbody tr").all();
    check(rows.length === told.all.length, `${rows.length} factors of ${told.all.length}`);
    for (const [i, row] of rows.entries()) {
      const [factor, span, parallelism] = await cells(row);
      const wanted = told.all[i];
      check(Number.parseInt(factor, 10) === wanted.factor, `${factor} for ${wanted.factor}`);
      same(span, s(wanted.span), `span at ${factor}`);
      same(parallelism, wanted.parallelism, `parallelism at ${factor}`);
    }
    const pairs = await t.page.locator(".pairs > div").allInnerTexts();
    const pair = (name) => pairs.find((text) => text.startsWith(name))?.split("→") ?? [];
    const parts = (name) => pair(name).map((text) => text.replace(name, "").trim());
    const [at] = told.all;
    const [spanBefore, spanAfter] = parts("span");
    same(spanBefore, s(report.span), "span before");
    same(spanAfter, s(at.span), "span after");
    const [wasAt, becomes] = parts("parallelism");
    same(wasAt, report.parallelism, "parallelism before");
    same(becomes, at.parallelism, "parallelism after");
  });

  walk("SQL", async (t, { browser, file }) => {
    const query = "work-span";
    const rows = await browser.json("sql", "--format", "json", "--query", query, file);
    await t.open("tab=sql");
    await t.page.getByRole("button", { name: new RegExp(query) }).click();
    const table = t.page.locator("table[aria-label='Answer']");
    await table.waitFor();
    const shown = await table.locator("tbody tr[data-row]").all();
    check(shown.length === rows.length, `${shown.length} rows of ${rows.length}`);
    const names = await table.locator("thead th").allInnerTexts();
    let compared = 0;
    for (const [i, row] of shown.entries()) {
      const texts = await cells(row);
      for (const [name, value] of Object.entries(rows[i])) {
        const at = names.findIndex((text) => text.trim().replace(/\s.*$/s, "") === name);
        check(at >= 0, `no column ${name} in ${names}`);
        if (typeof value !== "number") continue;
        same(texts[at], value, `${name} of row ${i + 1}`);
        compared++;
      }
    }
    check(compared > 3, `only ${compared} numbers`);
  });
}
