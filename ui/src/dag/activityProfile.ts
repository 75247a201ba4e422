/** What ran when, beside the DAG: coarse for the whole run, and finer for the visible part. */

import { signal } from "@preact/signals";
import { TILE_BINS, type RunMeta } from "../data/contract";
import { requests } from "../data/requests";
import { Unavailable, type DataSource } from "../data/source";
import type { WorkersByActivity } from "./timeStrip";
import type { Camera } from "./camera";
import type { LayoutResult } from "./layout";

export class ActivityProfile {
  readonly running = signal<WorkersByActivity | null>(null);

  constructor(
    private readonly source: DataSource,
    private readonly run: RunMeta,
    private readonly wake: () => void,
  ) {}

  /** Loads the whole run's bins once; if a report lacks them, the strip stays empty. */
  load(): void {
    if (this.running.peek()) return;
    void this.tile(this.run.top_level, 0).then(
      (r) => (this.running.value = r),
      (e: unknown) => {
        if (!(e instanceof Unavailable)) throw e;
      },
    );
  }

  private async tile(level: number, index: number): Promise<WorkersByActivity> {
    const { planes } = await this.source.planes(requests.profile(this.run.id, level, index));
    const ticksPerBin = 2 ** level;
    const {
      running,
      descheduled,
      blocked,
      delay,
      no_work_sched: sched,
      unread,
    } = planes as Record<string, ArrayLike<number>>;
    return {
      workers: {
        running: running!,
        descheduled: descheduled!,
        blocked: blocked!,
        delay: delay!,
        sched: sched!,
        unread: unread ?? new Float32Array(sched!.length),
      },
      ticksPerBin,
      from: index * TILE_BINS * ticksPerBin,
    };
  }

  private fineTiles: { key: string; tiles: WorkersByActivity[] } = { key: "", tiles: [] };
  private refineTimer = 0;

  /** What ran, as fine as the picture shows it: the visible part first, then the whole run. */
  tiles(): readonly WorkersByActivity[] {
    const whole = this.running.value;
    return whole ? [...this.fineTiles.tiles, whole] : [];
  }

  /** Requests finer bins of the visible part once the picture stands still. */
  refine(placed: LayoutResult, c: Camera, height: number): void {
    const scale = placed.time;
    if (!scale) return;
    const t0 = Math.max(0, scale.t(-c.ty / c.ky)),
      t1 = Math.min(this.run.elapsed, scale.t((height - c.ty) / c.ky));
    const level = Math.max(0, Math.ceil(Math.log2(Math.max(1, t1 - t0) / TILE_BINS)));
    const width = TILE_BINS * 2 ** level;
    const first = Math.floor(t0 / width),
      last = Math.floor(t1 / width);
    const key = `${level}:${first}:${last}`;
    if (level >= this.run.top_level || key === this.fineTiles.key || !(t1 > t0) || last - first > 3)
      return;
    window.clearTimeout(this.refineTimer);
    this.refineTimer = window.setTimeout(() => {
      this.fineTiles.key = key;
      const wanted = Array.from({ length: last - first + 1 }, (_, i) =>
        this.tile(level, first + i),
      );
      void Promise.allSettled(wanted).then((got) => {
        // If a report lacks this level, the whole run's bins stay.
        if (this.fineTiles.key !== key) return;
        this.fineTiles.tiles = got.flatMap((g) => (g.status === "fulfilled" ? [g.value] : []));
        this.wake();
      });
    }, 120);
  }
}
