/** The source, for selecting lines with the pointer or keys. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { useJson, valueOf } from "../answers";
import type { RunMeta, Source } from "../data/contract";
import { requests } from "../data/requests";
import { sourceFiles } from "../sites/SourcePane";
import { announcement, run, selection, whatif } from "../store";
import { SourceLines, sourceClass } from "../components/SourceLines";
import { WhenAnswered, codeInBackticks, EmptyState } from "../components/placeholders";
import { linesOf, mergeRanges } from "./targets";

/** The source: a drag selects lines, a click on a selected line removes its range. */
export function SourceLinesPicker({
  run: r,
  what,
  onChange,
}: {
  run: RunMeta;
  what: string[];
  onChange: (what: string[]) => void;
}) {
  const list = sourceFiles(r);
  const picked = useSignal<string | null>(null);
  const drag = useSignal<{ from: number; to: number } | null>(null);
  const byKey = useSignal(false);
  const line = selection.value?.kind === "line" ? selection.value.file : null;
  const chosenFile = what.map(linesOf).find((l) => l)?.file;
  const file = picked.value ?? chosenFile ?? line ?? list[0] ?? null;
  const asked = useJson<Source>(file ? requests.source(run.value, file) : null);
  const ranges = what.map(linesOf).filter((l) => l !== null && l.file === file) as {
    file: string;
    from: number;
    to: number;
  }[];
  const take = (a: number, b: number) => {
    if (!file) return;
    const [from, to] = [Math.min(a, b), Math.max(a, b)];
    const hit = ranges.find((x) => from === to && from >= x.from && from <= x.to);
    const others = whatif.value.what.filter((w) => linesOf(w)?.file !== file);
    const rest = hit
      ? ranges.filter((x) => x !== hit)
      : mergeRanges([...ranges, { file, from, to }]);
    onChange([...others, ...rest.map((x) => `lines:${x.file}:${x.from}-${x.to}`)]);
  };
  useEffect(() => {
    const end = () => {
      const d = drag.value;
      drag.value = null;
      if (d && !byKey.value) take(d.from, d.to);
    };
    const stop = () => {
      drag.value = null;
    };
    addEventListener("pointerup", end);
    addEventListener("pointercancel", stop);
    return () => {
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", stop);
    };
  }, [file, what.join(",")]);
  // Arrow keys move the line, Shift keeps the start of the range, Enter adds the range.
  const key = (e: KeyboardEvent, lines: Source["lines"]) => {
    const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    const d = drag.value;
    if (step !== 0) {
      e.preventDefault();
      const at = lines.findIndex((l) => l.line === d?.to);
      const to =
        lines[
          Math.max(
            0,
            Math.min(
              lines.length - 1,
              at < 0
                ? Math.max(
                    0,
                    lines.findIndex((l) => l.ticks > 0),
                  )
                : at + step,
            ),
          )
        ]!.line;
      byKey.value = true;
      drag.value = { from: e.shiftKey && d ? d.from : to, to };
      announcement.value = `line ${to}: ${lines.find((l) => l.line === to)?.text.trim() ?? ""}`;
      (e.currentTarget as HTMLElement)
        .querySelector(`[data-line="${to}"]`)
        ?.scrollIntoView({ block: "nearest" });
    } else if ((e.key === "Enter" || e.key === " ") && d) {
      e.preventDefault();
      take(d.from, d.to);
      drag.value = null;
      byKey.value = false;
    } else if (e.key === "Escape" && d) {
      e.preventDefault();
      drag.value = null;
      byKey.value = false;
    }
  };
  // Scrolls to the selected lines, or to those with most time.
  const box = useRef<HTMLDivElement>(null);
  const there = valueOf(asked);
  const first =
    ranges[0]?.from ??
    r.codes.find((c, i) => c.file === file && what.includes(`code:${i}`))?.line ??
    there?.lines.reduce<Source["lines"][number] | null>(
      (b, l) => (l.ticks > (b?.ticks ?? 0) ? l : b),
      null,
    )?.line ??
    null;
  useEffect(() => {
    const e =
      first === null ? null : box.current?.querySelector<HTMLElement>(`[data-line="${first}"]`);
    if (e && box.current) box.current.scrollTop = e.offsetTop - box.current.clientHeight / 3;
  }, [file, there]);
  const d = drag.value;
  const inDrag = (n: number) =>
    d !== null && n >= Math.min(d.from, d.to) && n <= Math.max(d.from, d.to);
  return (
    <div class="code">
      <div class="bar">
        {list.length > 1 ? (
          <select
            class="toggle mono"
            aria-label="File"
            value={file ?? ""}
            onChange={(e) => (picked.value = e.currentTarget.value)}
          >
            {list.map((f) => (
              <option key={f} value={f}>
                {f.length > 46 ? "…" + f.slice(-45) : f}
              </option>
            ))}
          </select>
        ) : (
          <span class="mono" style={{ fontWeight: 600 }}>
            {file}
          </span>
        )}
        <span class="faint">drag over lines to choose them</span>
      </div>
      {file === null ? (
        <EmptyState title="No source positions">
          The trace has no source lines. Choose code or spawn sites instead.
        </EmptyState>
      ) : (
        <WhenAnswered answer={asked} what={file} height={400}>
          {(s) =>
            s.missing ? (
              <EmptyState title="The source is not available">{s.missing}</EmptyState>
            ) : (
              <>
                {s.part && (
                  <p class="faint" style={{ margin: "8px 12px" }}>
                    Only lines with samples and lines stored in the trace are shown.{" "}
                    {codeInBackticks(s.part)}
                  </p>
                )}
                <div
                  class={sourceClass(s.lines)}
                  ref={box}
                  tabIndex={0}
                  aria-label={`Source of ${s.file}; arrows move, Shift extends, Enter chooses`}
                  onKeyDown={(e) => key(e, s.lines)}
                >
                  <SourceLines
                    lines={s.lines}
                    top={Math.max(...s.lines.map((l) => l.ticks), 0)}
                    perSecond={r.ticks_per_second}
                    chosen={(n) => inDrag(n) || ranges.some((x) => n >= x.from && n <= x.to)}
                    onDown={(n) => {
                      byKey.value = false;
                      drag.value = { from: n, to: n };
                    }}
                    onOver={(n) => {
                      if (drag.value && !byKey.value) drag.value = { ...drag.value, to: n };
                    }}
                  />
                </div>
              </>
            )
          }
        </WhenAnswered>
      )}
    </div>
  );
}
