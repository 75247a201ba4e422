/** The DAG in a real browser: expansion, layout, selection here and in other views, and limits. */

import { readFileSync } from "node:fs";
import { check, Skip, until } from "./harness.mjs";

const LAYOUTS = ["structure", "linear", "power", "log", "time"];
const COLOURS = ["code", "worker", "site", "activity", "critical", "level"];
/** Maximum number of nodes shown, as in ui/src/dag/expandedSet.ts. */
const MAX_NODES = 5000;

const nodes = (page) => page.evaluate(() => window.__dag?.() ?? []);
const count = async (page) => (await nodes(page)).filter((n) => !n.expanded).length;
const node = async (page, key) => (await nodes(page)).find((n) => n.key === key) ?? null;

/** Opens the DAG and waits for its first picture. */
async function dag(t, hash = "") {
  await t.open(`tab=dag${hash ? `&${hash}` : ""}`);
  await until(async () => (await count(t.page)) > 0, "a picture of the DAG", 60_000);
  await still(t.page);
}

/** Waits until no animation is running. */
async function still(page) {
  let last = "";
  await until(async () => {
    const now = JSON.stringify(await nodes(page));
    const same = now === last;
    last = now;
    if (!same) await page.waitForTimeout(150);
    return same;
  }, "the picture to stand still");
}

/** The server's answer to a request. */
const answer = (page, request) =>
  page.evaluate((url) => fetch(url).then((r) => r.json()), `api/v1/${request}`);

/** Position of a node on the page. */
async function point(page, n) {
  const box = await page.locator(".dag-picture canvas").boundingBox();
  return { x: box.x + n.x, y: box.y + n.y };
}

/** A fingerprint of the canvas, to compare pictures. */
const print = (page) =>
  page.evaluate(() => {
    const c = document.querySelector(".dag-picture canvas");
    const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
    let h = 0;
    for (let i = 0; i < d.length; i += 4)
      h = (h * 31 + d[i] * 65536 + d[i + 1] * 256 + d[i + 2]) | 0;
    return h;
  });

