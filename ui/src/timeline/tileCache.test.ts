import { describe, expect, it } from "vitest";
import type { Planes } from "../data/planes";
import { Unavailable } from "../data/source";
import type { DataSource } from "../data/source";
import { TileCache } from "./tileCache";
import { ancestorIndex, tileIndices, levelFor, tileSpan, wantedTiles } from "./tileGrid";
import type { TileId } from "./tileGrid";

describe("tiling", () => {
  it("takes the level whose bins are half a pixel to one", () => {
    for (const perPixel of [1.5, 2, 3, 1000, 123456]) {
      const bin = 2 ** levelFor(perPixel, 40);
      expect(bin).toBeLessThanOrEqual(perPixel);
      expect(bin).toBeGreaterThan(perPixel / 2);
    }
    expect(levelFor(0.01, 40)).toBe(0);
    expect(levelFor(1e12, 12)).toBe(12);
  });

  it("covers exactly the window inside the run", () => {
    expect(tileIndices(0, { t0: 1023, t1: 1025 }, 1e6)).toEqual([0, 1]);
    expect(tileIndices(0, { t0: 1024, t1: 2048 }, 1e6)).toEqual([1, 1]);
    expect(tileIndices(3, { t0: 0, t1: 1e9 }, 8192)).toEqual([0, 0]);
    expect(tileIndices(0, { t0: 0, t1: 0 }, 0)).toEqual([0, 0]);
  });

  it("requests the visible tiles first, then those on either side", () => {
    const list = wantedTiles("rows", 0, { t0: 10240, t1: 12288 }, 1e6);
    expect(
      list
        .slice(0, 2)
        .map((t) => t.id.index)
        .sort(),
    ).toEqual([10, 11]);
    expect(list.map((t) => t.id.index).sort((a, b) => a - b)).toEqual([8, 9, 10, 11, 12, 13]);
    expect(list.filter((t) => t.visible).length).toBe(2);
  });

  it("an ancestor covers its descendants", () => {
    const own = tileSpan(2, 13);
    const above = tileSpan(5, ancestorIndex(2, 13, 5));
    expect(above.t0).toBeLessThanOrEqual(own.t0);
    expect(above.t1).toBeGreaterThanOrEqual(own.t1);
  });
});

/** A source that answers on demand. */
class Held implements DataSource {
  open = new Map<
    string,
    { signal: AbortSignal | undefined; answer: (p: Planes) => void; fail: (e: Error) => void }
  >();
  json<T>(): Promise<T> {
    return Promise.reject(new Error("not asked"));
  }
  planes(url: string, signal?: AbortSignal): Promise<Planes> {
    return new Promise((answer, fail) => {
      this.open.set(url, { signal, answer, fail });
      signal?.addEventListener("abort", () => fail(new Error("aborted")));
    });
  }
  cached(): undefined {
    return undefined;
  }
}

const id = (level: number, index: number): TileId => ({ kind: "rows", level, index });
const planes = (): Planes => ({ facts: {}, planes: {} });
const turn = () => new Promise((done) => setTimeout(done));

describe("TileCache", () => {
  it("aborts requests that are no longer wanted and keeps the others", async () => {
    const source = new Held();
    const cache = new TileCache("a", source, () => {});
    cache.want([id(3, 0), id(3, 1)], 8);
    cache.want([id(3, 1)], 8);
    const [gone, kept] = [...source.open.values()];
    expect(gone!.signal?.aborted).toBe(true);
    expect(kept!.signal?.aborted).toBe(false);
    kept!.answer(planes());
    await turn();
    expect(cache.get(id(3, 1))?.data).toBeTruthy();
    expect(cache.get(id(3, 0))).toBeUndefined();
    cache.want([id(3, 0)], 8);
    expect(source.open.size).toBe(2);
    expect(cache.requested).toBe(3);
  });

  it("sends a few requests at a time, in the order of the list", () => {
    const source = new Held();
    const cache = new TileCache("a", source, () => {});
    cache.want(
      Array.from({ length: 30 }, (_, i) => id(0, i)),
      8,
    );
    expect(source.open.size).toBe(6);
    expect([...source.open.keys()][0]).toContain("index=0");
  });

  it("substitutes a coarser tile or finer ones while a tile loads", async () => {
    const source = new Held();
    const cache = new TileCache("a", source, () => {});
    cache.want([id(5, 0), id(2, 1)], 8);
    for (const flight of source.open.values()) flight.answer(planes());
    await turn();
    expect(cache.substitute(id(3, 2), 8)?.level).toBe(5);
    expect(cache.parts(id(3, 0)).map((t) => [t.level, t.index])).toEqual([[2, 1]]);
    expect(cache.substitute(id(3, 9), 8)).toBeUndefined();
  });

  it("requests the next coarser tile if a report has no finer one, and reports the finest level", async () => {
    const source = new Held();
    const cache = new TileCache("a", source, () => {});
    const absent = () => new Unavailable("not carried", "absent");
    cache.want([id(3, 5)], 8);
    [...source.open.values()].at(-1)!.fail(absent());
    await turn();
    cache.want([id(3, 5)], 8);
    expect([...source.open.keys()].at(-1)).toContain("level=4&index=2");
    [...source.open.values()].at(-1)!.fail(absent());
    await turn();
    cache.want([id(3, 5)], 8);
    expect([...source.open.keys()].at(-1)).toContain("level=5&index=1");
    [...source.open.values()].at(-1)!.answer(planes());
    await turn();
    expect(cache.detailLimitAt("rows", 3, 5 * 8192, 6 * 8192, 8)).toBe(5);
    expect(cache.detailLimitAt("rows", 6, 0, 10, 8)).toBe(6);
  });

  it("repeats a failed request later", async () => {
    const source = new Held();
    let now = 0;
    const cache = new TileCache(
      "a",
      source,
      () => {},
      () => now,
    );
    cache.want([id(0, 0)], 8);
    [...source.open.values()][0]!.fail(new Unavailable("no answer", "gone"));
    await turn();
    expect(cache.failure?.message).toBe("no answer");
    cache.want([id(0, 0)], 8);
    expect(cache.requested).toBe(1);
    now = 300;
    cache.want([id(0, 0)], 8);
    expect(cache.requested).toBe(2);
    cache.close();
  });
});
