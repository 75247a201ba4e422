/** Answers from the server that served the page. */

import { signal } from "@preact/signals";
import { stats } from "../store";
import type { Failure } from "./contract";
import { AnswerCache, sizeOf } from "./answerCache";
import { decodePlanes, type Planes } from "./planes";
import { Unavailable, type DataSource } from "./source";

/** False after a request without an answer, until a later one succeeds. */
export const reachable = signal(true);

export class HttpSource implements DataSource {
  private readonly answers = new AnswerCache();
  private probing = false;

  json<T>(url: string, wanted?: AbortSignal): Promise<T> {
    return this.answers.get(
      url,
      async () => {
        const text = await (await this.ask(url)).text();
        return { value: JSON.parse(text) as T, bytes: text.length * 2 };
      },
      wanted,
    );
  }

  planes(url: string, wanted?: AbortSignal): Promise<Planes> {
    return this.answers.get(
      url,
      async () => {
        const value = decodePlanes(await (await this.ask(url)).arrayBuffer());
        return { value, bytes: sizeOf(value) };
      },
      wanted,
    );
  }

  cached(url: string): unknown | undefined {
    return this.answers.cached(url);
  }

  /** Forgets all answers, because more of the runs is known now. */
  forget(): void {
    this.answers.clear();
  }

  /** Tells the server to stop or resume loading the runs. */
  tell(what: "stop" | "go"): void {
    fetch(`api/v1/${what}`, { method: "POST", credentials: "same-origin" }).catch(() =>
      this.gone(),
    );
  }

  private async ask(url: string): Promise<Response> {
    stats.requests++;
    let answer: Response;
    try {
      answer = await fetch(url, { credentials: "same-origin" });
    } catch {
      this.gone();
      throw new Unavailable(
        "The server does not answer.",
        "gone",
        "Start `workspan view` again. This page keeps its content.",
      );
    }
    reachable.value = true;
    if (answer.status === 200) return answer;
    let failure: Failure = { error: `The server answered ${answer.status}.`, remedy: null };
    try {
      failure = { ...failure, ...((await answer.json()) as Failure) };
    } catch {
      // The body is not JSON, so only the status is known.
    }
    throw new Unavailable(
      failure.error,
      failure.loading ? "loading" : answer.status === 404 ? "absent" : "refused",
      failure.remedy,
    );
  }

  /** Retries at intervals until the server answers again. */
  private gone() {
    reachable.value = false;
    if (this.probing) return;
    this.probing = true;
    const probe = () => {
      fetch("api/v1/meta", { credentials: "same-origin", cache: "no-store" })
        .then((r) => {
          if (!r.ok) throw new Error(String(r.status));
          this.probing = false;
          reachable.value = true;
        })
        .catch(() => setTimeout(probe, 2000));
    };
    setTimeout(probe, 2000);
  }
}