export default function (suite) {
  suite.both("opens with a picture that tells something", async (t) => {
    await dag(t);
    const all = await nodes(t.page);
    const boxes = all.filter((n) => !n.expanded);
    check(boxes.length >= 2 && boxes.length <= 60, `${boxes.length} nodes at the start`);
    check(
      boxes.some((n) => n.critical),
      "nothing of the critical path is shown",
    );
    check((await t.stats()).nodes === boxes.length, "stats.nodes is not the number of nodes");
    const view = await t.page.locator(".dag-picture canvas").boundingBox();
    for (const n of boxes)
      check(
        n.x >= 0 && n.x <= view.width && n.y >= -2 && n.y <= view.height + 2,
        `${n.key} is outside of the first picture`,
      );
    check(
      /nodes? shown/.test(await t.text("footer .status")),
      "the status line does not count the nodes",
    );
    check(
      (await t.page.locator(".dag-critical tbody tr").count()) > 0,
      "the critical path's table is empty",
    );
  });

  suite.both("expands with a double click and collapses again", async (t) => {
    await dag(t);
    const before = await nodes(t.page);
    const n = before.filter((n) => n.expandable).sort((a, b) => b.w * b.h - a.w * a.h)[0];
    if (!n) throw new Skip("nothing can be expanded in this run");
    const at = await point(t.page, n);
    await t.page.mouse.dblclick(at.x, at.y);
    await until(async () => (await node(t.page, n.key))?.expanded, `${n.key} to be expanded`);
    await still(t.page);
    check(
      (await count(t.page)) > before.filter((b) => !b.expanded).length,
      "no node more after expanding",
    );
    await t.hashHas(n.key);
    await t.page.keyboard.press("Shift+Enter");
    await until(
      async () => (await node(t.page, n.key))?.expanded === false,
      `${n.key} to be collapsed`,
    );
  });

  suite.test("draws each kind of node in a shape of its own", async (t) => {
    await dag(t);
    const shapes = async () => {
      const all = await nodes(t.page);
      return new Map(all.map((n) => [n.key, n]));
    };
    for (let i = 0; i < 3; i++) {
      await t.page.keyboard.press("x");
      await still(t.page);
    }
    const first = [...(await shapes()).values()];
    for (const n of first) {
      const right = n.expanded
        ? ["frame"]
        : n.kind === "strand"
          ? ["box", "dot", "card"]
          : n.expandable
            ? n.kind === "group"
              ? ["stack", "section"]
              : ["card"]
            : ["box"];
      check(right.includes(n.shape), `${n.key}, ${n.kind}, is a ${n.shape}`);
    }
    const seen = new Set(first.map((n) => n.shape));
    check(seen.has("box") && seen.has("card") && seen.has("frame"), [...seen].join(", "));
    await t.page.getByRole("button", { name: "Sections" }).click();
    // Another DAG is requested. Until it arrives, the old picture may stand still.
    const isGroup = (n) => n.kind === "group";
    await until(async () => [...(await shapes()).values()].some(isGroup), "sections as nodes");
    await still(t.page);
    await t.page.keyboard.press("x");
    const sections = await until(async () => {
      await still(t.page);
      const found = [...(await shapes()).values()].filter((n) => n.shape === "section");
      return found.length > 0 && found;
    }, "a section in its own shape");
    check(
      sections.every((n) => n.kind === "group" && !n.expanded),
      "something else looks like a section",
    );
  });

  suite.test("shows the whole DAG small beside a part of it, and moves by it", async (t) => {
    await dag(t);
    const { page } = t;
    const overview = () => page.evaluate(() => window.__overview());
    check((await overview()) === null, "there is an overview of what is all in view");
    const canvas = await page.locator(".dag-picture canvas").boundingBox();
    await page.mouse.move(canvas.x + canvas.width / 2, canvas.y + canvas.height / 2);
    await page.keyboard.down("Control");
    for (let i = 0; i < 6; i++) await page.mouse.wheel(0, -120);
    await page.keyboard.up("Control");
    await until(async () => (await overview()) !== null, "the overview");
    await still(page);
    const at = await overview();
    // The picture contains all nodes in their colours; it is not an empty frame.
    const colours = await page.evaluate(({ x, y, w, h }) => {
      const c = document.querySelector(".dag-picture canvas");
      const k = c.width / c.clientWidth;
      const d = c.getContext("2d").getImageData(x * k, y * k, w * k, h * k).data;
      const seen = new Set();
      for (let i = 0; i < d.length; i += 4) seen.add((d[i] << 16) | (d[i + 1] << 8) | d[i + 2]);
      return seen.size;
    }, at);
    check(colours > 3, `${colours} colours in the overview`);
    const before = await nodes(page);
    await page.mouse.click(canvas.x + at.x + at.w / 2, canvas.y + at.y + 3);
    await until(async () => (await nodes(page))[0].y !== before[0].y, "the picture to move");
    await still(page);
    const after = await nodes(page);
    check(after[0].y > before[0].y, "a click at its top does not go up");
    check(Math.abs(after[0].h - before[0].h) < 0.5, "moving by it changes the scale");
  });

  suite.test("stands in two scales at once, opened and selected together", async (t) => {
    await dag(t, "layout=time");
    const { page } = t;
    const second = () => page.evaluate(() => window.__secondDag?.() ?? []);
    check((await second()).length === 0, "there is a second picture unasked");
    await page.keyboard.press("b");
    await until(async () => (await second()).length > 0, "the second picture");
    await still(page);
    await until(() => page.url().includes("second=structure"), "the link to have it");
    const keys = async (of) =>
      (await of())
        .map((n) => n.key)
        .sort()
        .join(" ");
    const boxes = async () => (await nodes(page)).filter((n) => !n.expanded);
    check((await keys(second)) === (await keys(boxes)), "the two show different nodes");
    // Heights are times in one picture, and not in the other.
    const pairs = async () => {
      const other = new Map((await second()).map((n) => [n.key, n]));
      return (await boxes()).map((n) => [n, other.get(n.key)]);
    };
    const ratios = (await pairs()).map(([a, b]) => a.h / b.h);
    check(Math.max(...ratios) > 2 * Math.min(...ratios), "both have one scale");
    // Zooming one picture does not change the other.
    const before = await second();
    await page.locator(".dag-picture canvas").hover();
    await page.keyboard.press("+");
    await still(page);
    check(JSON.stringify(await second()) === JSON.stringify(before), "the second moved as well");
    // A click in the second picture selects the node here.
    const to = (await second()).reduce((a, b) => (a.h > b.h ? a : b));
    const box = await page.locator(".dag-second canvas").boundingBox();
    await page.mouse.click(box.x + to.x, box.y + to.y);
    await until(
      () => page.evaluate(() => /&sel=(task|strand|group)/.test(location.hash)),
      "the selection",
    );
    await page.keyboard.press("b");
    await until(async () => (await second()).length === 0, "the second picture to go");
    await until(() => !page.url().includes("second="), "the link to be without it");
  });

  suite.test("goes level by level with x and c", async (t) => {
    await dag(t);
    const sizes = [await count(t.page)];
    await t.page.keyboard.press("x");
    await until(async () => (await count(t.page)) > sizes[0], "more nodes");
    await still(t.page);
    sizes.push(await count(t.page));
    await t.page.keyboard.press("c");
    await until(async () => (await count(t.page)) < sizes[1], "fewer nodes");
    for (let i = 0; i < 40 && (await count(t.page)) > 1; i++) {
      await t.page.keyboard.press("c");
      await still(t.page);
    }
    const left = (await nodes(t.page)).filter((n) => !n.expanded);
    check(
      left.every((n) => n.kind !== "strand"),
      "collapsing all levels leaves strands",
    );
    await t.page.keyboard.press("x");
    await until(async () => (await count(t.page)) > left.length, "the root to open again");
  });

  suite.test("stays in sight as a whole while it is expanded and nobody moved it", async (t) => {
    await dag(t);
    const box = await t.page.locator(".dag-picture canvas").boundingBox();
    for (let press = 1; press <= 3; press++) {
      await t.page.keyboard.press("x");
      await still(t.page);
      const out = (await nodes(t.page)).filter(
        (n) => !n.expanded && (n.x < -2 || n.x > box.width + 2 || n.y < -2 || n.y > box.height + 2),
      );
      check(out.length === 0, `after ${press} times: ${out.length} nodes are out of sight`);
    }
  });

  suite.test("has four layouts and six colours, each its own picture", async (t) => {
    await dag(t);
    const prints = new Set();
    for (const layout of LAYOUTS) {
      await t.page.locator(".dag-toolbar select").first().selectOption(layout);
      await still(t.page);
      await t.page.waitForTimeout(400);
      prints.add(await print(t.page));
    }
    check(prints.size === LAYOUTS.length, `${prints.size} pictures of ${LAYOUTS.length} layouts`);
    const coloured = new Set();
    for (const colour of COLOURS) {
      await t.page.locator(".dag-toolbar select").nth(1).selectOption(colour);
      await t.page.waitForTimeout(200);
      coloured.add(await print(t.page));
    }
    check(
      coloured.size >= COLOURS.length - 1,
      `${coloured.size} pictures of ${COLOURS.length} colours`,
    );
    await t.page.locator(".dag-toolbar select").first().selectOption("power");
    const slider = t.page.locator(".dag-power input");
    await slider.focus();
    const was = await print(t.page);
    await slider.fill("0.9");
    await still(t.page);
    await t.page.waitForTimeout(400);
    check((await print(t.page)) !== was, "the exponent changes nothing");
    await t.hashHas("layout=power:0.9");
  });

  suite.test("has y as absolute time, in order", async (t) => {
    await dag(t, "layout=time");
    const strands = (await nodes(t.page)).filter((n) => n.kind === "strand");
    check(strands.length > 0, "no strand is shown");
    const rows = await t.page.evaluate(() => document.querySelector(".dag-picture canvas").height);
    check(
      strands.every((n) => n.y <= rows),
      "strands below the axis",
    );
  });

  suite.test("what is selected here is selected in the timeline, and back", async (t) => {
    await dag(t);
    await t.page.locator(".dag-critical tbody tr").last().click();
    const selected = /sel=([^&]*)/.exec(
      await t.hashHas("sel=strand", "a strand to be selected"),
    )[1];
    await until(
      async () => (await t.page.locator(".dag-side .dag-facts").count()) > 0,
      "facts of the strand",
    );
    await t.page.locator(".dag-main-button").click();
    await t.hashHas("tab=timeline", "the timeline");
    await t.hashHas(`sel=${selected}`, "the same selection in the timeline");
    await t.hashHas(/[&#]t=/, "the timeline to look at the strand");
    await t.page.keyboard.press("3");
    await until(async () => (await count(t.page)) > 0, "the DAG again");
    const id = /strand:[^:]*:(\d+)/.exec(decodeURIComponent(selected))?.[1];
    await until(async () => (await node(t.page, `s${id}`)) !== null, "the strand in the DAG");
  });

  suite.test("a task chosen elsewhere is expanded to", async (t) => {
    await dag(t);
    const run = await t.page.evaluate(
      async () => (await (await fetch("api/v1/meta")).json()).runs[0],
    );
    const task = run.tasks - 1;
    const way = await t.page.evaluate(
      async (task) => (await fetch(`api/v1/ancestors?run=a&task=${task}`)).json(),
      task,
    );
    await t.open(`tab=dag&sel=task:a:${task}`);
    const wanted = way[way.length - 1];
    await until(async () => (await node(t.page, wanted)) !== null, `${wanted} to be shown`, 30_000);
    await still(t.page);
    const n = await node(t.page, wanted);
    const view = await t.page.locator(".dag-picture canvas").boundingBox();
    check(n.x > 0 && n.x < view.width && n.y > 0 && n.y < view.height, "the task is not in view");
    check(
      /Selected/.test(await t.text(".dag-side section:nth-of-type(2) h2")),
      "nothing is selected",
    );
  });

  suite.test("is walked with the keyboard alone", { still: true }, async (t) => {
    await dag(t);
    const seen = new Set();
    for (const key of [
      "ArrowDown",
      "ArrowDown",
      "ArrowDown",
      "ArrowRight",
      "ArrowDown",
      "ArrowLeft",
      "ArrowUp",
    ]) {
      await t.page.keyboard.press(key);
      await t.page.waitForTimeout(60);
      seen.add(/sel=([^&]*)/.exec(await t.hash())?.[1]);
    }
    check(seen.size >= 2, "the arrow keys select nothing");
    check((await t.page.locator("#announcer").innerText()).length > 0, "nothing is announced");
    await t.page.keyboard.press(".");
    await t.hashHas(/sel=(strand|code)/, "a strand of the critical path");
    for (const key of [
      "f",
      "h",
      "v",
      "+",
      "-",
      "a",
      "d",
      "k",
      "k",
      "l",
      "l",
      "y",
      "u",
      "Shift+F",
      "f",
    ])
      await t.page.keyboard.press(key);
    await t.page.keyboard.press("t");
    await t.hashHas("tab=timeline", "the timeline");
  });

  suite.test(
    "never shows more than its limit, and says so",
    { files: [suite.runs.broad ?? suite.runs.before] },
    async (t) => {
      await dag(t);
      const run = await t.page.evaluate(
        async () => (await (await fetch("api/v1/meta")).json()).runs[0],
      );
      if (run.strands < MAX_NODES * 1.2) throw new Skip(`the run has ${run.strands} strands only`);
      for (let i = 0; i < 12; i++) {
        await t.page.keyboard.press("x");
        await t.page.waitForTimeout(300);
        await still(t.page);
        const now = await count(t.page);
        check(now <= MAX_NODES, `${now} nodes`);
        if (/at most 5,000/.test(await t.text("footer .status"))) break;
      }
      check(
        /at most 5,000/.test(await t.text("footer .status")),
        `the status line does not tell of the limit: ${await t.text("footer .status")}`,
      );
      check((await count(t.page)) > MAX_NODES / 2, "the limit leaves too little");
      await t.page.mouse.move(400, 400);
      for (let i = 0; i < 10; i++) {
        await t.page.keyboard.down("Control");
        await t.page.mouse.wheel(0, i % 2 ? 300 : -500);
        await t.page.keyboard.up("Control");
        await t.page.waitForTimeout(50);
      }
    },
  );

  suite.test("pans, zooms at the pointer and fits", async (t) => {
    await dag(t);
    // Small nodes are drawn larger than they are and start to grow late. The space between two of
    // them grows at once.
    const [n, ...others] = await nodes(t.page);
    const apart = (a, b) => Math.abs(a.x - b.x) + Math.abs(a.y - b.y);
    const far = others.reduce((a, b) => (apart(b, n) > apart(a, n) ? b : a));
    const at = await point(t.page, n);
    await t.page.mouse.move(at.x, at.y);
    await t.page.keyboard.down("Control");
    await t.page.mouse.wheel(0, -200);
    await t.page.keyboard.up("Control");
    // The page receives wheel events some time after they were sent.
    const grown = async () => {
      const now = await nodes(t.page);
      const [a, b] = [n, far].map((of) => now.find((node) => node.key === of.key));
      return a && (!b || apart(a, b) > 1.1 * apart(n, far));
    };
    await until(grown, "Ctrl and the wheel to zoom");
    await still(t.page);
    const zoomed = await node(t.page, n.key);
    check(Math.abs(zoomed.x - n.x) < 3, "the zoom is not at the pointer");
    await t.page.mouse.move(at.x + 200, at.y + 150);
    await t.page.mouse.down();
    await t.page.mouse.move(at.x + 260, at.y + 190, { steps: 4 });
    await t.page.mouse.up();
    const panned = await node(t.page, n.key);
    check(Math.abs(panned.x - zoomed.x) > 20, "dragging does not pan");
    await t.page.keyboard.press("f");
    await still(t.page);
    const fitted = await node(t.page, n.key);
    check(
      Math.abs(fitted.x - n.x) < 3 && Math.abs(fitted.y - n.y) < 3,
      "F does not fit everything again",
    );
  });

  suite.both("is a table and files too", async (t) => {
    await dag(t);
    const all = await nodes(t.page);
    await t.page.keyboard.press("Shift+T");
    await t.page.waitForSelector(".dag-table tbody tr");
    check(
      (await t.page.locator(".dag-table tbody tr").count()) === Math.min(1000, all.length),
      "the table has other rows than the picture nodes",
    );
    const expand = t.page.locator(".dag-table button", { hasText: "Expand" }).first();
    if (await expand.count()) {
      await expand.click();
      await until(
        async () => (await t.page.locator(".dag-table tbody tr").count()) > all.length,
        "more rows",
      );
    }
    await t.page.keyboard.press("Shift+T");
    await t.page.waitForSelector(".dag-picture canvas");
    for (const [kind, start] of [
      ["CSV", "node,kind,"],
      ["SVG", "<svg "],
    ]) {
      await t.page.locator("header button", { hasText: "Export" }).click();
      const [file] = await Promise.all([
        t.page.waitForEvent("download"),
        t.page.locator("[role=menuitem]", { hasText: kind }).first().click(),
      ]);
      const text = readFileSync(await file.path(), "utf8");
      check(text.startsWith(start), `the ${kind} begins with ${text.slice(0, 40)}`);
    }
  });

  suite.test("stands beside the timeline", async (t) => {
    await dag(t);
    await t.page.keyboard.press("\\");
    await t.page.waitForSelector(".halves .dag-picture canvas");
    await t.page.waitForSelector(".halves section[aria-label=Timeline] canvas");
    await still(t.page);
    const box = await t.page.locator(".dag-picture canvas").boundingBox();
    check(box.width > 300, `the DAG is ${box.width} wide`);
    await t.page.keyboard.press("\\");
    await until(async () => (await t.page.locator(".halves").count()) === 0, "one view again");
  });

  suite.test("is dark in the dark", { dark: true }, async (t) => {
    await dag(t, "theme=dark&layout=time");
    const bright = await t.page.evaluate(() => {
      const c = document.querySelector(".dag-picture canvas");
      const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
      let n = 0;
      for (let i = 0; i < d.length; i += 4)
        if (d[i + 3] > 200 && d[i] > 240 && d[i + 1] > 240 && d[i + 2] > 240) n++;
      return n / (d.length / 4);
    });
    check(bright < 0.05, `${Math.round(bright * 100)} % of the dark picture is white`);
  });

  suite.test(
    "folded strands open down to the last task, and close again",
    { files: [suite.runs.large], flags: ["--grain", "20us"] },
    async (t) => {
      if (!suite.runs.large) throw new Skip("no large trace");
      await dag(t);
      const { page } = t;
      const meta = (await answer(t.page, "meta")).runs[0];
      check(meta.has.inside && meta.folded_strands > 0, "nothing was folded");
      // A task a few levels deep inside a folded strand.
      let way = null;
      for (let id = 0; id < meta.strands && !way; id++) {
        const strand = await answer(page, `strand?run=a&id=${id}`);
        if (strand.folded < 20) continue;
        const { open } = await answer(
          page,
          `way?run=a&id=${id}&at=${Math.floor((strand.start + strand.end) / 2)}`,
        );
        if (open.filter((node) => node.includes(".")).length >= 3) way = open;
      }
      check(way, "no task lies three levels inside of a folded strand");
      // The last but one has a child, so it can be opened.
      const last = way[way.length - 2];
      await dag(t, `sel=group:a:${last}:0`);
      await until(() => node(page, last), "the task inside to be opened up to");
      await still(page);
      check(
        /inside a folded strand/.test(await t.text(".dag-side")),
        "the panel does not say where the task is",
      );
      const before = await count(page);
      await page.locator(".dag-picture canvas").focus();
      await page.keyboard.press("Enter");
      await until(async () => (await count(page)) > before, "the last task to open");
      await still(page);
      const strands = (await nodes(page)).filter((n) => n.key.startsWith(`${last.split(".")[0]}/`));
      check(strands.length > 0, "no strand inside is shown");
      const opened = await node(page, last);
      check(opened?.expanded, "the task is not expanded");
      await page.keyboard.press("Shift+Enter");
      await until(async () => (await count(page)) === before, "it to close again");
      // A strand inside a folded strand that is selected here is also selected in the timeline.
      await still(page);
      const chosen = (await nodes(page)).filter((n) => n.key.includes("/")).at(-1);
      await page.keyboard.press("f");
      await still(page);
      const at = await point(page, await node(page, chosen.key));
      await page.mouse.click(at.x, at.y);
      await until(
        async () => /strand:a:\d+:\d+:\d+/.test(decodeURIComponent(await t.hash())),
        "the strand inside to be selected",
      );
      await page.keyboard.press("q");
      await until(
        async () => /inside a folded strand/.test(await t.text(".drawer")),
        "what is known of it",
      );
      // Find it by its name in the panel.
      const name = last.slice(1);
      await page.keyboard.press("/");
      await page.keyboard.type(name);
      await page.keyboard.press("Enter");
      await until(
        async () => decodeURIComponent(await t.hash()).includes(`group:a:${last}`),
        "the search to find the task inside",
      );
      for (let i = 0; i < 6; i++) {
        await page.keyboard.press("Escape");
        await page.locator(".dag-picture canvas").focus();
        await page.keyboard.press("x");
        await still(page);
        check((await count(page)) <= MAX_NODES, "more nodes than the limit");
      }
    },
  );

  suite.test(
    "a strand folded while it was recorded, inside of a folded one, says so",
    { files: [suite.runs.twice], flags: ["--grain", "50us"] },
    async (t) => {
      await dag(t);
      const { page } = t;
      // Open what was folded during reading until a strand appears that itself stands for more
      // tasks.
      const found = await page.evaluate(async () => {
        const ask = (url) => fetch(`api/v1/${url}`).then((r) => r.json());
        const { strands } = (await ask("meta")).runs[0];
        for (let id = 0, tried = 0; id < strands && tried < 300; id++) {
          const strand = await ask(`strand?run=a&id=${id}`);
          if (strand.folded < 20 || strand.sums_alone) continue;
          const open = [`s${id}`];
          for (tried++; open.length > 0;) {
            const node = open.shift();
            for (const item of (await ask(`dag?run=a&ids=${node}`)).nodes[node].items) {
              if (item.kind === "strand" && item.folded > 0 && item.end > item.start) return item;
              if (item.kind !== "strand" && item.expandable && open.length < 20) open.push(item.id);
            }
          }
        }
        return null;
      });
      check(found, "nothing was folded twice");
      const selection = `sel=strand:a:${found.id}:${found.task}:${found.start}`;
      await dag(t, selection);
      await until(
        async () => /folded while it was recorded/.test(await t.text(".dag-side")),
        "the panel to say what it is",
        30_000,
      );
      check(
        /only|no more than sums/.test(await t.text(".dag-side")),
        "the panel does not say that nothing can be opened",
      );
      await page.keyboard.press("q");
      await until(
        async () => /the trace has only these sums/.test(await t.text(".drawer")),
        "the drawer to say what is known",
      );
      const wide = (found.end - found.start) * 4;
      await t.open(
        `tab=timeline&t=${Math.max(0, found.start - wide)},${found.end + wide}&${selection}`,
      );
      await until(
        () =>
          page.evaluate(
            ([start]) => {
              const inner = window.__timeline?.scene?.inner;
              return (
                inner &&
                Array.from({ length: inner.n }, (_, i) => i).some(
                  (i) => inner.start[i] === start && (inner.flags[i] & 72) === 72,
                )
              );
            },
            [found.start],
          ),
        "the box inside to be marked as folded",
        30_000,
      );
    },
  );

  suite.test(
    "what the recorder folded says that nothing is inside",
    { files: [suite.runs.large] },
    async (t) => {
      if (!suite.runs.large) throw new Skip("no large trace");
      // The same answers, except that one strand stands for tasks of which only the sums are known.
      await t.page.route(/api\/v1\/dag\?/, async (route) => {
        const response = await route.fetch();
        const answer = await response.json();
        for (const inside of Object.values(answer.nodes))
          for (const item of inside.items) if (item.kind === "strand") item.folded = 7;
        await route.fulfill({ response, json: answer });
      });
      await dag(t);
      const strand = (await nodes(t.page)).find((n) => n.kind === "strand" && !n.expanded);
      check(strand && !strand.expandable, "a strand without an inside can be expanded");
      const at = await point(t.page, strand);
      await t.page.mouse.click(at.x, at.y);
      await until(
        async () => /only their sums/.test(await t.text(".dag-side")),
        "the panel to say that nothing is inside",
      );
      await t.page.keyboard.press("Enter");
      await until(
        async () => /has only the sums of its/.test(await t.text("footer .status")),
        "the status line to say why",
      );
    },
  );
}
