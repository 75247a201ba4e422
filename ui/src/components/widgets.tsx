/** Small components of the views. */

import type { ComponentChildren, CSSProperties } from "preact";
import { markInk, runColour, type Colour } from "../colors";
import type { Words } from "../data/contract";
import { fileName, pageUnits } from "../format";
import { keyText } from "../keys";
import { run, showInTab } from "../store";
import { dark } from "../theme/theme";

/** The letter of a run, in the run's colour. */
export function RunBadge({ id, big }: { id: string; big?: boolean }) {
  const background = runColour(id, dark.value);
  return (
    <span
      class="badge"
      style={
        big
          ? {
              background,
              width: "26px",
              height: "26px",
              fontSize: "15px",
              borderRadius: "6px",
              verticalAlign: "2px",
            }
          : { background }
      }
    >
      {id.charAt(0).toUpperCase()}
    </span>
  );
}

export function Key({ of }: { of: string }) {
  return <kbd>{keyText(of)}</kbd>;
}

/**
 * A switch of a layer or mode; `mark` is a picture of it, so that a row of toggles is the legend.
 */
export function Toggle(p: {
  on: boolean;
  onChange: (on: boolean) => void;
  label: string;
  mark?: ComponentChildren;
  shortcut?: string;
  title?: string;
}) {
  return (
    <button
      type="button"
      class="toggle"
      aria-pressed={p.on}
      title={p.title}
      onClick={() => p.onChange(!p.on)}
    >
      {p.mark}
      {p.label}
      {p.shortcut && <Key of={p.shortcut} />}
    </button>
  );
}

/** A choice between a few options. */
export function Choice<T extends string>(p: {
  value: T;
  of: readonly { value: T; label: string }[];
  onChange: (value: T) => void;
  label: string;
}) {
  return (
    <span role="radiogroup" aria-label={p.label} style={{ display: "inline-flex", gap: "4px" }}>
      {p.of.map((o) => (
        <button
          key={o.value}
          type="button"
          role="radio"
          class="toggle"
          aria-checked={o.value === p.value}
          onClick={() => p.onChange(o.value)}
        >
          {o.label}
        </button>
      ))}
    </span>
  );
}

/** A colour with its texture, as styles of an element. */
export function paintOf(of: Colour): CSSProperties {
  return {
    background: of.fill,
    backgroundImage: textureImage(of.texture),
    backgroundSize: of.texture === "dots" ? "4px 4px" : undefined,
  };
}

/** A texture's marks as a CSS image. */
function textureImage(texture: Colour["texture"]): string {
  const light = markInk(dark.value);
  const image: Record<Colour["texture"], string> = {
    none: "none",
    diagonal: `repeating-linear-gradient(135deg, ${light} 0 1.4px, transparent 1.4px 4px)`,
    dots: `radial-gradient(${light} 1px, transparent 1.2px)`,
    lines: `repeating-linear-gradient(0deg, ${light} 0 1.2px, transparent 1.2px 4px)`,
    cross: `repeating-linear-gradient(135deg, ${light} 0 1px, transparent 1px 4px), repeating-linear-gradient(45deg, ${light} 0 1px, transparent 1px 4px)`,
  };
  return image[texture];
}

/** A colour with its texture, as a square. */
export function Swatch({ of, size = 10 }: { of: Colour; size?: number }) {
  return (
    <i
      class="swatch"
      style={{
        width: `${size}px`,
        height: `${size}px`,
        ...paintOf(of),
      }}
    />
  );
}

/** A source position with its whole path in the tooltip; it links to Sites if its file is known. */
export function Place({
  label,
  file,
  line,
}: {
  label: string;
  file: string | null | undefined;
  line: number | null | undefined;
}) {
  if (!file || line == null)
    return (
      <span class="mono dim" title={label}>
        {fileName(label)}
      </span>
    );
  return (
    <button
      type="button"
      class="place link"
      title={`${file}:${line}, show the source`}
      onClick={() => showInTab("sites", null, { kind: "line", run: run.value, file, line })}
    >
      {fileName(label)}
    </button>
  );
}

/** Moves the bracket before a place and the punctuation after it to the place. */
function unbroken(of: Words): (Words[number] & { before?: string; after?: string })[] {
  const out = of.map((w): Words[number] & { before?: string; after?: string } => ({ ...w }));
  out.forEach((w, i) => {
    if (w.as !== "place") return;
    const [previous, next] = [out[i - 1], out[i + 1]];
    if (previous && previous.as !== "place" && previous.text.endsWith("(")) {
      previous.text = previous.text.slice(0, -1);
      w.before = "(";
    }
    const mark = next && next.as !== "place" ? (/^[).,:;]+/.exec(next.text)?.[0] ?? "") : "";
    if (next && mark) {
      next.text = next.text.slice(mark.length);
      w.after = mark;
    }
  });
  return out;
}

/** A sentence with the server's markup. */
export function Sentence({ of }: { of: Words }) {
  return (
    <>
      {unbroken(of).map((w, i) =>
        w.as === "code" ? (
          <span key={i} class="fn">
            {w.text}
          </span>
        ) : w.as === "strong" ? (
          <b key={i}>{pageUnits(w.text)}</b>
        ) : w.as === "place" ? (
          <span key={i} style={{ whiteSpace: "nowrap" }}>
            {w.before}
            <Place label={w.text} file={w.file} line={w.line} />
            {w.after}
          </span>
        ) : (
          <span key={i}>{pageUnits(w.text)}</span>
        ),
      )}
    </>
  );
}

export function plainWords(of: Words): string {
  return of.map((w) => pageUnits(w.text)).join("");
}

export function Section(p: {
  title: ComponentChildren;
  note?: ComponentChildren;
  end?: ComponentChildren;
  children: ComponentChildren;
  style?: CSSProperties;
  id?: string;
}) {
  return (
    <section
      style={{ marginTop: "20px", ...p.style }}
      aria-label={typeof p.title === "string" ? p.title : undefined}
      id={p.id}
    >
      <div class="head">
        <h2>
          {p.title}
          {p.note && (
            <>
              {" "}
              <span>{p.note}</span>
            </>
          )}
        </h2>
        {p.end && <span class="end">{p.end}</span>}
      </div>
      {p.children}
    </section>
  );
}
