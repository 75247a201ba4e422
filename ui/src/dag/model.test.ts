import { describe, expect, it } from "vitest";
import { buildModel, entryBox, exitBox, nearestShown } from "./model";
import { folded, syntheticDag, strand } from "./syntheticDag.test-help";
import {
  withoutInnermost,
  expandableByWeight,
  collapseToLimit,
  withoutNode,
  firstPicture,
} from "./expandedSet";
import { neighboursByLink, neighbourOf } from "./neighbours";
import { place } from "./layout";
import { nodeAt } from "./hitTest";
import { onScreen } from "./routes";
import { morph, rects } from "./morph";
import type { DagInside } from "../data/contract";

const join = (critical: "a" | "b"): Map<string, DagInside> =>
  new Map([
    ["r", { items: [folded(0, 0, 100, { critical: true })] }],
    [
      "t0",
      {
        items: [
          strand(0, 0, 0, 10, { creates: ["t1", "t2"], critical: true, ready_path: true }),
          folded(1, 10, 40, { critical: critical === "a" }),
          folded(2, 12, 60, { critical: critical === "b" }),
          strand(1, 0, 60, 100, { joins: ["t1", "t2"], critical: true, ready_path: true }),
        ],
      },
    ],
  ]);

describe("links", () => {
  it("follow the critical path through its child, and have the slack of the other", () => {
    const m = buildModel(join("b"), new Set(["r", "t0"]));
    const text = m.links.map(
      (l) =>
        `${l.kind} ${l.from.key} ${l.to.key}${l.critical ? " critical" : ""}${l.ready ? " ready" : ""} ${l.slack}`,
    );
    expect(text.sort()).toEqual([
      "create s0 t1 0",
      "create s0 t2 critical ready 0",
      "end t1 s1 20",
      "end t2 s1 critical ready 0",
    ]);
  });

  it("follow a path through a dependence between siblings, without the fork's edge to the later one", () => {
    const loaded: Map<string, DagInside> = new Map([
      ["r", { items: [folded(0, 0, 100)] }],
      [
        "t0",
        {
          items: [
            strand(0, 0, 0, 10, { creates: ["t1"], critical: true }),
            folded(1, 10, 40, { critical: true }),
            strand(1, 0, 10, 11, { creates: ["t2"] }),
            folded(2, 40, 80, { critical: true, depends: ["t1"] }),
            strand(2, 0, 80, 100, { joins: ["t1", "t2"], critical: true }),
          ],
        },
      ],
    ]);
    const m = buildModel(loaded, new Set(["r", "t0"]));
    expect(
      m.links.filter((l) => l.critical).map((l) => `${l.kind} ${l.from.key} ${l.to.key}`),
    ).toEqual(["create s0 t1", "depend t1 t2", "end t2 s2"]);
  });

  it("lead into the first strand of an expanded node and out of its last one", () => {
    const run = syntheticDag(3);
    const m = buildModel(run.loaded, new Set(run.loaded.keys()));
    for (const f of m.frames) {
      if (f.kind !== "task") continue;
      expect(entryBox(f).strand?.task).toBe(f.folded!.task);
      expect(exitBox(f).strand?.end_kind).toBe(4);
    }
  });

  it("are the same if an item is listed twice", () => {
    const loaded = join("a");
    const items = loaded.get("t0")!.items;
    loaded.set("t0", { items: [...items, ...items] });
    expect(buildModel(loaded, new Set(["r", "t0"])).boxes.length).toBe(4);
  });

  it("ignore unknown ids and links to the node itself", () => {
    const loaded: Map<string, DagInside> = new Map([
      ["r", { items: [folded(0, 0, 9, { depends: ["t0", "t77"] })] }],
      [
        "t0",
        { items: [strand(0, 0, 0, 9, { creates: ["t0", "x"], joins: ["t9"], signals: [0, 5] })] },
      ],
    ]);
    const m = buildModel(loaded, new Set(["r", "t0"]));
    place(m, { layout: "time", power: 1, elapsed: 9 });
    expect(m.boxes.length).toBe(1);
  });
});

