/**
 * Drives the page in a real browser. A test file `NAME.e2e.mjs` exports a function that gets a
 * `Suite`; each of its tests gets a fresh page. After every test these hold: no console error, no
 * exception, no request to anywhere but the server, at most 25,000 primitives a frame.
 */

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

export const MAX_PRIMITIVES = 25_000;

export class Skip extends Error {}

/** The findings of `report --json`, which are in order of loss, in the order of the page. */
export const programFirst = (findings) => [...findings].sort((a, b) => a.rank - b.rank);

/** Throws if `what` is falsy. */
export function check(what, words) {
  if (!what) throw new Error(words);
}

/** Waits until `of()` returns something truthy, and returns it. */
export async function until(of, words, ms = 15_000) {
  const end = Date.now() + ms;
  for (;;) {
    const value = await of();
    if (value) return value;
    if (Date.now() > end) throw new Error(`waited in vain for ${words}`);
    await new Promise((r) => setTimeout(r, 50));
  }
}

/**
 * The traces of a folder by kind: `before`, `after` or `openmp` if the name contains the word,
 * otherwise any.
 */
export function findRuns(folder) {
  const all = existsSync(folder)
    ? readdirSync(folder)
        .filter((f) => f.endsWith(".wspan"))
        .sort()
        .map((f) => resolve(folder, f))
    : [];
  const simulated = resolve(folder, "simulated.jsonl");
  const named = (...words) => all.find((f) => words.some((w) => basename(f).includes(w))) ?? null;
  return {
    all,
    before: named("before", "msort") ?? all[0] ?? null,
    after: named("after", "fixed"),
    openmp: named("openmp", "omp"),
    one: named("one-worker", "serial"),
    truncated: named("truncated"),
    broad: named("broad"),
    regions: named("regions"),
    waits: named("waits"),
    large: named("large"),
    budget: named("budget"),
    twice: named("twice"),
    sleepy: named("no-steals"),
    pools: named("pools"),
    ranks: named("ranks"),
    simulated: existsSync(simulated) ? simulated : null,
  };
}

export class Browser {
  constructor({ workspan, runs, chromiumPath }) {
    Object.assign(this, { workspan, runs, chromiumPath });
    this.folder = mkdtempSync(join(tmpdir(), "workspan-e2e-"));
    this.servers = new Map();
    this.reports = new Map();
    this.printed = new Map();
  }

  async start() {
    this.browser = await chromium.launch({
      executablePath: this.chromiumPath,
      args: ["--no-sandbox", "--allow-file-access-from-files"],
    });
  }

