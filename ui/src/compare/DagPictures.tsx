/** The DAGs of the compared runs side by side, with time running downwards as in the DAG tab. */

import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { firstPicture } from "../dag/expandedSet";
import { fit, type View } from "../dag/camera";
import { GAP_TIMED, isDot, place, type Options } from "../dag/layout";
import { InsideLoader } from "../dag/insideLoader";
import { buildModel, type Model } from "../dag/model";
import { paintDag } from "../dag/paint";
import { CanvasPen } from "../dag/pen";
import type { RunMeta } from "../data/contract";
import { Unavailable } from "../data/source";
import { plural } from "../format";
import { meta, run, source, tab } from "../store";
import { colours, dark } from "../theme/theme";
import { observeSize } from "../timeline/elementSize";
import { codeInBackticks } from "../components/placeholders";
import { RunBadge } from "../components/widgets";

/** Limits of a picture's height, and height of what is beside it in one column. */
const MIN_HEIGHT = 400;
const MAX_HEIGHT = 620;
const OTHER_HEIGHT = 840;
const pictureHeight = (): number =>
  Math.max(MIN_HEIGHT, Math.min(MAX_HEIGHT, innerHeight - OTHER_HEIGHT));
/** Free space around the picture. */
const RIM = 14;
/** Maximum width. A wider DAG would be too small to read, so its cards stay closed. */
const MAX_WIDTH = 760;
/** Maximum factors: a small DAG is not enlarged beyond them. */
const MAX_FACTORS = { x: 1.4, y: 400 };

/**
 * By time, all pictures share one scale, on which the longest run is full height. By fraction, each
 * has its own.
 */
export function DagPictures({ runs, by }: { runs: readonly RunMeta[]; by: "time" | "fraction" }) {
  const longest = Math.max(...runs.map((r) => r.elapsed / r.ticks_per_second));
  return (
    <div class="dag-pictures">
      {runs.map((r) => (
        <DagPicture
          key={r.id}
          run={r}
          elapsed={by === "time" ? longest * r.ticks_per_second : r.elapsed}
        />
      ))}
    </div>
  );
}

const NOT_CARRIED =
  "This report leaves out the DAG. `workspan view` shows everything; `workspan html` with a larger `--budget` includes more.";

const optionsOf = (elapsed: number): Options => ({ layout: "time", power: 1, elapsed });

function DagPicture({ run: r, elapsed }: { run: RunMeta; elapsed: number }) {
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [model, setModel] = useState<Model | null>(null);
  const [trouble, setTrouble] = useState("");
  const [size, setSize] = useState({ width: 0, height: 0, dpr: 1 });
  const height = pictureHeight();
  useEffect(() => {
    if (host.current)
      return observeSize(host.current, (width, height, dpr) => setSize({ width, height, dpr }));
  }, []);
  useEffect(() => {
    let gone = false;
    load(r).then(
      (m) => {
        if (gone) return;
        setModel(m);
        if (m.boxes.length === 0 && meta.peek()?.mode === "report") setTrouble(NOT_CARRIED);
      },
      (e: unknown) => {
        if (!(e instanceof Unavailable)) throw e;
        if (!gone) setTrouble(e.message);
      },
    );
    return () => {
      gone = true;
    };
  }, [r]);
  const draw = () => {
    const context = canvas.current?.getContext("2d", { alpha: false });
    if (context && model && size.width > 0)
      picture(context, model, r, elapsed, { ...size, height });
  };
  useEffect(draw, [model, size, r, elapsed]);
  useSignalEffect(() => {
    // Subscribes to the theme, which is read during drawing.
    void [colours.value, dark.value];
    draw();
  });
  const open = () => {
    run.value = r.id;
    tab.value = "dag";
  };
  return (
    <figure aria-label={`DAG of run ${r.id.toUpperCase()}`}>
      <figcaption>
        <RunBadge id={r.id} />{" "}
        <button type="button" class="link" onClick={open}>
          Open its DAG
        </button>
      </figcaption>
      <div ref={host} style={{ height: trouble ? "auto" : `${height}px` }}>
        {trouble ? (
          <p class="faint trouble">{codeInBackticks(trouble)}</p>
        ) : (
          <canvas
            ref={canvas}
            width={Math.round(size.width * size.dpr)}
            height={Math.round(height * size.dpr)}
            style={{ width: "100%", height: `${height}px` }}
            role="img"
            aria-label={`DAG of ${r.name}: ${plural(r.tasks, "task")}, ${plural(r.strands, "strand")}`}
          />
        )}
      </div>
    </figure>
  );
}

/** The DAG, expanded as far as it is readable in a small picture. */
async function load(r: RunMeta): Promise<Model> {
  const insides = new InsideLoader(source, r.id, meta.peek()!);
  const options = optionsOf(r.elapsed);
  const shown = await firstPicture(
    insides.loaded,
    insides.load,
    (m) => m.boxes.length > 0 && place(m, options).width <= MAX_WIDTH,
    (n) => !isDot(n, options),
  );
  return buildModel(insides.loaded, shown);
}

function picture(
  context: CanvasRenderingContext2D,
  model: Model,
  r: RunMeta,
  elapsed: number,
  { width, height, dpr }: { width: number; height: number; dpr: number },
): void {
  const options = optionsOf(elapsed);
  const placed = place(model, options);
  const view: View = { x: RIM, y: RIM, w: width - 2 * RIM, h: height - 2 * RIM };
  const camera = fit("full", placed, view, { kx: 1, ky: 1, tx: 0, ty: 0 }, MAX_FACTORS);
  const t = { ...colours.peek(), path: colours.peek().fg, halo: colours.peek().panel };
  context.setTransform(dpr, 0, 0, dpr, 0, 0);
  context.fillStyle = t.panel;
  context.fillRect(0, 0, width, height);
  const look = {
    view: { x: 0, y: 0, w: width, h: height },
    t,
    dark: dark.peek(),
    mode: "code" as const,
    meta: r,
    critical: true,
    ready: false,
    slack: false,
  };
  paintDag(new CanvasPen(context, dark.peek()), {
    model,
    at: (n) => n,
    camera,
    view: look.view,
    look,
    timed: true,
    gap: GAP_TIMED,
    dot: (n) => isDot(n, options) && n.h * camera.ky < 12,
    selected: null,
    hovered: null,
    highlighted: null,
    span: 0,
  });
}
