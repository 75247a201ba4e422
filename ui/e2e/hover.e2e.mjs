/**
 * Tooltips of the timeline: the numbers of the CPU's line and of the queue below a lane, and a
 * spawn's name with the number of earlier spawns of its worker. Also the run from its first spawn.
 */

import { check, Skip, until } from "./harness.mjs";

const CANVAS = ".tl-canvas canvas";
const LAYERS = "layers=spawns,cpu,queue";

const idle = (page) =>
  until(
    () =>
      page.evaluate(() => window.__timeline && window.__timeline.scene && !window.__timeline.busy),
    "the timeline to have all its tiles",
  ).then(() => page.waitForTimeout(120));

async function open(t) {
  await t.open(`tab=timeline&${LAYERS}`);
  await t.page.waitForSelector(CANVAS);
  await idle(t.page);
}

async function hover(page, { x, y }) {
  const box = await page.locator(CANVAS).boundingBox();
  await page.mouse.move(box.x + x - 3, box.y + y);
  await page.mouse.move(box.x + x, box.y + y);
}

/** The lines of the tooltip by their names, once its title is `wanted`. */
async function tip(t, wanted) {
  const lines = () =>
    t.page.evaluate(() => {
      const tip = document.querySelector(".tl-tip");
      if (!tip) return null;
      const said = {};
      for (const line of tip.querySelectorAll("div")) {
        const name = line.querySelector("span").textContent;
        said[name] = line.textContent.slice(name.length).trim();
      }
      return { title: tip.querySelector("b").textContent, said };
    });
  return until(async () => {
    const found = await lines();
    return found && wanted.test(found.title) ? found : null;
  }, `a tooltip ${wanted}`);
}

/** Where in a lane the CPU's line or the queue's area is highest, according to the tiles. */
const most = (page, plane) =>
  page.evaluate((plane) => {
    const { scene } = window.__timeline;
    const { rows } = scene.bands;
    let best = null;
    const s = scene.scale;
    for (const slot of scene.tiles.slots("rows", { t0: s.t0, t1: s.t1 })) {
      const values = slot.tile?.data?.planes[plane];
      if (!values) continue;
      // Row by row, with bins of 2^level ticks. A slot may be a part of a coarser tile.
      const bins = values.length / window.__timeline.meta.threads.length;
      const width = 2 ** slot.tile.level;
      const from = slot.tile.index * bins * width;
      for (let i = 0; i < values.length; i++) {
        const t = from + ((i % bins) + 0.5) * width;
        if (t <= Math.max(s.t0, slot.t0) || t >= Math.min(s.t1, slot.t1)) continue;
        if (!best || values[i] > best.value)
          best = { value: values[i], row: Math.floor(i / bins), t };
      }
    }
    if (!best) return null;
    const x = s.x0 + ((best.t - s.t0) / (s.t1 - s.t0)) * s.width;
    return { ...best, x, top: window.__timeline.rowMiddle(best.row) + rows.lane / 2 };
  }, plane);

/** Moves down from the lane until the tooltip has the given title. */
async function below(t, from, title) {
  const others = new Set();
  for (let y = from.top; y < from.top + 40; y += 1.5) {
    await hover(t.page, { x: from.x, y });
    await t.page.waitForTimeout(40);
    const said = await t.page.evaluate(
      () => document.querySelector(".tl-tip b")?.textContent ?? null,
    );
    if (said === title) return tip(t, new RegExp(`^${title}$`));
    others.add(said);
  }
  throw new Error(`below the lane is no ${title}, only ${[...others].join(", ")}`);
}

