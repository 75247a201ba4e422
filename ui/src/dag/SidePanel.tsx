/** The panel beside the picture: the critical path, the selection, and how to read the picture. */

import { layout, runMeta } from "../store";
import { fillOf } from "../patterns";
import { colours, dark } from "../theme/theme";
import { CriticalPathList } from "./CriticalPathList";
import { collapse, expand } from "./expandCollapse";
import { expandable, isInner } from "./model";
import { NodeFacts } from "./NodeFacts";
import { nameOf } from "./nodeDrawing";
import type { Scene } from "./scene";
import { showInTimeline } from "./timelineLink";
import { dagDrawer } from "./toolbarOptions";

export function SidePanel({ scene }: { scene: Scene }) {
  return (
    <aside class="dag-side" aria-label="Critical path and selection">
      <CriticalPathList scene={scene} />
      <SelectedNode scene={scene} />
      <ReadingGuide scene={scene} />
    </aside>
  );
}

function SelectedNode({ scene }: { scene: Scene }) {
  const n = scene.selected.value;
  const meta = scene.run;
  if (!n)
    return (
      <section>
        <h2>Selected</h2>
        <p class="dag-dim">Click a node, or press an arrow key.</p>
      </section>
    );
  const s = n.strand;
  return (
    <section aria-live="off">
      <h2>
        Selected{" "}
        <span>
          {n.kind === "group"
            ? n.folded?.section
              ? "section of a task"
              : "group of tasks"
            : s && n.folded
              ? "folded strand"
              : isInner(n)
                ? `${n.kind} inside a folded strand`
                : n.kind}
        </span>
      </h2>
      <NodeFacts scene={scene} n={n} />
      <div class="dag-buttons">
        <button class="dag-main-button" onClick={() => showInTimeline(scene, n)}>
          Show in timeline
        </button>
        {expandable(n) && <button onClick={() => expand(scene, n)}>Expand</button>}
        {(n.inside || (n.parent && n.parent.kind !== "run")) && (
          <button onClick={() => collapse(scene, n)}>
            {n.inside ? "Collapse" : `Collapse ${short(nameOf(n.parent!, meta))}`}
          </button>
        )}
        <button aria-pressed={dagDrawer.value} onClick={() => (dagDrawer.value = !dagDrawer.value)}>
          Details <kbd>Q</kbd>
        </button>
      </div>
    </section>
  );
}

const short = (name: string): string => (name.length > 22 ? `${name.slice(0, 20)}…` : name);

/** Key to the kinds of time in the strip beside the picture. */
function StripGlyph() {
  const kinds = ["work", "descheduled", "delay", "sched", "app"] as const;
  return (
    <svg width="34" height="22" aria-hidden="true">
      {kinds.map((kind, i) => (
        <rect
          key={kind}
          x={2 + i * 6}
          y="3"
          width="6"
          height="16"
          fill={fillOf(kind, dark.value)}
        />
      ))}
    </svg>
  );
}

function ReadingGuide({ scene }: { scene: Scene }) {
  const t = colours.value;
  const line = (dash: string, width: number, colour: string) => (
    <svg width="34" height="22" aria-hidden="true">
      <path
        d="M4 3H20Q26 3 26 9V20"
        fill="none"
        stroke={colour}
        stroke-width={width}
        stroke-dasharray={dash}
      />
    </svg>
  );
  return (
    <section>
      <h2>How to read it</h2>
      <ul class="dag-how">
        {layout.value === "time" && (
          <li>
            <StripGlyph />
            On the left: what the workers did at that time. Blue: running. Lines: descheduled.
            Crosses: blocked. Orange: delay. Dots: no work, scheduler. Grey: no work, program. Lines
            in a strand: descheduled. Crosses in it: blocked.
            {runMeta()?.unread && " Dark hatch: not read."}
          </li>
        )}
        <li>
          <svg width="34" height="26" aria-hidden="true">
            <rect x="7" y="6" width="24" height="18" rx="4" fill={t.panel2} stroke={t.line2} />
            <rect x="3" y="2" width="24" height="18" rx="4" fill={t.panel} stroke={t.line2} />
            <path d="M4 4h8v4h5v4h-9v4h-4z" fill="#44aa99" />
          </svg>
          A collapsed task. Inside: its running workers over time, downwards. Below: the workers
          that ran it. Double-click to expand it.
        </li>
        <li>{line("", 3, t.fg)}Critical path: the heaviest chain of strands.</li>
        <li>
          {line("2 3", 2, t.fg)}Ready path: the chain that the run waited for, from its last strand
          back to the start.
        </li>
        <li>{line("1.5 3", 1.1, t.fg3)}Slack: this side ended early and waited for its sibling.</li>
        {scene.model.value.links.some((l) => l.kind === "depend" || l.kind === "signal") && (
          <li>{line("", 1.3, t.accent)}Dependence between tasks; dashed: a signal.</li>
        )}
      </ul>
      <p class="dag-dim dag-keys">
        <kbd>Enter</kbd> expand <kbd>⇧ Enter</kbd> collapse <kbd>X</kbd> <kbd>C</kbd> expand,
        collapse one level <kbd>F</kbd> fit <kbd>T</kbd> timeline <kbd>.</kbd> <kbd>,</kbd> along
        the critical path
      </p>
    </section>
  );
}
