/**
 * How long frames take while the largest run is moved and zoomed: printed, never judged, as it
 * tells of the machine as well.
 */

import { statSync } from "node:fs";
import { check, until } from "./harness.mjs";

const idle = (page) =>
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

/** The middle and the twentieth part from the top. */
const of = (list) => {
  const sorted = [...list].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  return `${at(0.5).toFixed(1)} / ${at(0.95).toFixed(1)} ms`;
};

export default function (suite) {
  const largest =
    [...suite.runs.all]
      .map((f) => ({ f, size: statSync(f).size }))
      .sort((a, b) => b.size - a.size)[0]?.f ?? null;
  suite.test(
    "frames while the largest run is moved and zoomed",
    { files: [largest] },
    async (t) => {
      await t.open("tab=timeline");
      await idle(t.page);
      for (const [what, from] of [
        ["the whole run, zoomed a thousandfold and out again", 1],
        ["a thousandth of the run, moved along", 0.001],
      ]) {
        const frames = await t.page.evaluate(
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
        console.log(
          `frames   ${what}: from frame to frame ${of(frames.intervals)}, drawing ${of(frames.drawing)} (median / 95th percentile), at most ${frames.most} primitives`,
        );
        await idle(t.page);
      }
    },
  );
}