export default function (suite) {
  suite.test("the CPU's line and the queue have numbers at the pointer", async (t) => {
    await open(t);
    const { page } = t;
    const has = await page.evaluate(() => window.__timeline.meta.has);
    if (!has.cpu) throw new Skip("the run has no times off the CPU");
    const cpu = await most(page, "cpu");
    check(cpu, "no tile has the CPU's load");
    const load = await below(t, cpu, "CPU");
    const share = Number.parseFloat(load.said["on a CPU"]);
    // The tolerance is the resolution of a plane's byte and the tooltip's rounding.
    check(Math.abs(share - (cpu.value / 255) * 100) <= 1, `${share} %, not ${cpu.value} / 255`);
    check(load.said["mean of"], "it does not say how much time it is the mean of");
    const queue = await most(page, "queue");
    if (!queue || queue.value === 0) throw new Skip("no queue was ever filled");
    const depth = await below(t, queue, "Queue");
    const tasks = Number.parseFloat(depth.said["in its queue"].replaceAll(",", ""));
    check(Math.abs(tasks - queue.value) <= queue.value * 0.01 + 0.01, `${tasks}, ${queue.value}`);
  });

  suite.test("B shows the run from its first spawn", async (t) => {
    await open(t);
    const { page } = t;
    const { elapsed, first } = await page.evaluate(() => ({
      elapsed: window.__timeline.meta.elapsed,
      first: window.__timeline.meta.first_spawn,
    }));
    await page.locator(CANVAS).focus();
    await page.keyboard.press("b");
    const shown = () => page.evaluate(() => window.__timeline.window);
    await until(async () => Math.abs((await shown()).t0 - first) < 1, "the window to begin there");
    check(Math.abs((await shown()).t1 - elapsed) < 1, `it ends at ${(await shown()).t1}`);
    // No spawn's mark precedes it nearby, and there is a spawn there, to the bin.
    await page.evaluate(
      (first) => window.__timeline.show({ t0: first - 40_000, t1: first + 80_000 }),
      first,
    );
    await idle(page);
    const marks = await page.evaluate(() =>
      window.__timeline.drawn.dots.map(({ t, level }) => ({ t, bin: 2 ** level })),
    );
    check(marks.length > 0, "no spawn is marked there");
    const earliest = marks.reduce((a, b) => (a.t < b.t ? a : b));
    check(Math.abs(earliest.t - first) <= earliest.bin, `${first}, but a mark at ${earliest.t}`);
  });

  suite.test("a spawn's mark tells its site and the spawns before it", async (t) => {
    await open(t);
    const { page } = t;
    const dots = await page.evaluate(() =>
      window.__timeline.drawn.dots.map(({ x, y, row, level, bin }) => ({ x, y, row, level, bin })),
    );
    check(dots.length > 1, `${dots.length} marks`);
    const labels = await page.evaluate(() => window.__timeline.meta.sites.map((s) => s.label));
    // Two spawns of one worker; the later one has more spawns before it.
    const row = dots[0].row;
    const own = dots.filter((d) => d.row === row).sort((a, b) => a.x - b.x);
    const before = [];
    for (const dot of [own[0], own.at(-1)]) {
      await hover(page, dot);
      await tip(t, /spawns?$/);
      const { title, said } = await until(async () => {
        const found = await tip(t, /spawns?$/);
        return found.said.before ? found : null;
      }, "the running count");
      check(/^[\d,]+ spawns?$/.test(title), title);
      check(
        labels.some((label) => said.site.startsWith(label)),
        `the site is ${said.site}`,
      );
      check(/^[\d,]+ spawns? by this worker$/.test(said.before), said.before);
      before.push(Number(said.before.replaceAll(",", "").split(" ")[0]));
    }
    if (own.length > 1) check(before[0] < before[1], `first ${before[0]}, then ${before[1]}`);
  });

  suite.test(
    "the tooltip names what is under a pointer that rests",
    { files: [suite.runs.simulated] },
    async (t) => {
      await open(t);
      const { page } = t;
      const box = await page.evaluate(() => {
        const { scene } = window.__timeline;
        const { boxes, scale } = scene;
        let best = 0;
        for (let i = 1; i < boxes.n; i++)
          if (boxes.x1[i] - boxes.x0[i] > boxes.x1[best] - boxes.x0[best]) best = i;
        const left = Math.max(boxes.x0[best], scale.x0);
        const right = Math.min(boxes.x1[best], scale.x0 + scale.width);
        const y = window.__timeline.rowMiddle(boxes.row[best]) + 1;
        return { x: (left + right) / 2, y };
      });
      await hover(page, box);
      const both = () =>
        page.evaluate(({ x, y }) => {
          const { meta, scene } = window.__timeline;
          const hit = window.__timeline.at(x, y);
          const wanted = hit?.kind === "box" ? scene.boxes : null;
          return {
            kind: hit?.kind ?? "nothing",
            wanted: wanted && meta.threads[wanted.row[hit.index]].label,
            codes: meta.codes.map((c) => c.label),
            lines: document.querySelector(".tl-tip")?.innerText ?? null,
          };
        }, box);
      const first = await until(async () => {
        const seen = await both();
        return seen.lines && seen;
      }, "a tooltip");
      check(first.wanted && first.lines.includes(`on ${first.wanted}`), JSON.stringify(first));
      // The drawer moves the rows away from under the pointer; `o` changes their order.
      for (const [what, change] of [
        ["a click", () => page.mouse.down().then(() => page.mouse.up())],
        ["another order", () => page.keyboard.press("o")],
        ["another zoom", () => page.keyboard.press("w")],
      ]) {
        await change();
        await page.waitForTimeout(700);
        await idle(page);
        const now = await both();
        check(
          now.kind === "box"
            ? now.lines?.includes(`on ${now.wanted}`)
            : !now.codes.includes(now.lines?.split("\n")[0]),
          `after ${what}: ${JSON.stringify(now)}`,
        );
      }
    },
  );
}