  async stop() {
    for (const s of await Promise.allSettled(this.servers.values())) s.value?.process.kill();
    await this.browser?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Address of a server for these traces; with `own`, the server is only for this test. */
  view(files, { own = false, flags = [] } = {}) {
    const key = [...files, ...flags].join("\n");
    if (!own && this.servers.has(key)) return this.servers.get(key);
    const server = this.serve(files, flags);
    this.servers.set(own ? `${key}#${this.servers.size}` : key, server);
    return server;
  }

  async serve(files, flags) {
    const process = spawn(this.workspan, ["view", "--no-open", "--new-key", ...flags, ...files], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    return new Promise((done, fail) => {
      let said = "";
      const hear = (data) => {
        said += data;
        const url = /http:\/\/127\.0\.0\.1:\d+\/[^\s"']*/.exec(said)?.[0];
        if (url)
          done({
            url: url.endsWith("/") ? url : `${url}/`,
            process,
            stop: () =>
              new Promise((r) => {
                process.once("exit", r);
                process.kill("SIGKILL");
              }),
          });
      };
      process.stdout.on("data", hear);
      process.stderr.on("data", hear);
      process.on("exit", (code) => fail(new Error(`workspan view ended with ${code}: ${said}`)));
    });
  }

  /** The command's JSON output. Each command runs once. */
  json(...args) {
    const key = args.join("\n");
    if (!this.printed.has(key)) this.printed.set(key, this.print(args));
    return this.printed.get(key);
  }

  async print(args) {
    const process = spawn(this.workspan, args, { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    const parts = [];
    process.stdout.on("data", (data) => parts.push(data));
    process.stderr.on("data", (data) => (said += data));
    const code = await new Promise((done, fail) => process.on("error", fail).on("close", done));
    check(code === 0, `workspan ${args.join(" ")}: ${said}`);
    return JSON.parse(Buffer.concat(parts).toString());
  }

  /** A single-file report of these traces. */
  html(files, flags = []) {
    const key = [...files, ...flags].join("\n");
    if (!this.reports.has(key))
      this.reports.set(
        key,
        this.write(join(this.folder, `report-${this.reports.size}.html`), files, flags),
      );
    return this.reports.get(key);
  }

  /**
   * Asynchronous, because other tests run meanwhile: if this process blocked, their waits would
   * time out.
   */
  async write(out, files, flags) {
    const process = spawn(this.workspan, ["html", "-o", out, ...flags, ...files], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    process.stderr.on("data", (data) => (said += data));
    const code = await new Promise((done, fail) => process.on("error", fail).on("close", done));
    if (code !== 0) throw new Error(`workspan html: ${said}`);
    return pathToFileURL(out).href;
  }
}

/** The page and the helpers that a test works with. */
class Opened {
  constructor(page, base) {
    Object.assign(this, { page, base });
  }

  /** Opens a hash in an empty page. */
  async open(hash = "") {
    await this.page.goto("about:blank");
    await this.page.goto(`${this.base}#v=1&theme=light&${hash}`);
    await this.page.waitForSelector("[role=tablist] [role=tab]");
    await this.page.waitForFunction(
      () => document.querySelector("header .chip.run, header [aria-haspopup=menu].run") !== null,
      null,
      { timeout: 60_000 },
    );
  }

  /** Opens a hash in the page that is already open, as another tab or window would show it. */
  async go(hash = "") {
    if (this.page.url().split("#")[0] !== this.base) return this.open(hash);
    await this.page.evaluate((to) => (location.hash = to), `#v=1&theme=light&${hash}`);
    await this.page.waitForFunction(() => !window.__stats.hashLate);
    const tab = /tab=(\w+)/.exec(hash)?.[1] ?? "summary";
    await this.page.waitForSelector(`#tab-${tab}[aria-selected=true]`);
  }

  /** The hash after it has settled. */
  async hash() {
    await this.page.waitForTimeout(100);
    await this.page.waitForFunction(() => !window.__stats.hashLate);
    return this.page.evaluate(() => location.hash);
  }

  /** Waits until the hash contains this text, or matches it, and returns the hash. */
  hashHas(what, words) {
    return until(
      async () => {
        const hash = await this.hash();
        return (typeof what === "string" ? hash.includes(what) : what.test(hash)) && hash;
      },
      words ?? `${what} in the hash`,
    );
  }

  text(selector) {
    return this.page.locator(selector).first().innerText();
  }

  stats() {
    return this.page.evaluate(() => ({ ...window.__stats }));
  }
}

export class Suite {
  constructor(browser, file, only) {
    Object.assign(this, { browser, file, only, tests: [], runs: browser.runs });
  }

  /**
   * A test against a server, or with `report: true` against a file. Options: `files` (default: the
   * run before), `flags`, `reportFlags` (only for a report), `report`, `allow` (a RegExp of
   * expected console errors), `viewport`, `dark`, `still`, `own`, `slow` (a number: tests with
   * higher ones start earlier).
   */
  test(name, options, run) {
    if (typeof options === "function") [options, run] = [{}, options];
    this.tests.push({ name, options, run });
  }

  /** Runs a test against a server, and again against a file. */
  both(name, options, run) {
    if (typeof options === "function") [options, run] = [{}, options];
    this.test(`${name} (server)`, options, run);
    this.test(`${name} (file)`, { ...options, report: true }, run);
  }

  /**
   * The tests to run, each as a function that prints its result. It returns true if the test failed
   * and null if it was skipped.
   */
  chosen() {
    return this.tests
      .map((test) => ({ ...test, title: `${this.file}: ${test.name}` }))
      .filter(({ title }) => !this.only || title.includes(this.only))
      .map((test) =>
        Object.assign((say) => this.run(test, say), {
          title: test.title,
          slow: Number(test.options.slow ?? 0) + (test.options.report ? 0.5 : 0),
        }),
      );
  }

  async run({ title, options, run }, say) {
    const errors = [];
    const begun = performance.now();
    let context;
    try {
      const files = options.files ?? [this.runs.before];
      if (files.some((f) => f === null)) throw new Skip("there is no such run in RUNS");
      const server = options.report ? null : await this.browser.view(files, options);
      // With room for all detail, as on the server. Other tests cover small reports.
      const flags = options.reportFlags ?? options.flags ?? ["--budget", "5MB"];
      const base = options.report ? await this.browser.html(files, flags) : server.url;
      const home = options.report ? null : new URL(base).origin;
      context = await this.browser.browser.newContext({
        viewport: options.viewport ?? { width: 1440, height: 900 },
        colorScheme: options.dark ? "dark" : "light",
        reducedMotion: options.still ? "reduce" : "no-preference",
        acceptDownloads: true,
      });
      const page = await context.newPage();
      page.on("console", (m) => {
        if (m.type() === "error" && !options.allow?.test(m.text()))
          errors.push(`console: ${m.text()}`);
      });
      page.on("pageerror", (e) => errors.push(`exception: ${e.stack ?? e}`));
      page.on("request", (r) => {
        const url = r.url();
        if (
          /^(data|blob|about):/.test(url) ||
          (home && url.startsWith(home)) ||
          (options.report && url.split("#")[0] === base)
        )
          return;
        errors.push(`outside request: ${url}`);
      });
      // During work on the page: its newest build instead of the one inside the CLI.
      if (process.env.PAGE && server)
        await page.route(base, (route) =>
          route.fulfill({ path: process.env.PAGE, contentType: "text/html; charset=utf-8" }),
        );
      const opened = new Opened(page, base);
      await run(opened, { server, suite: this, browser: this.browser });
      const stats = await page.evaluate(() => window.__stats ?? null).catch(() => null);
      if (stats)
        check(
          stats.mostPrimitives <= MAX_PRIMITIVES,
          `${stats.mostPrimitives} primitives in a frame`,
        );
      if (errors.length) throw new Error(errors.join("\n    "));
      say(`ok       ${title} (${((performance.now() - begun) / 1000).toFixed(1)} s)`);
      return false;
    } catch (e) {
      if (e instanceof Skip) {
        say(`skipped: ${title}: ${e.message}`);
        return null;
      }
      say(
        `FAILED   ${title}\n    ${e.message}${errors.length && !e.message.includes(errors[0]) ? `\n    ${errors.join("\n    ")}` : ""}`,
      );
      const shot = process.env.SHOTS && context?.pages()[0];
      if (shot)
        await shot
          .screenshot({ path: join(process.env.SHOTS, `${title.replace(/\W+/g, "-")}.png`) })
          .catch(() => {});
      return true;
    } finally {
      await context?.close();
    }
  }
}