describe("expanding", () => {
  it("expands a level and collapses it again", () => {
    const run = syntheticDag(11);
    const first = new Set(["r", "t0"]);
    const m = buildModel(run.loaded, first);
    const next = expandableByWeight(m);
    expect(next.length).toBeGreaterThan(0);
    const more = buildModel(run.loaded, new Set([...first, ...next]));
    expect(more.boxes.length).toBeGreaterThan(m.boxes.length);
    expect([...withoutInnermost(more)].sort()).toEqual(["r", "t0"]);
  });

  it("collapsing a node collapses the nodes inside it", () => {
    const run = syntheticDag(11);
    const all = new Set(run.loaded.keys());
    const m = buildModel(run.loaded, all);
    expect([...withoutNode(m, all, "t0")].filter((k) => m.byKey.get(k)?.inside)).toEqual(["r"]);
  });

  it("collapses the least visible nodes down to the limit, but not the requested ones", () => {
    const run = syntheticDag(5, 6);
    const all = new Set(run.loaded.keys());
    const m = buildModel(run.loaded, all);
    const deepest = m.frames.reduce((a, b) => (b.depth > a.depth ? b : a));
    const most = Math.floor(m.boxes.length / 3);
    const { expanded, folded } = collapseToLimit(
      m,
      all,
      new Set([deepest.key]),
      (n) => n.index,
      most,
    );
    const after = buildModel(run.loaded, expanded);
    expect(folded).toBeGreaterThan(0);
    expect(after.boxes.length).toBeLessThanOrEqual(most);
    expect(after.byKey.get(deepest.key)?.inside).not.toBeNull();
  });

  it("starts with a picture of some nodes, including the critical path", async () => {
    const run = syntheticDag(5, 6);
    const asked: string[] = [];
    const expanded = await firstPicture(
      run.loaded,
      async (ids) => void asked.push(...ids),
      () => true,
    );
    const m = buildModel(run.loaded, expanded);
    expect(m.boxes.length).toBeGreaterThan(8);
    expect(m.boxes.length).toBeLessThanOrEqual(44);
    expect(asked[0]).toBe("r");
  });

  it("finds the nearest shown node around a task", () => {
    const run = syntheticDag(11);
    const m = buildModel(run.loaded, new Set(["r", "t0"]));
    const child = m.byKey.get("t0")!.inside!.find((n) => n.kind === "task")!;
    expect(nearestShown(m, ["t0", child.key, "t9999", "t10000"])).toBe(child);
  });
});

describe("walking", () => {
  it("reaches every box along edges or sideways", () => {
    const run = syntheticDag(23, 3, false);
    const m = buildModel(run.loaded, new Set(run.loaded.keys()));
    place(m, { layout: "structure", power: 1, elapsed: run.elapsed });
    const links = neighboursByLink(m);
    const seen = new Set([m.boxes[0]!]);
    const open = [m.boxes[0]!];
    while (open.length > 0) {
      const n = open.pop()!;
      for (const way of ["down", "up", "left", "right"] as const) {
        const to = neighbourOf(m, links, n, way);
        if (to && !seen.has(to)) {
          seen.add(to);
          open.push(to);
        }
      }
    }
    expect(seen.size).toBeGreaterThan(m.boxes.length * 0.9);
  });

  it("goes down the critical side of a fork", () => {
    const m = buildModel(join("b"), new Set(["r", "t0"]));
    place(m, { layout: "structure", power: 1, elapsed: 100 });
    const links = neighboursByLink(m);
    const [s0, t2, s1] = ["s0", "t2", "s1"].map((k) => m.byKey.get(k)!);
    expect(neighbourOf(m, links, s0!, "down")).toBe(t2);
    expect(neighbourOf(m, links, t2!, "down")).toBe(s1);
    expect(neighbourOf(m, links, s1!, "up")).toBe(t2);
    expect(neighbourOf(m, links, t2!, "left")?.key).toBe("t1");
  });
});

