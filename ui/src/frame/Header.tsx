/** The runs, the search, and commands for the whole page. */

import type { ComponentChildren } from "preact";
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { RunMeta } from "../data/contract";
import { exportChoices, exportView } from "../export/export";
import { fileName, plural, ticks } from "../format";
import { link } from "../hash";
import { meta, other, run, runMeta, tab, theme, wholeRunOf } from "../store";
import { dark } from "../theme/theme";
import { colours } from "../theme/theme";
import { RunBadge } from "../components/widgets";
import { sameProgram } from "./runLoading";
import { overlay, notify } from "./overlay";
import { partCountText, partsOfRun, showPart, showWhole } from "./runParts";
import { Search } from "./Search";

export function Header() {
  const runs = meta.value?.runs ?? [];
  const whole = wholeRunOf(run.value);
  const chosen = runs.find((r) => r.id === other.value && r.id !== whole);
  const second = chosen ?? sameProgram(runs, whole);
  const first = runs.find((r) => r.id === whole) ?? runs[0];
  return (
    <header>
      <Logo />
      {first && (
        <RunChip
          of={first}
          all={runs}
          onPick={(id) => {
            if (id === second?.id) other.value = whole;
            run.value = id;
          }}
        />
      )}
      {tab.value !== "compare" && <PartChip />}
      {tab.value === "compare" && second ? (
        <RunChip
          of={second}
          all={runs}
          onPick={(id) => {
            if (id === whole) run.value = second.id;
            other.value = id;
          }}
        />
      ) : (
        <CompareChip runs={runs} />
      )}
      <Search />
      <ExportMenu />
      <button
        type="button"
        class="chip"
        onClick={copyLink}
        title="The link opens the page with this view"
      >
        Copy link
      </button>
      <ThemeButton />
      <button
        type="button"
        class="icon"
        style={{ marginLeft: "-8px" }}
        aria-label="Keys and help"
        title="Keys and help (?)"
        onClick={() => (overlay.value = "help")}
      >
        ?
      </button>
    </header>
  );
}

export async function copyLink(): Promise<void> {
  const text = link();
  try {
    await navigator.clipboard.writeText(text);
    notify(
      meta.value?.mode === "report"
        ? "Link copied"
        : "Link copied. It works whenever workspan view shows these traces on this machine",
    );
  } catch {
    // No clipboard without the user's permission or on file://: the address line has the link too.
    notify("Copy the address line: it opens the page with this view");
  }
}

function Logo() {
  const t = colours.value;
  return (
    <span class="logo">
      <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
        <path d="M10 3.5 4 9.5l6 7" fill="none" stroke={t.fg3} stroke-width="1.6" />
        <path d="M10 3.5 16 9.5l-6 7" fill="none" stroke={t.fg} stroke-width="2.4" />
        <circle cx="10" cy="3.5" r="2.4" fill={t.fg} />
        <circle cx="10" cy="16.5" r="2.4" fill={t.fg} />
        <circle cx="16" cy="9.5" r="2.2" fill={t.heat} />
        <circle cx="4" cy="9.5" r="2" fill="#44aa99" />
      </svg>
      workspan
    </span>
  );
}

/** One line about a run. */
export function runFacts(r: RunMeta): string {
  return [r.runtime, plural(r.workers, "worker"), ticks(r.elapsed, r.ticks_per_second)]
    .filter(Boolean)
    .join(" · ");
}

function RunChip({
  of,
  all,
  onPick,
}: {
  of: RunMeta;
  all: RunMeta[];
  onPick: (id: string) => void;
}) {
  const content = (
    <>
      <RunBadge id={of.id} />
      <b>{of.file}</b>
      <span class="more">{runFacts(of)}</span>
    </>
  );
  if (all.length < 2)
    return (
      <span class="chip run" title={of.command ?? undefined}>
        {content}
      </span>
    );
  return (
    <Menu
      chip={
        <>
          <span class="unseen">Choose a run: </span>
          {content} ▾
        </>
      }
      className="chip run"
      items={all.map((r) => ({
        label: (
          <>
            <RunBadge id={r.id} /> {r.file}
          </>
        ),
        end: runFacts(r),
        act: () => onPick(r.id),
      }))}
      align="left"
    />
  );
}

