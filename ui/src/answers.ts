/**
 * Answers for components: the latest known value, and new requests while a run loads or once the
 * server is back.
 */

import { effect, signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { Planes } from "./data/planes";
import { reachable } from "./data/http";
import { Unavailable } from "./data/source";
import { source } from "./store";

export type AnswerState<T> =
  { state: "waiting" } | { state: "there"; value: T } | { state: "failed"; error: Unavailable };

/** Loading was stopped by this page or another: no requests are repeated until it is false. */
export const loadingStopped = signal(false);
/**
 * Grows when earlier answers are outdated because more of a run is known. The old content stays
 * until the new answer arrives.
 */
export const answerEpoch = signal(0);

/** The JSON answer to `url`; with `null` nothing is requested and the state is waiting. */
export function useJson<T>(url: string | null): AnswerState<T> {
  return useAnswer(url, (u, s) => source.json<T>(u, s));
}

/** The answer to `url` as planes. */
export function usePlanes(url: string | null): AnswerState<Planes> {
  return useAnswer(url, (u, s) => source.planes(u, s));
}

function useAnswer<T>(
  url: string | null,
  ask: (url: string, signal: AbortSignal) => Promise<T>,
): AnswerState<T> {
  const [answer, setAnswer] = useState<{ url: string | null; asked: AnswerState<T> }>({
    url: null,
    asked: { state: "waiting" },
  });
  const now = answerEpoch.value;
  useEffect(() => {
    if (url === null) return;
    const end = new AbortController();
    let again: ReturnType<typeof setTimeout> | undefined;
    let watch: (() => void) | undefined;
    const go = () => {
      ask(url, end.signal).then(
        (value) => {
          if (!end.signal.aborted) setAnswer({ url, asked: { state: "there", value } });
        },
        (e: unknown) => {
          if (end.signal.aborted) return;
          const error =
            e instanceof Unavailable
              ? e
              : new Unavailable(e instanceof Error ? e.message : String(e), "refused");
          setAnswer({ url, asked: { state: "failed", error } });
          if (error.why === "loading")
            again = setTimeout(
              () => (loadingStopped.value ? waitFor(() => !loadingStopped.value) : go()),
              400,
            );
          if (error.why === "gone") waitFor(() => reachable.value);
        },
      );
    };
    const waitFor = (ready: () => boolean) => {
      let started = false;
      watch?.();
      watch = effect(() => {
        if (ready() && !started) {
          started = true;
          queueMicrotask(go);
        }
      });
    };
    go();
    return () => {
      end.abort();
      clearTimeout(again);
      watch?.();
    };
  }, [url, now]);
  if (url !== null && answer.url !== url) {
    const have = source.cached(url);
    return have === undefined ? { state: "waiting" } : { state: "there", value: have as T };
  }
  return answer.asked;
}

/** The value, or undefined until it arrives. */
export function valueOf<T>(asked: AnswerState<T>): T | undefined {
  return asked.state === "there" ? asked.value : undefined;
}
