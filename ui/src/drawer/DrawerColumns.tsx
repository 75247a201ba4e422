/** The frame of the drawer, its table of facts, and its column with the source. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useJson, valueOf } from "../answers";
import type { RunMeta, Source } from "../data/contract";
import { requests } from "../data/requests";
import { plural } from "../format";
import { run, showInTab, type Selection } from "../store";
import { Section } from "../components/widgets";
import { SourceLines } from "../components/SourceLines";
import { WhenAnswered, codeInBackticks } from "../components/placeholders";
import type { Fact } from "./facts";

export function FactTable({ of }: { of: Fact[] }) {
  return (
    <dl class="facts">
      {of.map((f, i) => [<dt key={`${i}t`}>{f.name}</dt>, <dd key={`${i}d`}>{f.value}</dd>])}
    </dl>
  );
}

export function DrawerColumns({
  title,
  note,
  facts,
  stack,
  source,
  close,
  labels = ["Logical stack", "Source"],
}: {
  title: ComponentChildren;
  note: ComponentChildren;
  facts: ComponentChildren;
  stack: ComponentChildren;
  source: ComponentChildren;
  close: ComponentChildren;
  labels?: [string, string];
}) {
  return (
    <div class="drawer" role="complementary" aria-label="Details of the selection">
      <section aria-label="Selection">
        <h2>
          {title}
          <span>{note}</span>
        </h2>
        {facts}
      </section>
      <section aria-label={labels[0]}>{stack}</section>
      <section aria-label={labels[1]}>{source}</section>
      {close}
    </div>
  );
}

/** The source lines around a place. */
export function SourceAround({
  at,
  run: r,
  what,
}: {
  at: { file: string; line: number | null } | null;
  run: RunMeta;
  what: string | null;
}) {
  const asked = useJson<Source>(at ? requests.source(r.id, at.file) : null);
  const box = useRef<HTMLDivElement>(null);
  const s = valueOf(asked);
  useEffect(() => {
    const line = box.current?.querySelector<HTMLElement>(`[data-line="${at?.line}"]`);
    const scroller = box.current?.closest<HTMLElement>(".drawer > section");
    if (!line || !scroller) return;
    const below = line.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
    scroller.scrollTop += below - scroller.clientHeight / 2;
  }, [s, at?.line]);
  if (!at)
    return (
      <>
        <h2>Source</h2>
        <p class="dim" style={{ marginTop: "6px", fontSize: "12px" }}>
          The source position is unknown.
        </p>
      </>
    );
  return (
    <Section
      style={{ marginTop: "0" }}
      title={
        <span class="mono" style={{ fontWeight: 600 }}>
          {at.file.length > 48 ? "…" + at.file.slice(-47) : at.file}
        </span>
      }
      end={
        <button
          type="button"
          class="link"
          style={{ marginRight: "28px" }}
          onClick={() =>
            showInTab("sites", null, {
              kind: "line",
              run: run.value,
              file: at.file,
              line: at.line ?? 1,
            })
          }
        >
          open in Sites
        </button>
      }
    >
      <div ref={box}>
        <WhenAnswered answer={asked} what="the source" height={120} small>
          {(x) =>
            x.missing || x.lines.length === 0 ? (
              <p class="dim" style={{ fontSize: "12px" }}>
                {codeInBackticks(x.missing ?? "The lines of this file are not available.")}
              </p>
            ) : (
              <SourceLines
                lines={linesNear(x.lines, at.line)}
                top={Math.max(0, ...x.lines.map((l) => l.ticks))}
                perSecond={r.ticks_per_second}
                at={at.line}
              />
            )
          }
        </WhenAnswered>
        {what && s && !s.missing && r.samples === 0 && (
          <p class="faint" style={{ fontSize: "11px", marginTop: "4px" }}>
            {plural(0, "sample")}: no heat per line in this run
          </p>
        )}
      </div>
    </Section>
  );
}

/** The lines around one; all lines if none is near. */
function linesNear(lines: Source["lines"], line: number | null): Source["lines"] {
  const close =
    line === null ? [] : lines.filter((l) => l.line >= line - 12 && l.line <= line + 48);
  return close.length ? close : lines.slice(0, 60);
}

/** Buttons that show a site or code in Sites and in What-if. */
export function SiteActions({ of: s }: { of: Selection }) {
  return (
    <p class="actions">
      <button type="button" class="button" onClick={() => showInTab("sites", null, s)}>
        Open in Sites
      </button>
      <button type="button" class="button" onClick={() => showInTab("whatif", null, s)}>
        What if it were faster
      </button>
    </p>
  );
}