/** Choice between the whole run and a part viewed alone. */
function PartChip() {
  const all = partsOfRun();
  if (all.length === 0) return null;
  const only = runMeta()?.only ?? null;
  const kinds = { region: "region", part: "part", site: "site" } as const;
  return (
    <Menu
      label={
        only
          ? `only ${fileName(only.label)}: choose another part`
          : "whole run: choose a part of the run"
      }
      chip={
        only ? (
          <>
            only <b class="part">{fileName(only.label)}</b> ▾
          </>
        ) : (
          <>whole run ▾</>
        )
      }
      className={only ? "chip on" : "chip"}
      items={[
        { label: "The whole run", act: showWhole },
        ...all.map((part) => ({
          label: (
            <>
              <span class="faint">{kinds[part.kind]}</span> {fileName(part.label)}
            </>
          ),
          end: partCountText(part),
          act: () => void showPart(part.id),
        })),
      ]}
      align="left"
    />
  );
}

function CompareChip({ runs }: { runs: RunMeta[] }) {
  return (
    <button
      type="button"
      class="chip dashed"
      onClick={() => (tab.value = "compare")}
      title={runs.length > 1 ? "Show two runs side by side" : "How to open two runs"}
    >
      <span>+ Compare{runs.length < 2 && <span class="more"> with…</span>}</span>
    </button>
  );
}

function ThemeButton() {
  const next = { system: "light", light: "dark", dark: "system" } as const;
  const words = { system: "as the system", light: "light", dark: "dark" };
  return (
    <button
      type="button"
      class="icon"
      aria-label={`Theme: ${words[theme.value]}`}
      title={`Theme: ${words[theme.value]}`}
      onClick={() => {
        theme.value = next[theme.value];
        notify(`Theme: ${words[theme.value]}`);
      }}
    >
      {dark.value ? (
        <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
          <path
            d="M11.5 8.8A5 5 0 0 1 5.2 2.5a5 5 0 1 0 6.3 6.3Z"
            fill="none"
            stroke="currentColor"
            stroke-width="1.4"
          />
        </svg>
      ) : (
        <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
          <circle cx="8" cy="8" r="2.8" fill="none" stroke="currentColor" stroke-width="1.4" />
          <path
            d="M8 1.5v1.6M8 12.9v1.6M1.5 8h1.6M12.9 8h1.6M3.4 3.4l1.1 1.1M11.5 11.5l1.1 1.1M3.4 12.6l1.1-1.1M11.5 4.5l1.1-1.1"
            stroke="currentColor"
            stroke-width="1.4"
          />
        </svg>
      )}
    </button>
  );
}

function ExportMenu() {
  return (
    <Menu
      label="Export this view"
      chip={<>Export ▾</>}
      className="chip"
      items={exportChoices(tab.value).map(({ kind, size, title }) => ({
        label: title,
        act: () => void exportView(kind, size),
      }))}
      align="right"
    />
  );
}

interface Entry {
  label: ComponentChildren;
  end?: string | undefined;
  act: () => void;
}

/** A button with a drop-down list. */
function Menu(p: {
  label?: string;
  chip: ComponentChildren;
  className: string;
  items: Entry[];
  align: "left" | "right";
}) {
  const open = useSignal(false);
  const box = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (!open.value) return;
    const away = (e: Event) => {
      if (!box.current?.contains(e.target as Node)) open.value = false;
    };
    addEventListener("pointerdown", away);
    box.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    return () => removeEventListener("pointerdown", away);
  }, [open.value]);
  const walk = (e: KeyboardEvent) => {
    const all = [...(box.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])],
      at = all.indexOf(document.activeElement as HTMLElement);
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      e.preventDefault();
      e.stopPropagation();
      all[(at + (e.key === "ArrowDown" ? 1 : -1) + all.length) % all.length]?.focus();
    }
    if (e.key === "Escape") {
      e.preventDefault();
      e.stopPropagation();
      open.value = false;
      box.current?.querySelector<HTMLElement>("button")?.focus();
    }
  };
  return (
    <span
      ref={box}
      style={{
        position: "relative",
        minWidth: "0",
        flex: p.align === "left" ? "0 1 auto" : "none",
        display: "inline-flex",
      }}
      onKeyDown={walk}
    >
      <button
        type="button"
        class={p.className}
        aria-haspopup="menu"
        aria-expanded={open.value}
        aria-label={p.label}
        onClick={() => (open.value = !open.value)}
      >
        {p.chip}
      </button>
      {open.value && (
        <div
          class="menu"
          role="menu"
          style={p.align === "left" ? { left: "0", right: "auto" } : {}}
        >
          {p.items.map((item, i) => (
            <button
              key={i}
              type="button"
              role="menuitem"
              class="row"
              onClick={() => {
                open.value = false;
                item.act();
              }}
            >
              {item.label}
              {item.end && <span class="end">{item.end}</span>}
            </button>
          ))}
        </div>
      )}
    </span>
  );
}
