/** What each worker ran over time, on the axis of the profile above it. */

import type { RunMeta } from "../data/contract";
import { codeColour } from "../codeColours";
import { CodeLabel } from "../components/CodeLabel";
import { Section, Swatch } from "../components/widgets";
import { count } from "../format";
import { tab } from "../store";
import { dark } from "../theme/theme";
import { distinct } from "../timeline/names";
import { StackedTimelines } from "../timeline/StackedTimelines";

/** Limits of the rows' height in all, and the height of a row that is not squeezed. */
const MIN_HEIGHT = 120;
const MAX_HEIGHT = 384;
const ROW_HEIGHT = 48;

/** Codes named in the legend. */
const MAX_NAMED = 5;

export function WorkerRows({ run: r }: { run: RunMeta }) {
  const height = ROW_HEIGHT * r.threads.length;
  const names = distinct(r.codes.map((c) => [c.label]));
  const more = r.codes.length - MAX_NAMED;
  return (
    <Section
      title="Code by worker"
      end={
        <>
          <span class="legend">
            {names.slice(0, MAX_NAMED).map((name, code) => (
              <span key={code}>
                <Swatch of={codeColour(r.codes, code, dark.value)} /> <CodeLabel label={name} />
              </span>
            ))}
            {more > 0 && <span>{count(more)} more</span>}
          </span>{" "}
          <button type="button" class="link" onClick={() => (tab.value = "timeline")}>
            timeline →
          </button>
        </>
      }
    >
      <StackedTimelines
        runs={[r]}
        by="time"
        parts="rows"
        height={Math.max(MIN_HEIGHT, Math.min(MAX_HEIGHT, height))}
      />
    </Section>
  );
}
