/**
 * The timeline in use: zoom, pan, brush, select, follow a steal, switch every layer, both with the
 * pointer and with the keyboard alone.
 */

import { statSync } from "node:fs";
import { check, Skip, until } from "./harness.mjs";

const CANVAS = ".tl-canvas canvas";

/** Waits until everything that was requested is drawn. */
const idle = (page) =>
  until(
    () =>
      page.evaluate(() => window.__timeline && window.__timeline.scene && !window.__timeline.busy),
    "the timeline to have all its tiles",
  ).then(() => page.waitForTimeout(120));

const window_ = (page) =>
  page.evaluate(() => ({
    ...window.__timeline.window,
    elapsed: window.__timeline.meta.elapsed,
    least: window.__timeline.least,
    perSecond: window.__timeline.meta.ticks_per_second,
  }));

async function open(t, hash = "") {
  await t.open(`tab=timeline${hash ? `&${hash}` : ""}`);
  await t.page.waitForSelector(CANVAS);
  await idle(t.page);
}

/** A point of the canvas, in the page's pixels. */
async function place(page, x, y) {
  const box = await page.locator(CANVAS).boundingBox();
  return [box.x + x, box.y + y];
}

const bands = (page) => page.evaluate(() => window.__timeline.scene.bands);

/** The widest box in view and its middle on the canvas. */
const widest = (page) =>
  page.evaluate(() => {
    const { scene } = window.__timeline;
    const b = scene.boxes;
    let best = -1;
    for (let i = 0; i < b.n; i++)
      if (best < 0 || b.x1[i] - b.x0[i] > b.x1[best] - b.x0[best]) best = i;
    if (best < 0) return null;
    const left = Math.max(b.x0[best], scene.scale.x0);
    const right = Math.min(b.x1[best], scene.scale.x0 + scene.scale.width);
    return {
      id: b.id[best],
      task: b.task[best],
      row: b.row[best],
      start: b.start[best],
      end: b.end[best],
      x: left + (right - left) * 0.62,
      y: window.__timeline.rowMiddle(b.row[best]) + 1,
    };
  });

/** Sums of the canvas' pixels in a band, to compare pictures. */
const probe = (page, y, h) =>
  page.evaluate(
    ([y, h]) => {
      const c = document.querySelector(".tl-canvas canvas");
      const k = c.width / c.clientWidth;
      const data = c
        .getContext("2d")
        .getImageData(0, Math.round(y * k), c.width, Math.max(1, Math.round(h * k))).data;
      let a = 1;
      for (let i = 0; i < data.length; i += 4)
        a = (a * 31 + data[i] + data[i + 1] * 7 + data[i + 2] * 13) % 2147483647;
      return a;
    },
    [y, h],
  );

