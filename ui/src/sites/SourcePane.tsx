/** The source of the selection, with heat for each line. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { useJson } from "../answers";
import type { RunMeta, Source } from "../data/contract";
import { requests } from "../data/requests";
import { workerTicks, ticks } from "../format";
import { run, runMeta, selection } from "../store";
import { Choice } from "../components/widgets";
import { SourceLines, sourceClass } from "../components/SourceLines";
import { WhenAnswered, codeInBackticks, EmptyState } from "../components/placeholders";
import type { Row } from "./siteRows";

/**
 * False for files outside the program: system headers, and sources of the standard library and of
 * packages, which are rarely available.
 */
export function isProgramFile(file: string): boolean {
  return !/^(\/usr\/|\/rustc\/|library\/|<)|[/\\]\.cargo[/\\](registry|git)[/\\]/.test(file);
}

/** The files with code of the run: the program's own first, each group by decreasing time. */
export function sourceFiles(r: RunMeta): string[] {
  const seen = new Set<string>();
  for (const c of [...r.codes, ...r.sites]) if (c.file) seen.add(c.file);
  const all = [...seen];
  return [...all.filter(isProgramFile), ...all.filter((f) => !isProgramFile(f))];
}

/** File and line of the selection. */
export function sourcePlaceOf(
  r: RunMeta,
  row: Row | null,
): { file: string; line: number | null } | null {
  const s = selection.value;
  if (s && s.run === r.id) {
    if (s.kind === "line") return { file: s.file, line: s.line };
    if (row?.file && (s.kind === "site" || s.kind === "code"))
      return { file: row.file, line: row.line };
    const named = s.kind === "site" ? r.sites[s.site] : s.kind === "code" ? r.codes[s.code] : null;
    if (named?.file) return { file: named.file, line: named.line };
  }
  return null;
}

export function SourcePane({
  run: r,
  row,
  first,
}: {
  run: RunMeta;
  row: Row | null;
  first: { site: Row; blocks: Row[] }[];
}) {
  const by = useSignal<"all" | "critical">("all");
  const hand = useSignal<string | null>(null);
  const at = sourcePlaceOf(r, row);
  const key = at ? `${at.file}:${at.line}` : "";
  // The next selection has its own file.
  useEffect(() => {
    hand.value = null;
  }, [key]);
  const all = sourceFiles(r);
  const start = first
    .flatMap((g) => [g.site, ...g.blocks])
    .filter((w) => w.file && isProgramFile(w.file))
    .sort((a, b) => b.critical - a.critical)[0];
  const file = hand.value ?? at?.file ?? start?.file ?? all[0] ?? null;
  const line = hand.value ? null : at ? at.line : (start?.line ?? null);
  const asked = useJson<Source>(file ? requests.source(run.value, file) : null);
  return (
    <aside class="right" aria-label="Source">
      {file === null ? (
        <EmptyState
          title="No source positions"
          {...(runMeta()?.runtime?.startsWith("Rayon")
            ? { command: "CARGO_PROFILE_RELEASE_DEBUG=line-tables-only cargo build --release" }
            : {})}
        >
          No spawn site of this trace has a file and a line. A recorded program has them if it is
          built with line tables{runMeta()?.runtime?.startsWith("Rayon") ? ":" : " (-g)."}
        </EmptyState>
      ) : (
        <>
          <div class="bar">
            {all.length > 1 ? (
              <select
                class="toggle mono"
                aria-label="File"
                value={file}
                onChange={(e) => (hand.value = e.currentTarget.value)}
              >
                {(all.includes(file) ? all : [file, ...all]).map((f) => (
                  <option key={f} value={f}>
                    {shortened(f)}
                  </option>
                ))}
              </select>
            ) : (
              <span class="mono" style={{ fontWeight: 600 }} title={file}>
                {shortened(file)}
              </span>
            )}
            <span style={{ marginLeft: "auto" }}>
              <Choice
                label="Heat"
                value={by.value}
                of={[
                  { value: "all", label: "all workers" },
                  { value: "critical", label: "critical path" },
                ]}
                onChange={(v) => (by.value = v)}
              />
            </span>
          </div>
          <WhenAnswered answer={asked} what={file} height={400}>
            {(s) => (
              <Lines
                source={s}
                line={line}
                row={row}
                perSecond={r.ticks_per_second}
                critical={by.value === "critical"}
                sampled={r.samples > 0}
                runId={r.id}
              />
            )}
          </WhenAnswered>
        </>
      )}
    </aside>
  );
}

/** The path without its start, as its end says more. */
function shortened(file: string): string {
  return file.length > 38 ? "…" + file.slice(-37) : file;
}

function Lines({
  source: s,
  line,
  row,
  perSecond,
  critical,
  sampled,
  runId,
}: {
  source: Source;
  line: number | null;
  row: Row | null;
  perSecond: number;
  critical: boolean;
  sampled: boolean;
  runId: string;
}) {
  const box = useRef<HTMLDivElement>(null);
  const heat = (l: Source["lines"][number]) => (critical ? l.critical : l.ticks);
  const hottest = s.lines.reduce<Source["lines"][number] | null>(
    (b, l) => (heat(l) > (b ? heat(b) : 0) ? l : b),
    null,
  );
  const target = line ?? hottest?.line ?? null;
  useEffect(() => {
    if (target === null || !box.current) return;
    const e = box.current.querySelector<HTMLElement>(`[data-line="${target}"]`);
    if (e) box.current.scrollTop = e.offsetTop - box.current.clientHeight / 3;
  }, [s.file, target, s.lines.length]);
  if (s.missing)
    return (
      <EmptyState title="The source is not available">{codeInBackticks(s.missing)}</EmptyState>
    );
  const total = s.lines.reduce((n, l) => n + heat(l), 0);
  return (
    <>
      <div class="note">
        {total > 0
          ? critical
            ? `time on the critical path per line · ${ticks(total, perSecond)}`
            : `time on the CPU per line, all workers · ${workerTicks(total, perSecond)}`
          : sampled
            ? "this file has no samples"
            : "this run has no samples: no heat per line"}
        {s.changed && <span class="worse"> · the file is newer than the run</span>}
      </div>
      {s.part && (
        <div class="note">
          Only lines with samples and lines stored in the trace are shown. {codeInBackticks(s.part)}
        </div>
      )}
      <div class={sourceClass(s.lines)} ref={box} tabIndex={0} aria-label={`${s.file}`}>
        <SourceLines
          lines={s.lines}
          top={hottest ? heat(hottest) : 0}
          perSecond={perSecond}
          critical={critical}
          at={selection.value?.kind === "line" && selection.value.run === runId ? line : null}
          inside={(n) =>
            row?.lines ? n >= row.lines.from && n <= row.lines.to : row !== null && row.line === n
          }
        />
      </div>
    </>
  );
}
