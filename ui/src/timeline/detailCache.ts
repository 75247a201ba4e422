/** Details of strands, tasks, regions and findings, each requested once and cached. */

import type {
  FindingWords,
  InsideDetail,
  RegionSpan,
  Report,
  RunId,
  Spawned,
  StrandDetail,
  Summary,
  TaskDetail,
  Words,
} from "../data/contract";
import { requests } from "../data/requests";
import type { DataSource } from "../data/source";

type CachedDetail<T> = { value: T | null; why: string | null };

export class DetailCache {
  private known = new Map<string, CachedDetail<unknown> | "waiting">();

  constructor(
    private readonly run: RunId,
    private readonly source: DataSource,
    private readonly changed: () => void,
  ) {}

  /** The answer: undefined while it is in flight, null if there is none. */
  private ask<T>(url: string): T | null | undefined {
    const found = this.known.get(url);
    if (found === "waiting") return undefined;
    if (found) return found.value as T | null;
    if (this.known.size > 5000) this.known.clear();
    this.known.set(url, "waiting");
    this.source.json<T>(url).then(
      (value) => this.keep(url, { value, why: null }),
      (error: unknown) => {
        const why = (error as { why?: string }).why;
        // Temporary failures are forgotten, so that the next use requests it again.
        if (why === "loading" || why === "gone")
          setTimeout(() => (this.known.delete(url), this.changed()), 700);
        else
          this.keep(url, {
            value: null,
            why: error instanceof Error ? error.message : String(error),
          });
      },
    );
    return undefined;
  }

  private keep(url: string, value: CachedDetail<unknown>): void {
    this.known.set(url, value);
    this.changed();
  }

  strand(id: number): StrandDetail | null | undefined {
    return this.ask(requests.strand(this.run, id));
  }

  spawned(row: number, level: number, bin: number): Spawned | null | undefined {
    return this.ask(requests.spawned(this.run, row, level, bin));
  }

  inside(id: number, at: number): InsideDetail | null | undefined {
    return this.ask(requests.insideStrand(this.run, id, at));
  }

  insideTask(node: string): InsideDetail | null | undefined {
    return this.ask(requests.insideTask(this.run, node));
  }

  task(id: number): TaskDetail | null | undefined {
    return this.ask(requests.task(this.run, id));
  }

  regions(): RegionSpan[] {
    return this.ask<RegionSpan[]>(requests.regions(this.run)) ?? [];
  }

  finding(index: number): FindingWords | null {
    return this.ask<Summary>(requests.summary(this.run))?.findings?.[index] ?? null;
  }

  /** By pool, the report's number of workers that are enough. */
  poolSizes(): readonly number[] {
    const report = this.ask<Report>(requests.report(this.run));
    return (report?.pools ?? []).map((pool: { enough: number }) => pool.enough);
  }

  /** The answer as a promise, for code that must wait for it. */
  later<T>(url: string): Promise<T | null> {
    return this.source.json<T>(url).catch(() => null);
  }
}

export const plainText = (words: Words): string => words.map((w) => w.text).join("");
