/** Selection of code and spawn sites by name, with their share of the critical path. */

import type { ComponentChildren } from "preact";
import { useSignal } from "@preact/signals";
import { codeColour } from "../codeColours";
import type { CriticalPath, Report, RunMeta } from "../data/contract";
import { fileName, percent } from "../format";
import { dark } from "../theme/theme";
import { CodeLabel } from "../components/CodeLabel";
import { Section, Swatch } from "../components/widgets";
import { targetLabel } from "./targets";
import { composition } from "./PathByCode";

export function CodePicker({
  run: r,
  report: rep,
  path,
  what,
  onToggle,
}: {
  run: RunMeta;
  report: Report | undefined;
  path: CriticalPath | undefined;
  what: string[];
  onToggle: (w: string) => void;
}) {
  const all = useSignal(false);
  const weight = new Map(path ? composition(path).map((c) => [c.code, c.weight]) : []);
  const span = rep?.span ?? path?.span ?? 1;
  const codes = r.codes
    .map((c, i) => ({ c, i, w: weight.get(i) ?? 0 }))
    .sort((a, b) => b.w - a.w || b.c.ticks - a.c.ticks);
  const shown = all.value ? codes.slice(0, 300) : codes.slice(0, 12);
  const sites = ((rep?.sites ?? []) as any[]).slice(0, 60);
  const regions = ((rep?.regions ?? []) as { region: string; work: number }[]).slice(0, 60);
  const isListed = (w: string) => regions.some((of) => w === `region:${of.region}`);
  const own = what.filter(
    (w) => w.startsWith("lines:") || (w.startsWith("region:") && !isListed(w)),
  );
  return (
    <>
      {own.length > 0 && (
        <Section title="Lines" style={{ marginTop: "0", marginBottom: "16px" }}>
          {own.map((w) => (
            <Option
              key={w}
              on
              label={<span class="mono">{targetLabel(w, r)}</span>}
              onChange={() => onToggle(w)}
              value={null}
            />
          ))}
        </Section>
      )}
      {regions.length > 0 && (
        <Section
          title="Marked regions"
          note="share of the work"
          style={{ marginTop: "0", marginBottom: "16px" }}
        >
          {regions.map((of) => (
            <Option
              key={of.region}
              on={what.includes(`region:${of.region}`)}
              onChange={() => onToggle(`region:${of.region}`)}
              value={rep?.work ? of.work / rep.work : null}
              label={<span class="mono">{of.region}</span>}
            />
          ))}
        </Section>
      )}
      <Section title="Code" note="share of the critical path" style={{ marginTop: "0" }}>
        {shown.map(({ c, i, w }) => (
          <Option
            key={i}
            on={what.includes(`code:${i}`)}
            onChange={() => onToggle(`code:${i}`)}
            value={path ? w / span : null}
            label={
              <>
                <Swatch of={codeColour(r.codes, i, dark.value)} />
                <span class="mono" title={c.label}>
                  <CodeLabel label={c.label} />
                </span>
              </>
            }
          />
        ))}
        {codes.length > 12 && (
          <button type="button" class="link more" onClick={() => (all.value = !all.value)}>
            {all.value ? "fewer" : `${codes.length - 12} more`}
          </button>
        )}
      </Section>
      <Section title="Spawn sites" note="share of the critical path">
        {sites.map((s, i) => (
          <Option
            key={i}
            on={what.includes(`site:${r.sites[i]?.place ?? s.id}`)}
            onChange={() => onToggle(`site:${r.sites[i]?.place ?? s.id}`)}
            value={s.critical_percent / 100}
            label={
              <>
                <span class="fn">{s.function ?? fileName(String(s.site))}</span>
                {s.function && s.function !== s.site && (
                  <span class="place">{fileName(String(s.site))}</span>
                )}
              </>
            }
          />
        ))}
      </Section>
    </>
  );
}

function Option({
  on,
  label: text,
  value,
  onChange,
}: {
  on: boolean;
  label: ComponentChildren;
  value: number | null;
  onChange: () => void;
}) {
  return (
    <label class={`option ${on ? "on" : ""}`}>
      <input type="checkbox" checked={on} onChange={onChange} />
      <span class="text">{text}</span>
      {value !== null && (
        <span class="share">
          <i style={{ width: `${Math.min(1, value) * 48}px` }} />
        </span>
      )}
      {value !== null && <span class="number">{percent(value, value > 0 ? 1 : 0)}</span>}
    </label>
  );
}
