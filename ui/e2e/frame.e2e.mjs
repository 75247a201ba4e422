/** The frame: keyboard use, themes, hash and history, palette, search, exports, small windows. */

import { readFileSync } from "node:fs";
import { check, until } from "./harness.mjs";

const TABS = [
  "summary",
  "timeline",
  "dag",
  "flame",
  "scalability",
  "sites",
  "whatif",
  "compare",
  "statistics",
  "sql",
];
/** Tabs with a number key: all except the last. */
const WITH_KEYS = TABS.slice(0, 9);

export default function (suite) {
  suite.both("a tour by keyboard alone", async (t) => {
    await t.open("tab=summary");
    for (const [i, tab] of WITH_KEYS.entries()) {
      await t.page.keyboard.press(String(i + 1));
      await until(
        async () => (await t.page.locator(`#tab-${tab}`).getAttribute("aria-selected")) === "true",
        `tab ${tab}`,
      );
      await t.page.waitForTimeout(150);
      check(
        (await t.page.locator("main").innerText()) !== "" ||
          (await t.page.locator("main canvas").count()) > 0,
        `${tab} is empty`,
      );
    }
    await t.page.keyboard.press("?");
    await t.page.getByRole("dialog", { name: "Keys and help" }).waitFor();
    check(
      (await t.text("[role=dialog]")).includes("Timeline"),
      "help has no section of the timeline",
    );
    await t.page.keyboard.press("Escape");
    await until(
      async () => (await t.page.locator("[role=dialog]").count()) === 0,
      "the help to close",
    );
    // The focus is visible on every element that Tab reaches.
    await t.page.keyboard.press("1");
    for (let i = 0; i < 12; i++) {
      await t.page.keyboard.press("Tab");
      const ring = await t.page.evaluate(() => {
        const e = document.activeElement;
        if (!e || e === document.body) return true;
        const s = getComputedStyle(e),
          p = e.closest("label") && getComputedStyle(e.closest("label"));
        return s.outlineStyle !== "none" || s.boxShadow !== "none" || (p && p.boxShadow !== "none");
      });
      check(
        ring,
        `no focus ring on ${await t.page.evaluate(() => document.activeElement.outerHTML.slice(0, 120))}`,
      );
    }
  });

  suite.both("keys typed into a field are text", async (t) => {
    await t.open("tab=summary");
    await t.page.keyboard.press("/");
    await t.page.keyboard.type("2q?3");
    check((await t.page.locator(".search input").inputValue()) === "2q?3", "keys were eaten");
    check((await t.hash()).includes("tab=summary"), "a digit changed the tab");
  });

  suite.both("search finds a site and a task, by keyboard", async (t) => {
    await t.open("tab=summary");
    const site = await t.page.evaluate(
      async () => document.querySelector(".onpath .fn")?.textContent ?? "",
    );
    await t.page.keyboard.press("/");
    await t.page.keyboard.type("root");
    await t.page.locator("#found [role=option]").first().waitFor();
    await t.page.keyboard.press("Enter");
    await t.hashHas(/sel=(site|code)/, `the selection (${site})`);
    await t.page.keyboard.press("/");
    await t.page.keyboard.press("ControlOrMeta+a");
    await t.page.keyboard.type("#1");
    await until(
      async () =>
        (await t.page.locator("#found [role=option]").first().innerText()).includes("task 1"),
      "task 1",
    );
    await t.page.keyboard.press("Enter");
    const hash = await t.hashHas("sel=task", "the task");
    check(hash.includes("sel=task:a:1"), hash);
    await t.page.waitForSelector(".drawer .stack li");
  });

  suite.both("the palette runs a command and gives the focus back", async (t) => {
    await t.open("tab=summary");
    await t.page.keyboard.press("ControlOrMeta+Shift+P");
    await t.page.getByRole("dialog", { name: "Commands" }).waitFor();
    await t.page.keyboard.type("scal");
    await t.page.keyboard.press("Enter");
    await t.hashHas("tab=scalability", "the command's tab");
    check((await t.page.locator("[role=dialog]").count()) === 0, "the palette stayed");
  });

  suite.both("back and forward go through what was looked at", async (t) => {
    await t.open("tab=summary");
    await t.page.keyboard.press("6");
    await t.page.locator(".sites tbody tr[data-row]").nth(1).click();
    const there = await t.hashHas(/tab=sites.*sel=/, "the selected row");
    await t.page.keyboard.press("5");
    await t.hashHas("tab=scalability", "scalability");
    await t.page.keyboard.press("[");
    await until(
      async () => (await t.hash()) === there,
      `the selected row again: ${there}, it is ${await t.hash()}`,
    );
    await t.page.goBack();
    await t.hashHas("tab=summary", "the summary");
    await t.page.goForward();
    await until(async () => (await t.hash()) === there, "forward");
    check(
      (await t.page.locator(".sites tr[aria-selected=true]").count()) > 0,
      "the selection did not come back",
    );
  });

  suite.both("a link opens the same view", async (t) => {
    const hash = "tab=sites&sel=site:a:1&color=worker&theme=dark";
    await t.open(hash);
    await until(
      async () => (await t.page.locator(".sites tr[aria-selected=true]").count()) === 1,
      "the selected site",
    );
    for (const part of ["tab=sites", "sel=site:a:1", "color=worker", "theme=dark"])
      await t.hashHas(part);
  });

  suite.both("nonsense in the hash does no harm", async (t) => {
    await t.open("tab=nope&sel=strand:a:99999999:1&t=9,1&run=zz&dag=%E0%A4%A");
    await t.page.waitForSelector(".verdict");
  });

  for (const [name, options, want] of [
    ["system dark", { dark: true }, "dark"],
    ["system light", {}, "light"],
  ])
    suite.test(`theme: ${name}`, options, async (t) => {
      await t.page.goto("about:blank");
      await t.page.goto(t.base);
      await t.page.waitForSelector(".verdict");
      check(
        (await t.page.evaluate(() => document.documentElement.dataset.theme)) === want,
        "not the system's theme",
      );
      const [fg, bg] = await t.page.evaluate(() => [
        getComputedStyle(document.querySelector(".verdict")).color,
        getComputedStyle(document.querySelector("main")).backgroundColor,
      ]);
      const light = (c) =>
        c
          .match(/\d+/g)
          .slice(0, 3)
          .reduce((n, v) => n + Number(v), 0);
      check(want === "dark" ? light(fg) > light(bg) : light(fg) < light(bg), `${fg} on ${bg}`);
    });

  suite.test("the theme button goes round, and the link keeps it", async (t) => {
    await t.open("tab=summary");
    await t.page.getByRole("button", { name: /^Theme:/ }).click();
    await t.hashHas("theme=dark", "dark");
    check(
      (await t.page.evaluate(() => document.documentElement.dataset.theme)) === "dark",
      "not dark",
    );
  });

  suite.test("less motion: nothing moves by itself", { still: true }, async (t) => {
    await t.open("tab=summary");
    await t.page.waitForSelector(".verdict");
    const moving = await t.page.evaluate(
      () => document.getAnimations().filter((a) => a.playState === "running").length,
    );
    check(moving === 0, `${moving} animations run`);
  });

  for (const kind of ["png", "svg", "csv"])
    suite.both(`export: ${kind}`, async (t) => {
      await t.open("tab=sites");
      await t.page.locator(".sites tbody tr[data-row]").first().waitFor();
      await t.page.getByRole("button", { name: "Export this view" }).click();
      const [download] = await Promise.all([
        t.page.waitForEvent("download"),
        t.page.getByRole("menuitem", { name: new RegExp(`^${kind}, (as|the)`, "i") }).click(),
      ]);
      const bytes = readFileSync(await download.path());
      if (kind === "png") {
        check(
          bytes.subarray(1, 4).toString() === "PNG" && bytes.length > 20_000,
          `no picture: ${bytes.length} bytes`,
        );
        // The first chunk holds the width, which is twice the view's, for print.
        const view = await t.page.locator("main").boundingBox();
        const width = bytes.readUInt32BE(16);
        check(width >= 1.9 * view.width, `${width} pixels of a view of ${view.width}`);
      }
      if (kind === "svg")
        check(bytes.toString().startsWith("<svg") && bytes.toString().includes("root"), "no SVG");
      if (kind === "csv")
        check(
          bytes.toString().split("\n").length > 3 && bytes.toString().includes("work"),
          "no table",
        );
    });

  suite.test(
    "export: each view as a paper's column and as a slide",
    { files: [suite.runs.before, suite.runs.after], slow: 2 },
    async (t) => {
      const saved = async (words) => {
        await t.page.getByRole("button", { name: "Export this view" }).click();
        const [download] = await Promise.all([
          t.page.waitForEvent("download"),
          t.page.getByRole("menuitem", { name: words }).click(),
        ]);
        return readFileSync(await download.path());
      };
      const window = () =>
        t.page.evaluate(() => ({
          wide: document.querySelector(".frame").clientWidth,
          theme: document.documentElement.dataset.theme,
          named: document.documentElement.className,
        }));
      for (const tab of TABS) {
        await t.open(`tab=${tab}&theme=dark`);
        await t.page.waitForLoadState("networkidle");
        const before = await window();
        for (const [words, width, height] of [
          ["SVG, a paper's column", 252, 180],
          ["SVG, a slide", 960, 540],
        ]) {
          const svg = (await saved(words)).toString();
          const [, w, h] = /<svg[^>]* width="(\d+)pt" height="(\d+)pt"/.exec(svg) ?? [];
          check(Number(w) === width, `${tab}: ${words} is ${w} points wide`);
          check(Number(h) >= height - 1, `${tab}: ${words} is ${h} points high`);
          // Timeline and DAG fill a slide; nothing else has to be higher than the view's content.
          if (tab === "dag") check(Number(h) <= height + 1, `${tab}: ${h} points high`);
          // The source beside the results must not make it as high as a whole file.
          if (tab === "whatif" && words.endsWith("slide"))
            check(Number(h) <= 2 * height, `${tab}: ${h} points high`);
          check(svg.includes("workers busy"), `${tab}: ${words} has no heading`);
        }
        const after = await window();
        check(
          JSON.stringify(after) === JSON.stringify(before),
          `${tab}: ${JSON.stringify(after)} was ${JSON.stringify(before)}`,
        );
      }
      const png = await saved("PNG, a paper's column");
      check(png.readUInt32BE(16) === 4 * 252, `${png.readUInt32BE(16)} pixels wide`);
    },
  );

  suite.test(
    "no tab at 1024x700 scrolls sideways",
    { viewport: { width: 1024, height: 700 } },
    async (t) => {
      for (const tab of TABS) {
        await t.go(`tab=${tab}`);
        await t.page.waitForTimeout(700);
        const wide = await t.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        check(wide <= 0, `${tab}: ${wide} px too wide`);
        const out = await t.page.evaluate(() =>
          [...document.querySelectorAll("header > *, [role=tab]")]
            .filter((e) => e.getBoundingClientRect().right > innerWidth + 1)
            .map((e) => e.textContent.slice(0, 30)),
        );
        check(out.length === 0, `${tab}: outside of the window: ${out}`);
      }
    },
  );

  suite.test(
    "everything that says, takes or shows something has a name for a screen reader",
    { files: [suite.runs.before, suite.runs.after] },
    async (t) => {
      const named = new Set([
        "button",
        "link",
        "checkbox",
        "radio",
        "tab",
        "combobox",
        "textbox",
        "searchbox",
        "slider",
        "menuitem",
        "option",
        "image",
        "figure",
        "application",
        "table",
        "dialog",
        "tabpanel",
      ]);
      const devtools = await t.page.context().newCDPSession(t.page);
      for (const tab of TABS) {
        await t.go(`tab=${tab}`);
        await t.page.waitForLoadState("networkidle");
        const { nodes } = await devtools.send("Accessibility.getFullAXTree");
        const there = nodes.filter((n) => !n.ignored && named.has(n.role?.value));
        check(there.length > 10, `${tab}: ${there.length} nodes`);
        const nameless = there.filter((n) => !n.name?.value?.trim()).map((n) => n.role.value);
        check(nameless.length === 0, `${tab}: ${nameless.join(", ")} without a name`);
      }
    },
  );
}
