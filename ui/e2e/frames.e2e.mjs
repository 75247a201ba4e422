/**
 * Frame times while the largest run is moved and zoomed. They are printed and never judged, because
 * they also depend on the machine.
 */

import { statSync } from "node:fs";
import { idle, moved, MOVES, spread } from "./frames.mjs";

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
      for (const [what, from] of MOVES) {
        const frames = await moved(t.page, from);
        console.log(
          `frames   ${what}: from frame to frame ${spread(frames.intervals)}, drawing ${spread(frames.drawing)} (median / 95th percentile), at most ${frames.most} primitives`,
        );
      }
    },
  );
}
