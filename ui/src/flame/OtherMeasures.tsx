/** The same part of the run by the two other measures, small: a click selects a measure. */

import { useMemo } from "preact/hooks";
import { useJson } from "../answers";
import type { Flame as Answer, FlameOf, RunMeta } from "../data/contract";
import { requests } from "../data/requests";
import { ticks } from "../format";
import { dark } from "../theme/theme";
import { paintOf } from "../components/widgets";
import { useWidth } from "../components/textWidth";
import { WhenAnswered } from "../components/placeholders";
import { lookOf } from "./frameLook";
import { place, treeOf } from "./tree";

/** Height of a row in pixels, and number of rows shown. */
const ROW = 13;
const MAX_ROWS = 16;
/** Minimum width of a frame with a name. */
const MIN_NAME_WIDTH = 54;

const TITLES: Record<FlameOf, string> = {
  all: "CPU time",
  critical: "Critical path",
  free: "Free workers",
};

export function OtherMeasures(p: {
  of: FlameOf;
  run: RunMeta;
  part: { t0: number; t1: number } | null;
  recursion: boolean;
  onChange: (of: FlameOf) => void;
}) {
  const others = (Object.keys(TITLES) as FlameOf[]).filter((of) => of !== p.of);
  return (
    <div class="others">
      {others.map((of) => (
        <SmallFlameGraph key={of} {...p} of={of} />
      ))}
    </div>
  );
}

function SmallFlameGraph(p: {
  of: FlameOf;
  run: RunMeta;
  part: { t0: number; t1: number } | null;
  recursion: boolean;
  onChange: (of: FlameOf) => void;
}) {
  const asked = useJson<Answer>(requests.flame(p.run.id, p.of, p.part, p.recursion));
  return (
    <button type="button" class="other" onClick={() => p.onChange(p.of)}>
      <span class="title">
        <span class="unseen">Enlarge: </span>
        <b>{TITLES[p.of]}</b>{" "}
        {asked.state === "there" && asked.value.total > 0 && ticks(asked.value.total)}
      </span>
      <WhenAnswered answer={asked} what="these stacks" height={ROW * 6} small>
        {(answer) => <Frames answer={answer} run={p.run} />}
      </WhenAnswered>
    </button>
  );
}

function Frames({ answer, run: r }: { answer: Answer; run: RunMeta }) {
  const [ref, width] = useWidth<HTMLSpanElement>(400);
  const root = useMemo(() => treeOf(answer), [answer]);
  if (!root) return <span class="dim">Nothing to show.</span>;
  const { placed, rows } = place(root, root, width);
  const look = lookOf(root, r, dark.value);
  const shown = Math.min(rows, MAX_ROWS);
  return (
    <span ref={ref} class="small-frames" style={{ height: `${shown * ROW}px` }} aria-hidden="true">
      {placed
        .filter((q) => q.row < shown)
        .map(({ node: n, x, width: w, row }) => {
          const { colour, name } = look(n);
          return (
            <i
              key={n.id}
              style={{
                left: `${x}px`,
                top: `${row * ROW}px`,
                width: `${Math.max(1, w - 1)}px`,
                height: `${ROW - 1}px`,
                ...paintOf(colour),
                color: colour.ink,
              }}
            >
              {w >= MIN_NAME_WIDTH ? name : ""}
            </i>
          );
        })}
    </span>
  );
}
