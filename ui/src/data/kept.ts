/** An LRU cache of answers by URL, bounded in bytes and in number. */

import type { Planes } from "./planes";

const MAX_BYTES = 192 << 20;
const MAX_ANSWERS = 4096;

interface Kept {
  value: unknown;
  bytes: number;
}

export class Answers {
  private readonly kept = new Map<string, Kept>();
  private readonly flying = new Map<string, Promise<unknown>>();
  private bytes = 0;
  /** Grows with each `clear`: answers to earlier requests are not kept. */
  private era = 0;

  have(url: string): unknown | undefined {
    const hit = this.kept.get(url);
    if (!hit) return undefined;
    this.kept.delete(url);
    this.kept.set(url, hit);
    return hit.value;
  }

  /**
   * The answer from the cache, from a request in flight, or from a new request. Callers share a
   * request in flight; a caller's signal ends only its own waiting.
   */
  get<T>(
    url: string,
    ask: () => Promise<{ value: T; bytes: number }>,
    signal?: AbortSignal,
  ): Promise<T> {
    const hit = this.have(url);
    if (hit !== undefined) return Promise.resolve(hit as T);
    let flight = this.flying.get(url) as Promise<T> | undefined;
    if (!flight) {
      const era = this.era;
      const asked = ask()
        .then(({ value, bytes }) => {
          if (era === this.era) this.put(url, value, bytes);
          return value;
        })
        .finally(() => {
          if (this.flying.get(url) === asked) this.flying.delete(url);
        });
      flight = asked;
      // If every caller stopped waiting, a failure must not become an unhandled rejection.
      flight.catch(() => {});
      this.flying.set(url, flight);
    }
    return signal ? abortable(flight, signal) : flight;
  }

  private put(url: string, value: unknown, bytes: number) {
    this.kept.set(url, { value, bytes });
    this.bytes += bytes;
    for (const [oldest, { bytes: size }] of this.kept) {
      if (this.bytes <= MAX_BYTES && this.kept.size <= MAX_ANSWERS) break;
      if (oldest === url) break;
      this.kept.delete(oldest);
      this.bytes -= size;
    }
  }

  /** Removes the answers that depend on how far a run is loaded. */
  clear() {
    this.kept.clear();
    this.flying.clear();
    this.bytes = 0;
    this.era++;
  }
}

function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new DOMException("no longer needed", "AbortError"));
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

export function sizeOf(planes: Planes): number {
  return Object.values(planes.planes).reduce((sum, p) => sum + p.byteLength, 256);
}
