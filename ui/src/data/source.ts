/** Source of answers: a server (http.ts) or the page itself (embedded.ts). */

import type { Planes } from "./planes";

/** A missing answer, with a message for the user. */
export class Unavailable extends Error {
  constructor(
    message: string,
    /**
     * loading: ask again later; gone: the server does not answer; absent: this report does not
     * carry it; refused: the request was wrong.
     */
    readonly why: "loading" | "gone" | "absent" | "refused",
    readonly remedy: string | null = null,
  ) {
    super(message);
  }
}

/**
 * Answers requests written by requests.ts. Both implementations cache answers and share requests in
 * flight.
 */
export interface DataSource {
  json<T>(url: string, signal?: AbortSignal): Promise<T>;
  planes(url: string, signal?: AbortSignal): Promise<Planes>;
  /** The cached answer, if any, so that views can draw at once. */
  cached(url: string): unknown | undefined;
}
