/** Decodes binary answers (contract.ts). */

export type PlaneType = "u8" | "u16" | "u32" | "f32" | "f64";
export type Plane = Uint8Array | Uint16Array | Uint32Array | Float32Array | Float64Array;

/** The planes of an answer by name, and the facts of its header. */
export interface Planes {
  facts: Record<string, any>;
  planes: Record<string, Plane>;
}

const MAGIC = 0x56505357; // "WSPV", little-endian

const WIDTH: Record<PlaneType, number> = { u8: 1, u16: 2, u32: 4, f32: 4, f64: 8 };

/** Throws an Error that says what is wrong if the bytes are not planes. */
export function decodePlanes(bytes: ArrayBuffer): Planes {
  const view = new DataView(bytes);
  if (bytes.byteLength < 8 || view.getUint32(0, true) !== MAGIC)
    throw new Error("not a tile: the answer does not start with WSPV");
  const length = view.getUint32(4, true);
  if (8 + length > bytes.byteLength) throw new Error("tile cut short in its header");
  const { planes: described, ...facts } = JSON.parse(
    new TextDecoder().decode(new Uint8Array(bytes, 8, length)),
  );
  const planes: Record<string, Plane> = {};
  let at = eight(8 + length);
  for (const { name, type, length: count } of described as {
    name: string;
    type: PlaneType;
    length: number;
  }[]) {
    const size = WIDTH[type] * count;
    if (!(at + size <= bytes.byteLength)) throw new Error(`tile cut short in plane ${name}`);
    planes[name] =
      type === "u8"
        ? new Uint8Array(bytes, at, count)
        : type === "u16"
          ? new Uint16Array(bytes, at, count)
          : type === "u32"
            ? new Uint32Array(bytes, at, count)
            : type === "f32"
              ? new Float32Array(bytes, at, count)
              : new Float64Array(bytes, at, count);
    at = eight(at + size);
  }
  return { facts, planes };
}

function eight(n: number): number {
  return (n + 7) & ~7;
}