describe("on the screen", () => {
  it("hits the node under the point or a sliver near it, and nothing elsewhere", () => {
    const m = buildModel(join("a"), new Set(["r", "t0"]));
    place(m, { layout: "structure", power: 1, elapsed: 100 });
    const where = onScreen(
      (n) => n,
      { kx: 1, ky: 1, tx: 5, ty: 5 },
      () => false,
    );
    for (const n of m.boxes) {
      const b = where(n);
      expect(nodeAt(m, where, b.x + b.w / 2, b.y + b.h / 2)).toBe(n);
    }
    expect(nodeAt(m, where, -100, -100)).toBeNull();
    const far = onScreen(
      (n) => n,
      { kx: 0.01, ky: 0.01, tx: 5, ty: 5 },
      () => false,
    );
    expect(nodeAt(m, far, 8, 8)).not.toBeNull();
  });

  it("moves each node from its old place to its new one, and new nodes out of their container", () => {
    const run = syntheticDag(11);
    const a = buildModel(run.loaded, new Set(["r", "t0"]));
    place(a, { layout: "structure", power: 1, elapsed: run.elapsed });
    const old = rects(a, (n) => n);
    const opened = a.boxes.find(
      (n) => n.kind === "task" && (run.loaded.get(n.key)?.items.length ?? 0) > 1,
    )!;
    const b = buildModel(run.loaded, new Set(["r", "t0", opened.key]));
    place(b, { layout: "structure", power: 1, elapsed: run.elapsed });
    const start = morph(old, 0),
      end = morph(old, 1),
      mid = morph(old, 0.5);
    const was = old.get(opened.key)!;
    for (const n of b.byKey.get(opened.key)!.inside!) {
      const r = start(n);
      expect(r.x).toBeGreaterThanOrEqual(was.x - 0.01);
      expect(r.x + r.w).toBeLessThanOrEqual(was.x + was.w + 0.01);
      expect(r.y + r.h).toBeLessThanOrEqual(was.y + was.h + 0.01);
    }
    for (const n of b.boxes) {
      expect(end(n)).toBe(n);
      const known = old.get(n.key);
      if (known) expect(start(n).x).toBeCloseTo(known.x);
      expect(mid(n).x).toBeGreaterThanOrEqual(Math.min(start(n).x, n.x) - 0.01);
      expect(mid(n).x).toBeLessThanOrEqual(Math.max(start(n).x, n.x) + 0.01);
    }
  });
});

describe("an opened section", () => {
  const section = folded(0, 10, 60, {
    kind: "group",
    id: "g0.1.4",
    section: true,
    critical: true,
  });
  const loaded = new Map([
    ["r", { items: [folded(0, 0, 100)] }],
    [
      "t0",
      {
        items: [
          strand(0, 0, 0, 10, { critical: true, ready_path: true }),
          section,
          strand(9, 0, 60, 100, { joins: ["g0.1.4"], critical: true, ready_path: true }),
        ],
      },
    ],
    [
      "g0.1.4",
      {
        items: [
          strand(1, 0, 10, 12, { creates: ["t1", "t2"], critical: true, ready_path: true }),
          folded(1, 13, 60),
          folded(2, 14, 50, { critical: true }),
        ],
      },
    ],
  ]);
  const links = (open: string[]) =>
    buildModel(loaded, new Set(["r", "t0", ...open])).links.map(
      (l) =>
        `${l.from.key} ${l.kind} ${l.to.key}${l.critical ? " critical" : ""}${l.ready ? " ready" : ""}`,
    );

  it("hands the paths on through its tasks to the strand that waits for them", () => {
    const open = links(["g0.1.4"]);
    expect(open).toContain("s0 continue g0.1.4 critical ready");
    expect(open).toContain("s1 create t2 critical");
    expect(open).toContain("t2 end s9 critical");
    expect(open).toContain("s1 create t1 ready");
    expect(open).toContain("t1 end s9 ready");
    // Nothing leads past it.
    expect(open.filter((l) => /s9/.test(l))).toHaveLength(2);
  });

  it("is one node on the paths while it is closed", () => {
    expect(links([])).toContain("s0 order g0.1.4 critical ready");
    expect(links([])).toContain("g0.1.4 end s9 critical ready");
  });
});
