/**
 * The difference of two runs' flame graphs, B minus A. It is in shares, so that runs of different
 * lengths can be compared, and each frame has its sign.
 */

import { signal, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { useJson, valueOf } from "../answers";
import { ink, mix, tokens, type Colour } from "../colors";
import type { Flame, FlameOf, RunMeta } from "../data/contract";
import { requests } from "../data/requests";
import { difference, points, SAME_POINTS, signed, type FramePair } from "../flame/difference";
import { FlameGraph, type FrameLook } from "../flame/FlameGraph";
import { nameOf, placeOf } from "../flame/frameLook";
import { find, keyOf, treeOf, type FlameNode } from "../flame/tree";
import { percent } from "../format";
import { dark } from "../theme/theme";
import { Choice, RunBadge, Section } from "../components/widgets";
import { EmptyState } from "../components/placeholders";
import "../flame/flame.css";

/** The whole of the shares; kept while other tabs are shown. */
const measure = signal<FlameOf>("all");

/** Difference in percentage points from which colours are full. */
const FULL_POINTS = 20;
/** Opacity of the smallest change, which must still look different from no change. */
const MIN_TINT = 0.25;

const SHARE: Record<FlameOf, string> = {
  all: "CPU time",
  critical: "the critical path",
  free: "the time of free workers",
};

export function FlameDifference({ a, b }: { a: RunMeta; b: RunMeta }) {
  const inA = useJson<Flame>(requests.flame(a.id, measure.value, null, true));
  const inB = useJson<Flame>(requests.flame(b.id, measure.value, null, true));
  const [first, second] = [valueOf(inA), valueOf(inB)];
  const zoomed = useSignal<string | null>(null);
  const chosen = useSignal<string | null>(null);
  const made = useMemo(() => {
    if (!first || !second) return null;
    const names = (r: RunMeta) => ({
      // Both runs are of one program, whatever its file name was.
      nameOf: (n: FlameNode) => (n.parent ? nameOf(n, r) : "all"),
      placeOf: (n: FlameNode) => placeOf(n, r),
    });
    return difference([treeOf(first), names(a)], [treeOf(second), names(b)]);
  }, [first, second, a, b]);
  return (
    <Section
      title="Difference of the flame graphs"
      note={`${b.id.toUpperCase()} minus ${a.id.toUpperCase()}: share of ${SHARE[measure.value]}, in percentage points`}
      end={
        <Choice
          label="Shares of"
          value={measure.value}
          of={[
            { value: "all", label: "CPU time" },
            { value: "critical", label: "critical path" },
            { value: "free", label: "free workers" },
          ]}
          onChange={(v) => (measure.value = v)}
        />
      }
    >
      {made ? (
        <DifferenceGraph
          of={made}
          a={a}
          b={b}
          zoomed={zoomed.value}
          chosen={chosen.value}
          onZoom={(key) => (zoomed.value = key)}
          onChoose={(key) => (chosen.value = key)}
        />
      ) : first && second ? (
        <EmptyState small title="Nothing to compare">
          Neither run has time of this kind.
        </EmptyState>
      ) : (
        <p class="faint">…</p>
      )}
    </Section>
  );
}

function DifferenceGraph(p: {
  of: NonNullable<ReturnType<typeof difference>>;
  a: RunMeta;
  b: RunMeta;
  zoomed: string | null;
  chosen: string | null;
  onZoom: (key: string | null) => void;
  onChoose: (key: string) => void;
}) {
  const { root, both } = p.of;
  const at = find(root, p.zoomed) ?? root;
  const selected = find(root, p.chosen);
  const told = both.get(selected ?? root)!;
  const look = (n: FlameNode): FrameLook => {
    const f = both.get(n)!;
    return {
      colour: colourOf(f),
      name: f.name,
      place: f.place,
      value: signed(f),
      narrow: signed(f),
      words: `${f.name}, ${signed(f)}: ${sharesOf(f, p.a, p.b)}`,
      dashed: f.a === null || f.b === null,
    };
  };
  return (
    <div class="flame difference">
      <Legend />
      <FlameGraph
        root={root}
        zoomed={at}
        look={look}
        label="Difference of the flame graphs"
        selected={selected}
        onSelect={(n) => p.onChoose(keyOf(n))}
        onZoom={(n) => p.onZoom(n === root || n === at ? null : keyOf(n))}
      />
      <p class="hint">
        <span class="fn">{told.name}</span>: <RunBadge id={p.a.id} /> {shareOf(told.a)},{" "}
        <RunBadge id={p.b.id} /> {shareOf(told.b)}, <b>{signed(told)}</b>. The width of a frame is
        the mean of its two shares.{" "}
        {at !== root && (
          <button type="button" class="link" onClick={() => p.onZoom(null)}>
            Show all
          </button>
        )}
      </p>
    </div>
  );
}

const shareOf = (share: number | null) => (share === null ? "absent" : percent(share, 1));
const sharesOf = (f: FramePair, a: RunMeta, b: RunMeta) =>
  `${shareOf(f.a)} in ${a.id.toUpperCase()}, ${shareOf(f.b)} in ${b.id.toUpperCase()}`;

/** Blue for less, orange for more, the background colour for no change. */
function colourOf(f: FramePair): Colour {
  const t = tokens(dark.value);
  const change = points(f);
  const fill =
    Math.abs(change) < SAME_POINTS
      ? t.inset
      : mix(
          t.inset,
          change < 0 ? t.work : t.delay,
          Math.max(MIN_TINT, Math.min(1, Math.abs(change) / FULL_POINTS)),
        );
  return { fill, ink: ink(fill), texture: "none" };
}

const STEPS = [-20, -15, -10, -5, 0, 5, 10, 15, 20];

function Legend() {
  return (
    <p class="scale" aria-hidden="true">
      <span>less</span>
      <span class="steps">
        {STEPS.map((step) => (
          <i
            key={step}
            style={{
              background: colourOf({ a: 0, b: step / 100 } as FramePair).fill,
            }}
          />
        ))}
      </span>
      <span>more</span>
      <span class="ends">−20 to +20 points</span>
      <i class="one" /> <span>in one run only</span>
    </p>
  );
}
