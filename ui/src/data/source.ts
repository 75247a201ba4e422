/** Where answers come from: a server (http.ts) or the page itself (embedded.ts). */

import type { Planes } from "./planes";

/** An answer that isn't there, with what to tell the user. */
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
 * Answers requests written by requests.ts. Both keep what they answered for a while, and one
 * request in flight is shared.
 */
export interface DataSource {
  json<T>(url: string, signal?: AbortSignal): Promise<T>;
  planes(url: string, signal?: AbortSignal): Promise<Planes>;
  /** The answer, when it was given before: views draw what they have at once. */
  have(url: string): unknown | undefined;
}
