/** The frame's commands, which work on every tab. */

import { register } from "../commands";
import { exportChoices, exportView } from "../export/export";
import { print } from "../export/print";
import { copyLink } from "./Header";
import { overlay, notify } from "./overlay";
import {
  drawer,
  finding,
  meta,
  other,
  range,
  run,
  selection,
  split,
  tab,
  TABS,
  theme,
  wholeRunOf,
} from "../store";
import { TITLES } from "./Tabs";

export function registerGlobalCommands(): void {
  register(
    ...TABS.map((t, i) => ({
      id: `tab.${t}`,
      title: TITLES[t],
      keys: i < 9 ? [String(i + 1)] : [],
      group: "View",
      run: () => {
        tab.value = t;
      },
    })),
    {
      id: "split",
      title: "Timeline and DAG side by side",
      keys: ["\\"],
      group: "View",
      run: () => {
        split.value = !split.value;
        if (split.value && tab.value !== "timeline" && tab.value !== "dag") tab.value = "timeline";
      },
    },
    {
      id: "drawer",
      title: "Drawer: details of the selection",
      keys: ["q"],
      group: "View",
      run: () => {
        drawer.value = !drawer.value;
        if (drawer.value && !selection.value) notify("Select something to open the drawer");
      },
    },
    {
      id: "whole",
      title: "Whole run",
      keys: [],
      group: "View",
      run: () => {
        range.value = null;
      },
    },
    {
      id: "print",
      title: "Print this view on A4 paper",
      keys: ["Ctrl+p"],
      group: "Everywhere",
      run: () => void print(),
    },
    { id: "back", title: "Back", keys: ["["], group: "Everywhere", run: () => history.back() },
    {
      id: "forward",
      title: "Forward",
      keys: ["]"],
      group: "Everywhere",
      run: () => history.forward(),
    },
    {
      id: "palette",
      title: "All commands",
      keys: ["Ctrl+Shift+p"],
      group: "Everywhere",
      run: () => {
        overlay.value = overlay.value === "palette" ? null : "palette";
      },
    },
    {
      id: "help",
      title: "Keys and help",
      keys: ["?"],
      group: "Everywhere",
      run: () => {
        overlay.value = overlay.value === "help" ? null : "help";
      },
    },
    {
      id: "escape",
      title: "Close, or clear the selection",
      keys: ["Escape"],
      group: "Everywhere",
      run: escape,
    },
    {
      id: "theme.system",
      title: "Theme: as the system",
      keys: [],
      group: "View",
      run: () => {
        theme.value = "system";
      },
    },
    {
      id: "theme.light",
      title: "Theme: light",
      keys: [],
      group: "View",
      run: () => {
        theme.value = "light";
      },
    },
    {
      id: "theme.dark",
      title: "Theme: dark",
      keys: [],
      group: "View",
      run: () => {
        theme.value = "dark";
      },
    },
    {
      id: "link",
      title: "Copy link to this view",
      keys: [],
      group: "Export",
      run: () => void copyLink(),
    },
    {
      id: "export.png",
      title: "Save this view as PNG",
      keys: [],
      group: "Export",
      run: () => void exportView("png"),
    },
    {
      id: "export.svg",
      title: "Save this view as SVG",
      keys: [],
      group: "Export",
      run: () => void exportView("svg"),
    },
    ...(["column", "slide"] as const).flatMap((size) =>
      (["png", "svg"] as const).map((kind) => ({
        id: `export.${kind}.${size}`,
        title: `Save this view as ${kind.toUpperCase()} for a ${size === "slide" ? size : "paper's column"}`,
        keys: [],
        group: "Export",
        run: () => void exportView(kind, size),
      })),
    ),
    {
      id: "export.csv",
      title: "Save this view's numbers as CSV",
      keys: [],
      group: "Export",
      run: () => {
        if (exportChoices(tab.value).some((k) => k.kind === "csv")) void exportView("csv");
        else notify("This view has no numbers to export.");
      },
    },
    {
      id: "run.next",
      title: "Next run",
      keys: [],
      group: "View",
      run: () => {
        const ids = meta.value?.runs.map((r) => r.id) ?? [];
        const next = ids[(ids.indexOf(wholeRunOf(run.value)) + 1) % ids.length];
        if (next && next !== run.value) {
          if (other.value === next) other.value = run.value;
          run.value = next;
        }
      },
    },
  );
}

/** Closes the topmost thing: a sheet, a finding's callouts, the selection. */
function escape(): void {
  const focused = document.activeElement as HTMLElement | null;
  if (overlay.value) overlay.value = null;
  else if (focused && /^(INPUT|SELECT|TEXTAREA)$/.test(focused.tagName)) focused.blur();
  else if (finding.value !== null) finding.value = null;
  else selection.value = null;
}
