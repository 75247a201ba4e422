/** Frame times of the timeline while it is moved and zoomed. */

import { check, until } from "./harness.mjs";

/** Waits until the whole run is read and the timeline has all its tiles. */
export const idle = (page) =>
  until(
    () =>
      page.evaluate(
        () =>
          window.__timeline?.scene &&
          window.__timeline.meta.overview === null &&
          !window.__timeline.busy,
      ),
    "the timeline to have all its tiles",
    120_000,
  );

/** Median and 95th percentile: `17.0 / 33.0 ms`. */
export const spread = (list) => {
  const sorted = [...list].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  return `${at(0.5).toFixed(1)} / ${at(0.95).toFixed(1)} ms`;
};

/** The movements, with the width of the window as a share of the run. */
export const MOVES = [
  ["the whole run, zoomed a thousandfold and out again", 1],
  ["a thousandth of the run, moved along", 0.001],
];

/**
 * Moves for 240 frames. Returns the times between frames, the drawing times, and the largest number
 * of shapes in a frame.
 */
export async function moved(page, from) {
  const frames = await page.evaluate(
    async ([from]) => {
      const view = window.__timeline,
        { elapsed } = view.meta;
      const intervals = [],
        drawing = [];
      const render = view.render.bind(view);
      view.render = () => {
        const began = performance.now();
        render();
        drawing.push(performance.now() - began);
      };
      let last = 0;
      await new Promise((done) => {
        let n = 0;
        const step = (now) => {
          if (last) intervals.push(now - last);
          last = now;
          if (++n > 240) return done();
          const share = n / 240;
          if (from === 1) {
            const width = elapsed * 1000 ** -(1 - Math.abs(2 * share - 1));
            const middle = elapsed * 0.4;
            const t0 = Math.min(Math.max(0, middle - width * 0.4), elapsed - width);
            view.show({ t0, t1: t0 + width });
          } else {
            const width = elapsed * from,
              t0 = elapsed * 0.3 + share * width * 12;
            view.show({ t0, t1: t0 + width });
          }
          requestAnimationFrame(step);
        };
        requestAnimationFrame(step);
      });
      delete view.render;
      return { intervals, drawing, most: window.__stats.mostPrimitives };
    },
    [from],
  );
  check(frames.drawing.length > 60, `only ${frames.drawing.length} frames were drawn`);
  await idle(page);
  return frames;
}