export default function (suite) {
  suite.both("draws rows, a profile and boxes with names", async (t) => {
    await open(t);
    const seen = await t.page.evaluate(() => ({
      boxes: window.__timeline.scene.boxes.n,
      complete: window.__timeline.drawn.complete,
      rows: window.__timeline.meta.threads.length,
      columns: window.__timeline.drawn.columns.values.running,
    }));
    check(seen.boxes > 0, "no strand is a box of its own");
    check(seen.complete, "something is still missing");
    const most = Math.max(
      ...Object.values(seen.columns).filter((v) => v !== null && !Number.isNaN(v)),
    );
    check(most > 0.2 && most <= seen.rows + 64, `running at most ${most}`);
  });

  suite.both("zooms from the whole run to nanoseconds and back without a jump", async (t) => {
    await open(t);
    const { page } = t;
    const target = await widest(page);
    await page.mouse.move(...(await place(page, target.x, target.y)));
    await page.locator(CANVAS).focus();
    const at = (w) =>
      page.evaluate(
        ([w, x]) => {
          const s = window.__timeline.scene.scale;
          return w.t0 + ((x - s.x0) / s.width) * (w.t1 - w.t0);
        },
        [w, target.x],
      );
    let before = await window_(page);
    const held = await at(before);
    let steps = 0;
    while (before.t1 - before.t0 > before.least * 1.01) {
      await page.keyboard.press("w");
      const now = await window_(page);
      check(now.t1 - now.t0 < before.t1 - before.t0, "the window did not get narrower");
      check(
        Math.abs((await at(now)) - (await at(before))) <= (now.t1 - now.t0) * 0.002 + 1e-3,
        "the time under the pointer moved",
      );
      before = now;
      check(++steps < 200, "zooming in never ends");
    }
    check(
      (before.t1 - before.t0) / before.perSecond <= 25e-9 || before.t1 - before.t0 <= 4.1,
      "did not come down to nanoseconds",
    );
    await idle(page);
    while (steps-- > 0) await page.keyboard.press("s");
    const back = await window_(page);
    check(back.t0 <= held && held <= back.t1, "zoomed out elsewhere");
    await page.keyboard.press("0");
    await until(async () => {
      const w = await window_(page);
      return w.t0 === 0 && Math.abs(w.t1 - w.elapsed) <= 1;
    }, "the whole run after 0");
  });

  suite.test(
    "pans with keys, with Shift and the pointer, and with the minimap's brush",
    async (t) => {
      await open(t);
      const { page } = t;
      const { elapsed } = await window_(page);
      const b = await bands(page);
      // Drag a new window on the minimap.
      const y = b.minimap.y + b.minimap.h / 2;
      const x = (share) => b.x0 + b.plot * share;
      const drag = async (from, to, atY) => {
        await page.mouse.move(...(await place(page, from, atY)));
        await page.mouse.down();
        await page.mouse.move(...(await place(page, (from + to) / 2, atY)), { steps: 3 });
        await page.mouse.move(...(await place(page, to, atY)), { steps: 3 });
        await page.mouse.up();
      };
      await drag(x(0.4), x(0.6), y);
      let w = await window_(page);
      check(
        Math.abs(w.t0 / elapsed - 0.4) < 0.01 && Math.abs(w.t1 / elapsed - 0.6) < 0.01,
        `brushed ${w.t0 / elapsed} to ${w.t1 / elapsed}`,
      );
      // Drag its right edge, then the whole window.
      await drag(x(0.6), x(0.7), y);
      w = await window_(page);
      check(
        Math.abs(w.t1 / elapsed - 0.7) < 0.01 && Math.abs(w.t0 / elapsed - 0.4) < 0.01,
        "the edge did not follow",
      );
      await drag(x(0.55), x(0.65), y);
      w = await window_(page);
      check(
        Math.abs(w.t0 / elapsed - 0.5) < 0.01 && Math.abs(w.t1 / elapsed - 0.8) < 0.01,
        "the window did not follow",
      );
      await page.locator(CANVAS).focus();
      await page.keyboard.press("a");
      const left = await window_(page);
      check(
        left.t0 < w.t0 && Math.abs(left.t1 - left.t0 - (w.t1 - w.t0)) < 2,
        "A did not move it left",
      );
      await page.keyboard.press("d");
      const right = await window_(page);
      check(Math.abs(right.t0 - w.t0) < 2, "D did not bring it back");
      await page.keyboard.down("Shift");
      await drag(x(0.5), x(0.3), b.rows.y + 8);
      await page.keyboard.up("Shift");
      const panned = await window_(page);
      check(panned.t0 > right.t0 + (right.t1 - right.t0) * 0.15, "Shift and drag did not pan");
      await t.hashHas(/[&#]t=/, "the window in the hash");
    },
  );

  suite.test("a dragged range is selected, and R zooms to it", { report: true }, async (t) => {
    await open(t);
    const { page } = t;
    const b = await bands(page);
    const y = b.strip.base - 10;
    await page.mouse.move(...(await place(page, b.x0 + b.plot * 0.25, y)));
    await page.mouse.down();
    await page.mouse.move(...(await place(page, b.x0 + b.plot * 0.5, y)), { steps: 4 });
    await page.mouse.up();
    await t.hashHas("sel=range:a:", "a range to be selected");
    await page.keyboard.press("r");
    const { elapsed } = await window_(page);
    await until(async () => {
      const w = await window_(page);
      return Math.abs(w.t0 / elapsed - 0.25) < 0.01 && Math.abs(w.t1 / elapsed - 0.5) < 0.01;
    }, "the window to be the range");
  });

  suite.test("Ctrl and the wheel zoom at the pointer", async (t) => {
    await open(t);
    const { page } = t;
    const b = await bands(page);
    await page.mouse.move(...(await place(page, b.x0 + b.plot * 0.75, b.rows.y + 10)));
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -400);
    await page.keyboard.up("Control");
    const w = await until(async () => {
      const w = await window_(page);
      return w.t1 - w.t0 < w.elapsed * 0.9 && w;
    }, "a narrower window");
    check(
      Math.abs((w.elapsed * 0.75 - w.t0) / (w.t1 - w.t0) - 0.75) < 0.02,
      "it did not zoom at the pointer",
    );
  });

  suite.both(
    "a click selects the strand: drawer, hash and DAG have it; a double click fits it",
    async (t) => {
      await open(t);
      const { page } = t;
      const target = await widest(page);
      await page.mouse.click(...(await place(page, target.x, target.y)));
      await page.waitForSelector(".drawer");
      await t.hashHas(`sel=strand:a:${target.id}:${target.task}`);
      await until(
        async () => (await t.text(".drawer")).includes("task"),
        "the drawer to tell of it",
      );
      await until(async () => (await t.text("#announcer")).length > 5, "the announcement");
      // The open drawer takes room, so the rows may have moved.
      await idle(page);
      await page.waitForTimeout(600);
      const now = await page.evaluate(
        ([row]) => window.__timeline.rowMiddle(row) + 1,
        [target.row],
      );
      await page.mouse.dblclick(...(await place(page, target.x, now)));
      await until(async () => {
        const w = await window_(page);
        return (
          w.t0 <= target.start &&
          w.t1 >= target.end &&
          (w.t1 - w.t0 < (target.end - target.start) * 1.5 || w.t1 - w.t0 >= w.elapsed * 0.999)
        );
      }, "the window around the strand");
      await page.keyboard.press("3");
      await t.hashHas("tab=dag", "the DAG");
      await t.hashHas(`sel=strand:a:${target.id}`, "the same selection in the DAG");
    },
  );

  suite.test("a double click counts where its first click's drawer opens", async (t) => {
    await open(t);
    const { page } = t;
    // The widest box of the last row, which the drawer will cover.
    const target = await page.evaluate(() => {
      const b = window.__timeline.scene.boxes;
      const last = Math.max(...Array.from({ length: b.n }, (_, i) => b.row[i]));
      let best = -1;
      for (let i = 0; i < b.n; i++)
        if (b.row[i] === last && (best < 0 || b.x1[i] - b.x0[i] > b.x1[best] - b.x0[best]))
          best = i;
      return {
        start: b.start[best],
        end: b.end[best],
        x: (b.x0[best] + b.x1[best]) / 2,
        y: window.__timeline.rowMiddle(last) + 1,
      };
    });
    const at = await place(page, target.x, target.y);
    await page.mouse.dblclick(...at);
    await until(async () => {
      const w = await window_(page);
      return (
        w.t0 <= target.start &&
        w.t1 >= target.end &&
        w.t1 - w.t0 < (target.end - target.start) * 1.5
      );
    }, "the window around the strand");
    const drawer = await page.locator(".drawer").boundingBox();
    check(drawer && at[1] > drawer.y, `the drawer did not cover ${at}: ${JSON.stringify(drawer)}`);
  });

  suite.test(
    "a double click means what it began on, though its first click opens the drawer",
    async (t) => {
      await open(t);
      const { page } = t;
      const target = await widest(page);
      await page.mouse.dblclick(...(await place(page, target.x, target.y)));
      await t.hashHas(`sel=strand:a:${target.id}:`, "the strand to be selected");
      await until(async () => {
        const w = await window_(page);
        return (
          w.t0 <= target.start &&
          w.t1 >= target.end &&
          (w.t1 - w.t0 < (target.end - target.start) * 1.5 || w.t1 - w.t0 >= w.elapsed * 0.999)
        );
      }, "the window around the strand");
    },
  );

  suite.test(
    "what another view selects is brought into sight, and a site leaves the rest dim",
    async (t) => {
      await open(t);
      const { page } = t;
      const target = await widest(page);
      const { elapsed } = await window_(page);
      const far =
        target.start > elapsed / 2
          ? [0, Math.max(2, target.start / 50)]
          : [elapsed - (elapsed - target.end) / 50, elapsed];
      await t.open(`tab=timeline&t=${far.map(Math.round).join(",")}`);
      await idle(page);
      await page.evaluate(
        ([task]) => {
          location.hash = location.hash + `&sel=task:a:${task}`;
        },
        [target.task],
      );
      await t.page.waitForTimeout(400);
      const b = await bands(page);
      const plain = await probe(page, b.rows.y, b.rows.h);
      await t.open("tab=timeline&sel=site:a:1");
      await idle(page);
      check((await probe(page, b.rows.y, b.rows.h)) !== plain, "selecting a site changes nothing");
      check(
        (await t.text(".tl-notice")).includes("is highlighted"),
        "nothing tells why the rest is dim",
      );
    },
  );

  suite.both("N follows steals from one to the next", async (t) => {
    await open(t);
    const { page } = t;
    const n = await page.evaluate(
      () => window.__timeline.meta.steals + window.__timeline.meta.leaps,
    );
    if (n === 0) throw new Skip("nothing was stolen in this run");
    await page.locator(CANVAS).focus();
    await page.keyboard.press("n");
    const first = await until(
      async () => /sel=steal:a:(\d+):/.exec(await t.hash())?.[1],
      "a steal to be selected",
    );
    check((await t.text("#announcer")).includes("teal"), "the steal is not announced");
    if (n > 1) {
      await page.keyboard.press("n");
      await until(async () => {
        const now = /sel=steal:a:(\d+):/.exec(await t.hash())?.[1];
        return (now && now !== first) || (await t.text("#announcer")).includes("No more steals");
      }, "the next steal");
    }
  });

  suite.test(
    "every layer can be switched off and on again, and its picture changes",
    { still: true, report: true },
    async (t) => {
      await open(t);
      const { page } = t;
      // A place with all layers: the first steals, or the whole run.
      await page.mouse.move(2, 2);
      const buttons = await page.locator(".tl-toggle[data-layer]:not([disabled])").all();
      check(buttons.length >= 6, `only ${buttons.length} layers`);
      let changed = 0;
      for (const button of buttons) {
        const layer = await button.getAttribute("data-layer");
        const was = await button.getAttribute("aria-pressed");
        await idle(page);
        const height = await page.evaluate(() => window.__timeline.scene.bands.height);
        const before = await probe(page, 0, height);
        await button.click();
        check((await button.getAttribute("aria-pressed")) !== was, `${layer} is still ${was}`);
        await page.mouse.move(2, 2);
        await idle(page);
        if ((await probe(page, 0, height)) !== before) changed++;
        else if (["cpu", "critical", "spawns", "nowork"].includes(layer))
          throw new Error(`switching ${layer} changes no pixel`);
        await button.click();
        await page.mouse.move(2, 2);
        await idle(page);
        await until(
          async () => (await probe(page, 0, height)) === before,
          `the picture before ${layer} was switched`,
          5000,
        );
      }
      check(changed >= 5, `only ${changed} layers change the picture`);
    },
  );

  suite.test("every colour mode draws another picture", { still: true }, async (t) => {
    await open(t);
    const { page } = t;
    const b = await bands(page);
    const seen = new Map();
    for (const mode of ["code", "site", "worker", "activity", "level", "critical"]) {
      await page.locator(".tl-by select").selectOption(mode);
      await page.mouse.move(2, 2);
      await idle(page);
      seen.set(mode, await probe(page, b.rows.y, b.rows.h));
    }
    check(new Set(seen.values()).size >= 5, `modes look alike: ${JSON.stringify([...seen])}`);
  });

  suite.both(
    "by keyboard alone: step, go up, change rows, fit, mark, table",
    { still: true },
    async (t) => {
      await open(t);
      const { page } = t;
      const selected = async () => /sel=([^&]*)/.exec(await t.hash())?.[1] ?? "";
      for (let i = 0; i < 60; i++) {
        if (await page.evaluate(() => document.activeElement?.matches(".tl-canvas canvas"))) break;
        await page.keyboard.press("Tab");
      }
      check(
        await page.evaluate(() => document.activeElement?.matches(".tl-canvas canvas")),
        "Tab does not reach the timeline",
      );
      await page.keyboard.press(".");
      const first = await until(async () => {
        const s = await selected();
        return s.startsWith("strand:") && s;
      }, "a strand to be selected");
      await page.keyboard.press(",");
      await page.waitForTimeout(500);
      const before = await selected();
      await page.keyboard.press(".");
      await page.waitForTimeout(500);
      if (before !== first) check((await selected()) === first, "full stop does not undo comma");
      await page.keyboard.press("f");
      const whole = await window_(page);
      check(whole.t1 > whole.t0, "no window");
      await page.keyboard.press("p");
      await until(
        async () =>
          (await selected()).startsWith("task:") || /root|Select/.test(await t.text("#announcer")),
        "the parent, or that there is none",
      );
      await page.keyboard.press("ArrowDown");
      await until(async () => (await t.text("#announcer")).length > 0, "the row's announcement");
      await page.keyboard.press("m");
      check((await page.evaluate(() => window.__timeline.marks.length)) === 1, "no mark");
      await page.keyboard.press("k");
      check(
        (await page.locator('[data-layer="critical"]').getAttribute("aria-pressed")) === "false",
        "K does not switch the critical path",
      );
    },
  );

  suite.test("the strands in view stand in a table, and a line selects", async (t) => {
    await open(t);
    const { page } = t;
    await page.getByRole("button", { name: "Table", exact: true }).click();
    await page.waitForSelector(".tl-table tbody tr");
    const n = await page.evaluate(() => Math.min(500, window.__timeline.scene.boxes.n));
    check(
      (await page.locator(".tl-table tbody tr").count()) === n,
      "another number of lines than boxes",
    );
    await page.locator(".tl-table tbody tr").first().click();
    await t.hashHas("sel=strand:", "the line's strand");
  });

  suite.test("the picture as SVG is a whole document without scripts", async (t) => {
    await open(t);
    const seen = await t.page.evaluate(async () => {
      const text = await new Promise((done) => {
        const make = URL.createObjectURL;
        URL.createObjectURL = (blob) => {
          blob.text().then(done);
          return make(blob);
        };
        document.querySelector("header [aria-label='Export this view']")?.click();
        setTimeout(
          () =>
            [...document.querySelectorAll("[role=menuitem], [role=menu] button")]
              .find((b) => /SVG/.test(b.textContent))
              ?.click(),
          200,
        );
        setTimeout(() => done(""), 8000);
      });
      const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
      return {
        length: text.length,
        root: parsed.documentElement.nodeName,
        scripts: parsed.querySelectorAll("script").length,
        shapes: parsed.querySelectorAll("rect, path, text").length,
      };
    });
    check(seen.root === "svg" && seen.scripts === 0 && seen.shapes > 50, JSON.stringify(seen));
  });

  suite.test(
    "a report whose detail stops says so",
    { report: true, flags: ["--budget", "1MB"] },
    async (t) => {
      await open(t);
      const { page } = t;
      const target = await widest(page);
      if (!target) throw new Skip("this report carries no boxes");
      await page.mouse.move(...(await place(page, target.x, target.y)));
      await page.locator(CANVAS).focus();
      for (let i = 0; i < 60; i++) await page.keyboard.press("w");
      await until(
        async () =>
          (await page.evaluate(() => document.body.innerText)).includes("no detail below") ||
          (await page.evaluate(() => window.__timeline.drawn.complete && !window.__timeline.busy)),
        "the words, or all detail",
      );
    },
  );

  suite.test(
    "the smallest report still has the whole run, and says where detail stops",
    { report: true, flags: ["--budget", "10KB"] },
    async (t) => {
      await open(t);
      const { page } = t;
      const seen = await page.evaluate(() => ({
        boxes: window.__timeline.scene.boxes.n,
        most: Math.max(
          ...Object.values(window.__timeline.drawn.columns.values.running).filter(
            (v) => v !== null && !Number.isNaN(v),
          ),
        ),
      }));
      check(seen.boxes > 0, "no strand is a box of its own");
      check(seen.most > 0.2, `running at most ${seen.most}`);
      const { elapsed } = await window_(page);
      await page.evaluate(
        ([a, b]) => window.__timeline.show({ t0: a, t1: b }),
        [elapsed * 0.4, elapsed * 0.4 + elapsed / 4096],
      );
      await until(
        async () =>
          (await page.evaluate(() => document.body.innerText)).includes("no detail below"),
        "the words",
      );
    },
  );

  const largest =
    [...suite.runs.all]
      .map((f) => ({ f, size: statSync(f).size }))
      .sort((a, b) => b.size - a.size)[0]?.f ?? null;
  suite.test(
    "at most 25,000 primitives at every zoom of the largest run",
    { files: [largest] },
    async (t) => {
      await open(t, "layers=spawns,steals,leaps,critical,ready,delay,nowork,cpu,queue,regions");
      const { page } = t;
      const { elapsed } = await window_(page);
      for (const where of [0.02, 0.37, 0.81]) {
        for (let width = elapsed; width > 100; width /= 4) {
          await page.evaluate(
            ([a, b]) => window.__timeline.show({ t0: a, t1: b }),
            [where * elapsed - width / 2, where * elapsed + width / 2],
          );
          await idle(page);
          const { primitives } = await t.stats();
          check(primitives <= 25000, `${primitives} primitives at ${width} ticks`);
        }
      }
    },
  );

  suite.test(
    "regions of a recorded run have their lanes and are found by name",
    { files: [suite.runs.regions] },
    async (t) => {
      await open(t);
      const { page } = t;
      const regions = await until(
        () =>
          page.evaluate(() =>
            window.__timeline.scene.regions.length ? window.__timeline.scene.regions : null,
          ),
        "the regions",
      );
      check(
        regions.some((r) => r.label === "count primes"),
        `regions: ${[...new Set(regions.map((r) => r.label))]}`,
      );
      const b = await bands(page);
      check(b.regions && b.regions.h > 0, "the regions have no lanes");
      const lanes = await probe(page, b.regions.y, b.regions.h);
      await page.locator(".tl-toggle[data-layer=regions]").click();
      await idle(page);
      check(
        (await bands(page)).regions?.h !== b.regions.h ||
          (await probe(page, b.regions.y, b.regions.h)) !== lanes,
        "the lanes stay when they are switched off",
      );
      await page.keyboard.press("/");
      await page.keyboard.type("count primes");
      await page.keyboard.press("Enter");
      await t.hashHas(/[&#](t|sel)=/, "the region to be shown");
    },
  );

  suite.test(
    "more steals than can be told apart are counted by pairs",
    { files: [suite.runs.broad] },
    async (t) => {
      await open(t);
      const { page } = t;
      const steals = await page.evaluate(() => window.__timeline.meta.steals);
      if (steals <= 2000) throw new Skip(`the run has ${steals} steals only`);
      const drawn = await page.evaluate(() => {
        const s = window.__timeline.drawn.steals;
        return {
          arcs: s.arcs.length,
          crowded: s.crowded,
          counted: s.pairs.reduce((sum, p) => sum + p[2], 0),
        };
      });
      check(drawn.crowded && drawn.arcs === 0, `${drawn.arcs} arcs`);
      check(drawn.counted >= steals * 0.9, `the pairs count ${drawn.counted} of ${steals} steals`);
      const at = await widest(page);
      await page.evaluate(
        ([from, width]) => window.__timeline.show({ t0: from, t1: from + width }),
        [at.end, (await window_(page)).elapsed / 400],
      );
      await until(
        () => page.evaluate(() => !window.__timeline.drawn.steals.crowded),
        "a narrow window to have arcs",
      );
    },
  );

  suite.test(
    "two runs stacked share one zoom",
    { files: [suite.runs.before, suite.runs.after ?? suite.runs.before] },
    async (t) => {
      await t.open("tab=compare&with=b");
      const { page } = t;
      const canvas = page.locator(".tl-stack canvas");
      await canvas.waitFor();
      await canvas.scrollIntoViewIfNeeded();
      await page.waitForTimeout(1200);
      const picture = () =>
        canvas.evaluate((c) => c.toDataURL().length + c.toDataURL().slice(-2000));
      const before = await picture();
      await canvas.hover({ position: { x: 300, y: 60 } });
      await canvas.focus();
      await page.keyboard.press("w");
      await page.keyboard.press("w");
      await page.waitForTimeout(800);
      check((await picture()) !== before, "W does not zoom");
      await page.keyboard.press("0");
      await page.waitForTimeout(800);
      await page.mouse.move(2, 2);
      check((await picture()) === before, "0 does not bring both back");
    },
  );

  suite.test(
    "zooming into a folded part shows the strands inside",
    { files: [suite.runs.large], flags: ["--grain", "20us"] },
    async (t) => {
      await t.open("tab=timeline");
      const { page } = t;
      await until(
        () =>
          page.evaluate(
            () =>
              window.__timeline?.meta.overview === null &&
              window.__timeline.scene &&
              !window.__timeline.busy,
          ),
        "the run",
        60_000,
      );
      const meta = await page.evaluate(() => window.__timeline.meta);
      check(meta.has.inside && meta.folded_strands > 0, "nothing was folded");
      check((await t.text(".tl-notice")).includes("folded"), "nothing says that parts are folded");
      // The longest visible folded strand, whatever its size.
      const found = await page.evaluate(async () => {
        const view = window.__timeline;
        // Try several places: at any one of them the workers may be waiting or off the CPU.
        const wanted = [
          0.3, 0.45, 0.6, 0.15, 0.75, 0.05, 0.1, 0.2, 0.25, 0.35, 0.4, 0.5, 0.55, 0.65, 0.7, 0.8,
          0.85, 0.9,
        ].flatMap((at) =>
          [8, 32, 128, 512, 2048].map((part) => [at * view.meta.elapsed, view.meta.elapsed / part]),
        );
        for (const [t0, width] of wanted) {
          view.show({ t0, t1: t0 + width });
          for (let k = 0; k < 100; k++) {
            await new Promise((r) => setTimeout(r, 50));
            if (!view.busy) break;
          }
          const b = view.scene.boxes;
          let best = -1;
          for (let i = 0; i < b.n; i++)
            if (b.flags[i] & 8 && (best < 0 || b.end[i] - b.start[i] > b.end[best] - b.start[best]))
              best = i;
          if (best >= 0 && b.x1[best] - b.x0[best] > 30)
            return { id: b.id[best], row: b.row[best], start: b.start[best], end: b.end[best] };
        }
        return null;
      });
      check(found, "no folded strand is to be seen");
      await page.evaluate(
        (f) => window.__timeline.show({ t0: f.start, t1: f.start + (f.end - f.start) / 20 }),
        found,
      );
      await until(
        () => page.evaluate(() => !window.__timeline.busy && window.__timeline.scene.inner.n > 3),
        "strands inside",
      );
      const at = await page.evaluate((id) => {
        const { inner, bands } = window.__timeline.scene;
        let best = -1;
        for (let i = 0; i < inner.n; i++)
          if (
            inner.id[i] === id &&
            inner.x0[i] >= bands.x0 &&
            inner.x1[i] <= bands.x0 + bands.plot &&
            (best < 0 || inner.x1[i] - inner.x0[i] > inner.x1[best] - inner.x0[best])
          )
            best = i;
        if (best < 0) return null;
        const r = bands.rows,
          box = window.__timeline.canvas.getBoundingClientRect();
        return {
          x: box.x + (inner.x0[best] + inner.x1[best]) / 2,
          y: box.y + r.y + inner.row[best] * r.pitch - r.scroll + 5 + r.lane / 3,
          start: inner.start[best],
        };
      }, found.id);
      check(at, "none of them is in the window");
      await page.mouse.move(at.x, at.y);
      await until(async () => (await t.text(".tl-tip")).includes("folded strand"), "the tooltip");
      await page.mouse.click(at.x, at.y);
      await until(
        async () =>
          (await t.hash()).includes(`strand:a:${found.id}:`) &&
          (await t.hash()).includes(`:${at.start}`),
        "the strand inside to be selected",
      );
      await until(
        async () =>
          /inside a folded strand/.test(await t.text(".drawer")) &&
          /folded into/.test(await t.text(".drawer")),
        "what is known of it",
      );
    },
  );
}
