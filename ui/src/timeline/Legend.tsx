/** Meanings of the boxes' colours. An entry of code or a site is a filter: it dims the rest. */

import { useMemo, useState } from "preact/hooks";
import { colour, sequential, type Colour } from "../colors";
import type { RunMeta } from "../data/contract";
import { count, fileName, ticks } from "../format";
import { colorBy, selection, type Selection } from "../store";
import { colours, dark } from "../theme/theme";
import { CodeLabel } from "../components/CodeLabel";
import { Swatch } from "../components/widgets";
import { distinct } from "./names";
import { BoxColours } from "./boxColours";

/** Number of entries that are always shown, and of those shown on request. */
const SHOWN = 6;
const MAX_SHOWN = 60;

interface Entry {
  label: string;
  of: Colour;
  what: Selection | null;
  /** Work of a code, in words. */
  work?: string;
}

export function Legend({ meta }: { meta: RunMeta }) {
  const [all, setAll] = useState(false);
  const d = dark.value;
  const mode = colorBy.value;
  const panel = colours.value.panel;
  const palette = useMemo(() => new BoxColours(mode, meta, d, panel), [mode, meta, d, panel]);
  if (mode === "level")
    return (
      <span class="tl-key">
        level 0
        <i
          class="tl-ramp"
          style={{
            background: `linear-gradient(90deg, ${[0, 0.25, 0.5, 0.75, 1].map((x) => sequential(x, d)).join(",")})`,
          }}
        />
        deep
      </span>
    );
  const entries = entriesOf(meta, palette, d);
  const shown = entries.slice(0, all ? MAX_SHOWN : SHOWN);
  const more = entries.length - shown.length;
  return (
    <span class={all ? "tl-keys all" : "tl-keys"}>
      {shown.map((e, i) =>
        e.what ? (
          <EntryButton key={i} of={e} what={e.what} />
        ) : (
          <span class="tl-key" key={i}>
            <Swatch of={e.of} />
            <span>{e.label}</span>
          </span>
        ),
      )}
      {(more > 0 || all) && (
        <button
          type="button"
          class="tl-key more"
          aria-expanded={all}
          disabled={all && entries.length <= SHOWN}
          onClick={() => setAll(!all)}
        >
          {all ? "fewer" : `and ${count(more)} more`}
        </button>
      )}
    </span>
  );
}

function EntryButton({ of: e, what }: { of: Entry; what: Selection }) {
  const now = selection.value;
  const on =
    (what.kind === "code" && now?.kind === "code" && now.code === what.code) ||
    (what.kind === "site" && now?.kind === "site" && now.site === what.site);
  return (
    <button
      type="button"
      class={on ? "tl-key on" : "tl-key"}
      aria-pressed={on}
      title={
        on
          ? "Remove this highlight"
          : `Highlight only ${e.label}${e.work ? `, ${e.work} of work` : ""}`
      }
      onClick={() => (selection.value = on ? null : what)}
    >
      <Swatch of={e.of} />
      <span>
        <CodeLabel label={e.label} />
      </span>
      {e.work && <span class="tl-time">{e.work}</span>}
    </button>
  );
}

function entriesOf(meta: RunMeta, palette: BoxColours, d: boolean): Entry[] {
  const facts = { code: 0xffff, site: 0xffff, row: 0, level: 0, critical: false, readyPath: false };
  switch (colorBy.value) {
    case "code": {
      const names = distinct(meta.codes.map((c) => [c.label]));
      return meta.codes.map((_, code) => ({
        label: names[code]!,
        of: palette.of({ ...facts, code }),
        what: { kind: "code", run: meta.id, code },
        // An overview does not know the work yet.
        ...(meta.overview === null && {
          work: ticks(meta.codes[code]!.ticks, meta.ticks_per_second),
        }),
      }));
    }
    case "site": {
      const names = distinct(
        meta.sites.map((s) => [
          fileName(s.label),
          s.label,
          `${s.label} ${s.function ?? ""}`.trim(),
        ]),
      );
      return meta.sites.map((_, site) => ({
        label: names[site]!,
        of: palette.of({ ...facts, site }),
        what: { kind: "site", run: meta.id, site },
      }));
    }
    case "critical":
      return [
        {
          label: "on the critical path",
          of: colour("critical", { critical: true }, d),
          what: null,
        },
        { label: "on the ready path", of: colour("critical", { readyPath: true }, d), what: null },
        { label: "on neither path", of: colour("critical", {}, d), what: null },
      ];
    case "activity":
      return [{ label: "working", of: colour("activity", { activity: "work" }, d), what: null }];
    default:
      return [];
  }
}
