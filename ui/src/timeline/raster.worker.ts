/** The worker that renders tiles, so that a tile's arrival never delays a frame. */

import { TILE_BINS } from "../data/contract";
import { LINES, rasterise } from "./raster";
import type { RasterJob } from "./raster";

self.onmessage = async (event: MessageEvent<{ id: number; job: RasterJob }>) => {
  const { id, job } = event.data;
  try {
    const { pixels, runs } = rasterise(job);
    const image = await createImageBitmap(new ImageData(pixels, TILE_BINS, job.rows * LINES));
    self.postMessage({ id, image, runs }, { transfer: [image, runs.buffer] });
  } catch (error) {
    self.postMessage({ id, error: String(error) });
  }
};
