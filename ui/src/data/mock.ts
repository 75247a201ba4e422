/**
 * An invented run that answers like the server, for work on the page and for tests: `npm run dev`
 * shows it. The run is made in mock/run.ts; each view's answers are in a file of their own. Never
 * part of the built page.
 */

import { decodePlanes, type Plane, type PlaneType, type Planes } from "./planes";
import { Unavailable, type DataSource } from "./source";
import { dagAnswers } from "./mock/dag";
import { pageAnswers } from "./mock/answers";
import { timelineAnswers } from "./mock/timeline";

/**
 * Answers one kind of request from its parameters: an object for JSON, or `Planes`. Throws
 * Unavailable if there is no answer.
 */
export type Answer = (parameters: URLSearchParams) => unknown;

const answers: Record<string, Answer> = { ...pageAnswers, ...timelineAnswers, ...dagAnswers };

export class MockSource implements DataSource {
  private readonly kept = new Map<string, unknown>();

  json<T>(url: string): Promise<T> {
    return this.answer(url) as Promise<T>;
  }

  planes(url: string): Promise<Planes> {
    return this.answer(url) as Promise<Planes>;
  }

  cached(url: string): unknown | undefined {
    return this.kept.get(url);
  }

  private async answer(url: string): Promise<unknown> {
    if (this.kept.has(url)) return this.kept.get(url);
    const [path, query = ""] = url.split("?");
    const name = path!.replace("api/v1/", "");
    const make = answers[name];
    if (!make) throw new Unavailable(`The invented run has no ${name}.`, "absent");
    const value = make(new URLSearchParams(query));
    this.kept.set(url, value);
    return value;
  }
}

/** Planes encoded like the server's and decoded again, so that tests use real bytes. */
export function planesOf(
  planes: Record<string, Plane>,
  facts: Record<string, unknown> = {},
): Planes {
  return decodePlanes(encodePlanes(planes, facts));
}

export function encodePlanes(
  planes: Record<string, Plane>,
  facts: Record<string, unknown> = {},
): ArrayBuffer {
  const type = (p: Plane): PlaneType =>
    p instanceof Uint8Array
      ? "u8"
      : p instanceof Uint16Array
        ? "u16"
        : p instanceof Uint32Array
          ? "u32"
          : p instanceof Float32Array
            ? "f32"
            : "f64";
  const header = new TextEncoder().encode(
    JSON.stringify({
      planes: Object.entries(planes).map(([name, p]) => ({
        name,
        type: type(p),
        length: p.length,
      })),
      ...facts,
    }),
  );
  const eight = (n: number) => (n + 7) & ~7;
  const size = Object.values(planes).reduce(
    (at, p) => eight(at + p.byteLength),
    eight(8 + header.length),
  );
  const bytes = new Uint8Array(size);
  bytes.set([0x57, 0x53, 0x50, 0x56]);
  new DataView(bytes.buffer).setUint32(4, header.length, true);
  bytes.set(header, 8);
  let at = eight(8 + header.length);
  for (const p of Object.values(planes)) {
    bytes.set(new Uint8Array(p.buffer, p.byteOffset, p.byteLength), at);
    at = eight(at + p.byteLength);
  }
  return bytes.buffer;
}
