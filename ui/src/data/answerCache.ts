/** An LRU cache of answers by URL, bounded in bytes and in number. */

import type { Planes } from "./planes";

const MAX_BYTES = 192 << 20;
const MAX_ANSWERS = 4096;

interface CachedAnswer {
  value: unknown;
  bytes: number;
}

export class AnswerCache {
  private readonly entries = new Map<string, CachedAnswer>();
  private readonly inFlight = new Map<string, Promise<unknown>>();
  private bytes = 0;
  /** Grows with each `clear`: answers to earlier requests are not kept. */
  private epoch = 0;

  cached(url: string): unknown | undefined {
    const hit = this.entries.get(url);
    if (!hit) return undefined;
    this.entries.delete(url);
    this.entries.set(url, hit);
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
    const hit = this.cached(url);
    if (hit !== undefined) return Promise.resolve(hit as T);
    let flight = this.inFlight.get(url) as Promise<T> | undefined;
    if (!flight) {
      const era = this.epoch;
      const asked = ask()
        .then(({ value, bytes }) => {
          if (era === this.epoch) this.put(url, value, bytes);
          return value;
        })
        .finally(() => {
          if (this.inFlight.get(url) === asked) this.inFlight.delete(url);
        });
      flight = asked;
      // If every caller stopped waiting, a failure must not become an unhandled rejection.
      flight.catch(() => {});
      this.inFlight.set(url, flight);
    }
    return signal ? abortable(flight, signal) : flight;
  }

  private put(url: string, value: unknown, bytes: number) {
    this.entries.set(url, { value, bytes });
    this.bytes += bytes;
    for (const [oldest, { bytes: size }] of this.entries) {
      if (this.bytes <= MAX_BYTES && this.entries.size <= MAX_ANSWERS) break;
      if (oldest === url) break;
      this.entries.delete(oldest);
      this.bytes -= size;
    }
  }

  /** Removes the answers that depend on how far a run is loaded. */
  clear() {
    this.entries.clear();
    this.inFlight.clear();
    this.bytes = 0;
    this.epoch++;
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
