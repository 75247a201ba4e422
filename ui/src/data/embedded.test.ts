import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { EmbeddedSource, split, unpack } from "./embedded";
import { encodePlanes } from "./mock";

function pack(answers: [string, 0 | 1, Uint8Array][]): Uint8Array {
  const parts: Uint8Array[] = [u32(answers.length)];
  for (const [key, kind, bytes] of answers) {
    const k = new TextEncoder().encode(key);
    parts.push(u32(k.length), k, new Uint8Array([kind]), u32(bytes.length), bytes);
  }
  return Buffer.concat(parts);
}
const u32 = (n: number) => {
  const b = new Uint8Array(4);
  new DataView(b.buffer).setUint32(0, n, true);
  return b;
};
const json = (v: unknown) => new TextEncoder().encode(JSON.stringify(v));
const base64 = (b: Uint8Array) => Buffer.from(gzipSync(b)).toString("base64");

const packed = pack([
  ["api/v1/meta", 0, json({ name: "ü" })],
  [
    "api/v1/rows?run=a&level=3&index=0",
    1,
    new Uint8Array(encodePlanes({ work: new Uint8Array([1, 255]), t: new Float64Array([2.5]) })),
  ],
]);

test("JSON and planes are returned by URL", async () => {
  const source = new EmbeddedSource(await unpack(base64(packed)));
  expect(source.cached("api/v1/meta")).toBeUndefined();
  expect(await source.json("api/v1/meta")).toEqual({ name: "ü" });
  expect(source.cached("api/v1/meta")).toEqual({ name: "ü" });
  const { planes } = await source.planes("api/v1/rows?run=a&level=3&index=0");
  expect([...planes.work!, ...planes.t!]).toEqual([1, 255, 2.5]);
});
test("line breaks in the base64 are ignored", async () => {
  expect((await unpack("\n" + base64(packed).replace(/(.{20})/g, "$1\n"))).size).toBe(2);
});
test("an answer that is not in the report is absent, with a remedy", async () => {
  const source = new EmbeddedSource(await unpack(base64(packed)));
  await expect(source.json("api/v1/whatif?run=a")).rejects.toMatchObject({ why: "absent" });
  await expect(source.planes("api/v1/meta")).rejects.toMatchObject({ why: "absent" });
});
test("damage is reported", async () => {
  await expect(unpack("not base64 at all !!")).rejects.toThrow("base64");
  await expect(unpack(Buffer.from("no gzip").toString("base64"))).rejects.toThrow("damaged");
  for (let n = 0; n < packed.length; n++)
    expect(() => split(new Uint8Array(packed.slice(0, n)).buffer)).toThrow(/cut short|empty/);
  const huge = pack([]);
  new DataView(huge.buffer, huge.byteOffset).setUint32(0, 0xffffffff, true);
  expect(() => split(new Uint8Array(huge).buffer)).toThrow("cut short");
});
