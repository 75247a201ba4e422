/** The logical stacks with most time that end in the selected code, or in any code of a site. */

import { useMemo } from "preact/hooks";
import { useJson, valueOf } from "../answers";
import { codeColour } from "../codeColours";
import type { Flame, RunMeta } from "../data/contract";
import { requests } from "../data/requests";
import { fileName, percent, plural, ticks } from "../format";
import { run, showInTab } from "../store";
import { dark } from "../theme/theme";
import { paintOf, Swatch } from "../components/widgets";
import { stacksOf, type CodeStack } from "./stacks";
import type { Row } from "./siteRows";

const MAX_STACKS = 6;

export function SiteStacks({ row, run: r }: { row: Row; run: RunMeta }) {
  // Reports carry the frames with recursion.
  const flame = valueOf(useJson<Flame>(requests.flame(run.value, "all", null, true)));
  const stacks = useMemo(
    () => (flame ? stacksOf(flame, row.site, row.kind === "block" ? row.code : null) : []),
    [flame, row.site, row.kind, row.code],
  );
  if (stacks.length === 0) return null;
  const total = stacks.reduce((n, s) => n + s.ticks, 0);
  const most = stacks[0]!.ticks;
  return (
    <div class="stacks">
      <div class="head">
        <h2>
          <span class="fn">{row.name}</span> in logical stacks{" "}
          <span>
            {row.kind === "block" ? "from the root to this code" : "from the root to its code"},
            recursion merged
          </span>
        </h2>
        <span class="end">
          <button type="button" class="link" onClick={() => showInTab("flame", null, null)}>
            Flame graph →
          </button>
        </span>
      </div>
      <ol>
        {stacks.slice(0, MAX_STACKS).map((s) => (
          <li key={`${s.sites.join()}:${s.code}`}>
            <span class="cell-bar">
              <i
                style={{
                  width: `${Math.max(1.5, (90 * s.ticks) / most)}px`,
                  ...paintOf(codeColour(r.codes, s.code, dark.value)),
                }}
              />
            </span>
            <b>{ticks(s.ticks, r.ticks_per_second)}</b>
            <span class="faint">{percent(s.ticks / total)}</span>
            <Path of={s} run={r} />
          </li>
        ))}
      </ol>
      {stacks.length > MAX_STACKS && (
        <p class="faint">
          and {plural(stacks.length - MAX_STACKS, "more stack")} of{" "}
          {ticks(
            stacks.slice(MAX_STACKS).reduce((n, s) => n + s.ticks, 0),
            r.ticks_per_second,
          )}
        </p>
      )}
    </div>
  );
}

/** Names of a stack's sites, the root first. */
export const siteNames = (s: CodeStack, r: RunMeta): string[] =>
  s.sites.map((at) => {
    const site = r.sites[at];
    return !site || site.label === "root" ? "root" : (site.function ?? fileName(site.label));
  });

function Path({ of: s, run: r }: { of: CodeStack; run: RunMeta }) {
  const code = r.codes[s.code]?.label ?? "other code";
  const names = siteNames(s, r);
  return (
    <span class="mono path" title={[...names, code].join(" › ")}>
      {names.join(" › ")} › <Swatch of={codeColour(r.codes, s.code, dark.value)} />{" "}
      <b class="fn">{code}</b>
    </span>
  );
}
