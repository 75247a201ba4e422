/** All keys by group. */

import { commands } from "../commands";
import { overlay } from "../frame/overlay";
import { Key } from "../components/widgets";
import { useFocusTrap } from "./focusTrap";

const ORDER = ["Everywhere", "View", "Timeline", "DAG", "Sites", "What-if", "Compare", "Export"];

export function Help() {
  const trap = useFocusTrap();
  const groups = new Map<string, typeof commands.value>();
  for (const c of commands.value)
    if (c.keys.length) groups.set(c.group, [...(groups.get(c.group) ?? []), c]);
  const rank = (g: string) => {
    const i = ORDER.indexOf(g);
    return i < 0 ? ORDER.length : i;
  };
  const sorted = [...groups].sort(([a], [b]) => rank(a) - rank(b) || a.localeCompare(b));
  return (
    <div
      class="veil"
      style={{ paddingTop: "8vh" }}
      onPointerDown={(e) => {
        if (e.target === e.currentTarget) overlay.value = null;
      }}
    >
      <div ref={trap} class="sheet help" role="dialog" aria-modal="true" aria-label="Keys and help">
        <div style={{ display: "flex", alignItems: "baseline", gap: "12px" }}>
          <h1>Keys</h1>
          <span class="dim">
            To look up a term: <code>workspan help WORD</code>
          </span>
          <button
            type="button"
            class="icon"
            style={{ marginLeft: "auto" }}
            aria-label="Close"
            onClick={() => (overlay.value = null)}
          >
            ✕
          </button>
        </div>
        <div class="columns">
          {sorted.map(([group, list]) => (
            <section key={group}>
              <h2>{group}</h2>
              {list.map((c) => (
                <div key={c.id} class="line">
                  <span>{c.title}</span>
                  <span>
                    {c.keys.map((k) => (
                      <Key key={k} of={k} />
                    ))}
                  </span>
                </div>
              ))}
            </section>
          ))}
          <section>
            <h2>With the pointer</h2>
            {[
              ["Ctrl and wheel", "zoom at the pointer"],
              ["Drag in the timeline", "select a range"],
              ["Shift and drag", "pan"],
              ["Click", "select in all views"],
            ].map(([a, b]) => (
              <div key={a} class="line">
                <span>{b}</span>
                <span class="faint">{a}</span>
              </div>
            ))}
          </section>
        </div>
      </div>
    </div>
  );
}
