/**
 * Steals by thief and victim: more steals are darker, and the sums are at the borders. Up to 64
 * workers have a shape for each cell; of more, the cells are one picture of few pixels a cell, and
 * a part of them can be chosen.
 */

import { useComputed, useSignal, type Signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { sequential, ink, rgb } from "../colors";
import type { RunMeta } from "../data/contract";
import { count, plural } from "../format";
import { dark } from "../theme/theme";
import { textWidth } from "../components/textWidth";
import {
  readableAround,
  readableParts,
  total,
  type Range,
  type StealPairs,
} from "./reportStatistics";

/** Length of the cells' side in a usual and in a tall window: up to 64 workers, and of more. */
const SIDE = { few: 420, many: 576, tall: 1.5 };
/** Height of the window from which on the matrix is larger. */
const TALL_WINDOW = 1200;
const MAX_CELL = { usual: 44, tall: 140 };
const LABEL = 34;
const FONT_PX = 10.5;
/** Minimum size of a cell with a name, and of one with a number. */
const MIN_NAMED = 13;
const MIN_NUMBERED = 26;
/** Number of rows up to which each cell is a shape of its own. */
const MAX_SHAPES = 64;
/** Length of the longest bar of the sums. */
const BAR = 36;

interface Part {
  thieves: Range;
  victims: Range;
}

export function StealMatrix({ of, run: r }: { of: StealPairs; run: RunMeta }) {
  const n = of.thieves.length;
  const whole: Part = { thieves: [0, n], victims: [0, n] };
  const part = useSignal<Part | null>(null);
  const shown = part.value && part.value.thieves[1] <= n ? part.value : whole;
  const sum = total(of.thieves.map(total));
  return (
    <figure class="matrix" aria-label="Steals by thief and victim">
      {n > MAX_SHAPES && <PartChoice of={of} run={r} part={part} shown={shown} />}
      <Cells of={of} run={r} part={shown} sum={sum} onPart={(p) => (part.value = p)} />
      <figcaption>
        {of.edge === "all"
          ? "Rows: who took. Columns: from whom."
          : "Rows: who went on. Columns: who made it ready."}{" "}
        {dark.value ? "Brighter" : "Darker"}: more, by powers of two.
        {shown !== whole && " Sums are those of this part."}
        {n > MAX_SHAPES && shown === whole && " Click a cell to see the workers around it."}
        {(of.beyond !== 0 || of.further > 0) && (
          <>
            {" "}
            {of.further > 0 && `These are ${count(n)} of ${count(n + of.further)} workers. `}
            {of.beyond !== null &&
              of.beyond > 0 &&
              `${plural(of.beyond, "further strand")} went to or came from threads without a row. `}
            <code>workspan sql --query steal-matrix</code> has every pair.
          </>
        )}
      </figcaption>
    </figure>
  );
}

const labelOf = (of: StealPairs, r: RunMeta) => (i: number) =>
  r.threads.find((x) => x.thread === of.workers[i])?.label ?? `W${of.workers[i]}`;

/** Chooses thieves and victims whose cells are large enough for names and numbers. */
function PartChoice(p: { of: StealPairs; run: RunMeta; part: Signal<Part | null>; shown: Part }) {
  const n = p.of.thieves.length;
  const label = labelOf(p.of, p.run);
  const choice = (what: "thieves" | "victims", words: string) => {
    const now = p.shown[what];
    const parts = readableParts(n);
    const known = parts.some((x) => x[0] === now[0] && x[1] === now[1]);
    const all = [[0, n] as Range, ...parts, ...(known || now[1] - now[0] === n ? [] : [now])];
    return (
      <label>
        {words}{" "}
        <select
          class="toggle"
          value={now.join("-")}
          onChange={(e) => {
            const [from = 0, to = n] = e.currentTarget.value.split("-").map(Number);
            p.part.value = { ...p.shown, [what]: [from, to] };
          }}
        >
          {all.map(([from, to]) => (
            <option key={`${from}-${to}`} value={`${from}-${to}`}>
              {to - from === n ? `all ${count(n)}` : `${label(from)} to ${label(to - 1)}`}
            </option>
          ))}
        </select>
      </label>
    );
  };
  return (
    <div class="toolbar plain">
      {choice("thieves", "Thieves")}
      {choice("victims", "Victims")}
      {p.part.value && (
        <button type="button" class="toggle" onClick={() => (p.part.value = null)}>
          Show all
        </button>
      )}
    </div>
  );
}

function Cells(p: {
  of: StealPairs;
  run: RunMeta;
  part: Part;
  sum: number;
  onPart: (part: Part) => void;
}) {
  const { of, part } = p;
  const n = of.thieves.length;
  const label = labelOf(of, p.run);
  const rows = part.thieves[1] - part.thieves[0];
  const columns = part.victims[1] - part.victims[0];
  const most = useMemo(() => Math.max(1, ...of.thieves.map((row) => Math.max(0, ...row))), [of]);
  const names = (range: Range) =>
    Array.from({ length: range[1] - range[0] }, (_, i) => label(range[0] + i));
  const widest = (words: string[]) => Math.max(0, ...words.map((w) => textWidth(w, FONT_PX)));
  const tall = window.innerHeight >= TALL_WINDOW;
  const side = (n > MAX_SHAPES ? SIDE.many : SIDE.few) * (tall ? SIDE.tall : 1);
  const longest = Math.max(widest(names(part.thieves)), widest(names(part.victims)));
  // Names of the rows are on the left; names of the columns are rotated if wider than a cell.
  const left = Math.max(LABEL, Math.ceil(longest) + 8);
  const fit = (side - left) / Math.max(1, rows, columns);
  const maxCell = tall ? MAX_CELL.tall : MAX_CELL.usual;
  // Small cells are whole pixels, so that all are alike.
  const cell = fit < MIN_NAMED ? Math.max(2, Math.floor(fit)) : Math.min(maxCell, fit);
  const named = cell >= MIN_NAMED;
  const upright = longest > cell - 2;
  const top = upright ? left : LABEL;
  const [wide, high] = [columns * cell, rows * cell];
  const taken = of.thieves.map((row) => total(row.slice(...part.victims))).slice(...part.thieves);
  const lost = Array.from({ length: columns }, (_, i) =>
    total(of.thieves.slice(...part.thieves).map((row) => row[part.victims[0] + i] ?? 0)),
  );
  // Numbers, or bars with the largest one's number.
  const beside = [...taken, ...lost];
  const widestSum = named
    ? Math.max(0, ...beside.map(numberWidth))
    : Math.max(BAR, widest([upTo(taken), upTo(lost)]));
  const sums = Math.ceil(widestSum) + 18;
  const shapes = rows * columns <= MAX_SHAPES * MAX_SHAPES;
  const hover = useSignal<[thief: number, victim: number] | null>(null);
  const cellAt = (e: MouseEvent & { currentTarget: SVGElement }): [number, number] | null => {
    const box = e.currentTarget.getBoundingClientRect();
    const victim = Math.floor((e.clientX - box.left - left) / cell);
    const thief = Math.floor((e.clientY - box.top - top) / cell);
    if (victim < 0 || thief < 0 || victim >= columns || thief >= rows) return null;
    return [part.thieves[0] + thief, part.victims[0] + victim];
  };
  const zoom = (at: [number, number] | null) => {
    if (!at || n <= MAX_SHAPES) return;
    hover.value = null;
    p.onPart({ thieves: readableAround(at[0], n), victims: readableAround(at[1], n) });
  };
  const say = ([thief, victim]: [number, number]) =>
    `${label(thief)} took ${count(of.thieves[thief]?.[victim] ?? 0)} from ${label(victim)}`;
  const told = useComputed(() => (hover.value ? say(hover.value) : ""));
  return (
    <div class="cells">
      <svg
        width={left + wide + sums}
        height={top + high + sums}
        role="img"
        aria-label={`${plural(p.sum, "strand")} by thief and victim, at most ${count(most)} of one pair`}
        onMouseMove={(e) => (hover.value = shapes ? null : cellAt(e))}
        onMouseLeave={() => (hover.value = null)}
        onClick={(e) => zoom(cellAt(e))}
        class={n > MAX_SHAPES ? "zoomable" : undefined}
      >
        {(named ? names(part.thieves) : ends(part.thieves, label)).map(
          (name, i) =>
            name && (
              <text
                key={`t${i}`}
                x={left - 5}
                y={top + (i + 0.5) * cell + 4}
                class="name"
                text-anchor="end"
              >
                {name}
              </text>
            ),
        )}
        {(named ? names(part.victims) : ends(part.victims, label)).map((name, i) => {
          const [x, y] = [left + (i + 0.5) * cell, top - 6];
          return (
            name && (
              <text
                key={`v${i}`}
                x={upright ? x + 4 : x}
                y={y}
                class="name"
                text-anchor={upright ? "start" : "middle"}
                transform={upright ? `rotate(-90 ${x + 4} ${y})` : undefined}
              >
                {name}
              </text>
            )
          );
        })}
        <g transform={`translate(${left} ${top})`}>
          {shapes ? (
            <Shapes of={of} part={part} cell={cell} most={most} say={say} />
          ) : (
            <Picture of={of} part={part} cell={cell} most={most} />
          )}
          <Frame at={hover} part={part} cell={cell} wide={wide} high={high} />
        </g>
        <g transform={`translate(${left + wide} ${top})`}>
          <Sums of={taken} cell={cell} named={named} />
        </g>
        <g transform={`translate(${left} ${top + high})`}>
          <Sums of={lost} cell={cell} named={named} below />
        </g>
      </svg>
      {!shapes && <p class="told">{told.value || " "}</p>}
    </div>
  );
}

const upTo = (sums: number[]): string => `up to ${count(Math.max(0, ...sums))}`;
const numberWidth = (n: number): number => textWidth(count(n), FONT_PX);

/** Of small cells, the first and the last one's name. */
function ends(range: Range, label: (i: number) => string): string[] {
  const n = range[1] - range[0];
  return Array.from({ length: n }, (_, i) => (i === 0 || i === n - 1 ? label(range[0] + i) : ""));
}

const shade = (v: number, most: number): string => {
  const at = Math.log2(1 + v) / Math.log2(1 + most);
  return sequential(dark.value ? at : 1 - at, dark.value);
};

/** A shape for each cell, with its number if there is room. */
function Shapes(p: {
  of: StealPairs;
  part: Part;
  cell: number;
  most: number;
  say: (at: [number, number]) => string;
}) {
  const { cell, part } = p;
  const gap = cell > 6 ? 1 : 0;
  const cells = [];
  for (let thief = part.thieves[0]; thief < part.thieves[1]; thief++)
    for (let victim = part.victims[0]; victim < part.victims[1]; victim++) {
      const v = p.of.thieves[thief]?.[victim] ?? 0;
      const [x, y] = [(victim - part.victims[0]) * cell, (thief - part.thieves[0]) * cell];
      const fill = thief === victim ? "var(--inset)" : v === 0 ? "var(--panel2)" : shade(v, p.most);
      cells.push(
        <g key={`${thief}.${victim}`}>
          <rect x={x} y={y} width={cell - gap} height={cell - gap} fill={fill}>
            <title>{p.say([thief, victim])}</title>
          </rect>
          {v > 0 && cell >= MIN_NUMBERED && (
            <text
              x={x + cell / 2}
              y={y + cell / 2 + 4}
              font-size="11"
              text-anchor="middle"
              fill={ink(fill)}
            >
              {count(v)}
            </text>
          )}
        </g>,
      );
    }
  return <>{cells}</>;
}

/** The cells as one picture with a pixel for each, which the browser enlarges. */
function Picture(p: { of: StealPairs; part: Part; cell: number; most: number }) {
  const { part, of, most } = p;
  const columns = part.victims[1] - part.victims[0];
  const rows = part.thieves[1] - part.thieves[0];
  const url = useMemo(() => {
    const canvas = document.createElement("canvas");
    canvas.width = columns;
    canvas.height = rows;
    const pen = canvas.getContext("2d");
    if (!pen) return "";
    const image = pen.createImageData(columns, rows);
    for (let i = 0; i < rows; i++)
      for (let j = 0; j < columns; j++) {
        const v = of.thieves[part.thieves[0] + i]?.[part.victims[0] + j] ?? 0;
        if (v > 0) image.data.set([...rgb(shade(v, most)), 255], (i * columns + j) * 4);
      }
    pen.putImageData(image, 0, 0);
    return canvas.toDataURL();
  }, [of, most, columns, rows, part.thieves[0], part.victims[0], dark.value]);
  const [wide, high] = [columns * p.cell, rows * p.cell];
  return (
    <>
      <rect width={wide} height={high} fill="var(--inset)" />
      <image
        href={url}
        width={wide}
        height={high}
        preserveAspectRatio="none"
        style={{ imageRendering: "pixelated" }}
      />
    </>
  );
}

/** Lines along the row and column of the cell under the pointer. */
function Frame(p: {
  at: Signal<[number, number] | null>;
  part: Part;
  cell: number;
  wide: number;
  high: number;
}) {
  const at = p.at.value;
  if (!at) return null;
  const [x, y] = [(at[1] - p.part.victims[0]) * p.cell, (at[0] - p.part.thieves[0]) * p.cell];
  return (
    <g fill="none" stroke="var(--accent)">
      <path d={`M-0.5 ${y - 0.5}h${p.wide + 1}v${p.cell + 1}h${-p.wide - 1}z`} />
      <path d={`M${x - 0.5} -0.5v${p.high + 1}h${p.cell + 1}v${-p.high - 1}z`} />
    </g>
  );
}

/** The sum of each row, or below the cells of each column: as a number, or as a bar. */
function Sums(p: { of: number[]; cell: number; named: boolean; below?: boolean }) {
  const most = Math.max(1, ...p.of);
  if (p.named) {
    const turned = p.below && Math.max(...p.of.map(numberWidth)) > p.cell - 3;
    return (
      <>
        {p.of.map((n, i) => {
          const middle = (i + 0.5) * p.cell;
          if (!p.below)
            return (
              <text key={i} class="name" x={6} y={middle + 4}>
                {count(n)}
              </text>
            );
          return turned ? (
            <text
              key={i}
              class="name"
              text-anchor="end"
              transform={`translate(${middle + 4} 6) rotate(-90)`}
            >
              {count(n)}
            </text>
          ) : (
            <text key={i} class="name" x={middle} y={14} text-anchor="middle">
              {count(n)}
            </text>
          );
        })}
      </>
    );
  }
  const bar = (n: number, i: number) => {
    const length = (BAR * n) / most;
    return p.below
      ? `M${i * p.cell} 3h${p.cell}v${length}h${-p.cell}z`
      : `M3 ${i * p.cell}h${length}v${p.cell}h${-length}z`;
  };
  return (
    <>
      <path d={p.of.map(bar).join("")} fill="var(--fg3)" />
      <text
        class="name"
        x={p.below ? p.of.length * p.cell : 12}
        y={p.below ? BAR + 14 : -6}
        text-anchor={p.below ? "end" : "start"}
      >
        {upTo(p.of)}
      </text>
    </>
  );
}
