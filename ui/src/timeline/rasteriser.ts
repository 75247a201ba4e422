/**
 * Turns tiles into images, in a worker, or on this thread if none can start (a page from file:// in
 * some browsers, a strict policy).
 */

import { TILE_BINS } from "../data/contract";
import { LINES, rasterise } from "./raster";
import type { RasterJob } from "./raster";
import RasterWorker from "./raster.worker?worker&inline";

export interface TileImage {
  image: CanvasImageSource;
  /** See `Raster.runs`. */
  runs: Uint16Array;
  close(): void;
}

type Done = (image: TileImage | null) => void;

export class Rasteriser {
  private worker: Worker | null = null;
  private next = 1;
  private waiting = new Map<number, { job: RasterJob; done: Done }>();
  /**
   * Jobs that failed in the worker, or all jobs without a worker. They are rendered one per timer
   * event, so that the page stays responsive.
   */
  private jobsOnThisThread: number[] = [];
  private scheduled = false;

  constructor() {
    try {
      const worker = new RasterWorker();
      worker.onmessage = (
        event: MessageEvent<{
          id: number;
          image?: ImageBitmap;
          runs?: Uint16Array;
          error?: string;
        }>,
      ) => {
        const { id, image, runs } = event.data;
        const job = this.waiting.get(id);
        if (!job) return image?.close();
        if (!image || !runs) return this.fallBack(id);
        this.waiting.delete(id);
        job.done({ image, runs, close: () => image.close() });
      };
      // A worker that is not allowed to start reports it only now.
      worker.onerror = (event) => {
        event.preventDefault();
        this.worker?.terminate();
        this.worker = null;
        for (const id of this.waiting.keys()) this.fallBack(id);
      };
      this.worker = worker;
    } catch {
      this.worker = null;
    }
  }

  get inWorker(): boolean {
    return this.worker !== null;
  }

  /** Renders a tile; returns a function that cancels it. `done` receives null if it fails. */
  make(job: RasterJob, done: Done): () => void {
    const id = this.next++;
    this.waiting.set(id, { job, done });
    if (this.worker) this.worker.postMessage({ id, job });
    else this.fallBack(id);
    return () => {
      this.waiting.delete(id);
    };
  }

  private fallBack(id: number): void {
    this.jobsOnThisThread.push(id);
    if (this.scheduled) return;
    this.scheduled = true;
    setTimeout(() => this.step());
  }

  private step(): void {
    this.scheduled = false;
    const id = this.jobsOnThisThread.shift();
    const entry = id === undefined ? undefined : this.waiting.get(id);
    if (entry && id !== undefined) {
      this.waiting.delete(id);
      entry.done(draw(entry.job));
    }
    if (this.jobsOnThisThread.length && !this.scheduled) {
      this.scheduled = true;
      setTimeout(() => this.step());
    }
  }

  close(): void {
    this.worker?.terminate();
    this.waiting.clear();
    this.jobsOnThisThread = [];
  }
}

function draw(job: RasterJob): TileImage | null {
  const { pixels, runs } = rasterise(job);
  const canvas = document.createElement("canvas");
  canvas.width = TILE_BINS;
  canvas.height = job.rows * LINES;
  const context = canvas.getContext("2d");
  if (!context) return null;
  context.putImageData(new ImageData(pixels, TILE_BINS, job.rows * LINES), 0, 0);
  return { image: canvas, runs, close: () => {} };
}
