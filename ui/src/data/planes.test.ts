import { expect, test } from "vitest";
import { encodePlanes } from "./mock";
import { decodePlanes } from "./planes";

const sample = {
  a: new Uint8Array([1, 2, 3]),
  b: new Uint16Array([65535, 1]),
  c: new Uint32Array([0xffffffff]),
  d: new Float32Array([0.5, -1]),
  e: new Float64Array([1e15 + 0.5, Number.NaN]),
};

test("every type is decoded with its values and the facts", () => {
  const { planes, facts } = decodePlanes(encodePlanes(sample, { total: 7, truncated: false }));
  expect(planes).toEqual(sample);
  expect(facts).toEqual({ total: 7, truncated: false });
});
test("empty planes are valid", () => {
  expect(decodePlanes(encodePlanes({ a: new Float64Array(0) })).planes.a).toEqual(
    new Float64Array(0),
  );
});
test("an answer that is not a tile is refused", () => {
  expect(() =>
    decodePlanes(new TextEncoder().encode("<!doctype html>").buffer as ArrayBuffer),
  ).toThrow("WSPV");
  expect(() => decodePlanes(new ArrayBuffer(3))).toThrow("WSPV");
});
test("every truncation is reported, and nothing is read beyond the end", () => {
  const whole = encodePlanes(sample);
  for (let n = 0; n < whole.byteLength; n++) {
    try {
      const { planes } = decodePlanes(whole.slice(0, n));
      // Only the final padding may be missing.
      expect(planes).toEqual(sample);
    } catch (e) {
      expect(e).toBeInstanceOf(Error);
    }
  }
});
