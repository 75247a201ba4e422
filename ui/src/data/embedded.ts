/**
 * Answers that the page itself carries, in `<script id="workspan-data">`: base64 of gzip of a count
 * (u32), then for each answer the length of its key (u32), key, kind (u8: 0 JSON, 1 planes), length
 * (u32), bytes; little-endian. This source never fetches.
 */

import { stats } from "../store";
import { decodePlanes, type Planes } from "./planes";
import { Unavailable, type DataSource } from "./source";

export interface EmbeddedAnswer {
  kind: "json" | "planes";
  bytes: Uint8Array;
}

/** Unpacks the script's text. Throws an Error that says which part is damaged. */
export async function unpack(base64: string): Promise<Map<string, EmbeddedAnswer>> {
  let packed: Uint8Array<ArrayBuffer>;
  try {
    const text = atob(base64.replace(/\s+/g, ""));
    packed = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  } catch {
    throw new Error("the data of this report is not base64");
  }
  let raw: ArrayBuffer;
  try {
    raw = await new Response(
      new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")),
    ).arrayBuffer();
  } catch {
    throw new Error("the data of this report is damaged or cut short");
  }
  return split(raw);
}

/** Splits the unpacked bytes into answers by key. */
export function split(raw: ArrayBuffer): Map<string, EmbeddedAnswer> {
  const view = new DataView(raw);
  const carried = new Map<string, EmbeddedAnswer>();
  let at = 0;
  const take = (n: number, what: string) => {
    if (at + n > raw.byteLength) throw new Error(`the data of this report is cut short in ${what}`);
    at += n;
    return at - n;
  };
  const text = new TextDecoder();
  const count = view.byteLength >= 4 ? view.getUint32(take(4, "its count"), true) : -1;
  if (count < 0) throw new Error("the data of this report is empty");
  for (let i = 0; i < count; i++) {
    const keyLength = view.getUint32(take(4, `answer ${i}`), true);
    const key = text.decode(
      new Uint8Array(raw, take(keyLength, `the key of answer ${i}`), keyLength),
    );
    const kind = view.getUint8(take(1, key));
    const length = view.getUint32(take(4, key), true);
    const bytes = new Uint8Array(raw, take(length, key), length);
    carried.set(key, { kind: kind === 1 ? "planes" : "json", bytes });
  }
  return carried;
}

export class EmbeddedSource implements DataSource {
  private readonly decoded = new Map<string, unknown>();

  constructor(private readonly carried: Map<string, EmbeddedAnswer>) {}

  static async open(script: HTMLElement): Promise<EmbeddedSource> {
    return new EmbeddedSource(await unpack(script.textContent ?? ""));
  }

  json<T>(url: string): Promise<T> {
    return this.answer(url, "json", (bytes) => JSON.parse(new TextDecoder().decode(bytes)) as T);
  }

  planes(url: string): Promise<Planes> {
    // A copy, because planes are read in place and need alignment.
    return this.answer(url, "planes", (bytes) => decodePlanes(bytes.slice().buffer));
  }

  cached(url: string): unknown | undefined {
    return this.decoded.get(url);
  }

  private async answer<T>(
    url: string,
    kind: EmbeddedAnswer["kind"],
    decode: (bytes: Uint8Array) => T,
  ): Promise<T> {
    stats.requests++;
    const known = this.decoded.get(url);
    if (known !== undefined) return known as T;
    const found = this.carried.get(url);
    if (!found || found.kind !== kind) {
      throw new Unavailable(
        "This report does not contain it.",
        "absent",
        "`workspan view` shows everything; `workspan html` with a larger `--budget` includes more.",
      );
    }
    const value = decode(found.bytes);
    this.decoded.set(url, value);
    return value;
  }
}
