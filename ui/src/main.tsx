/** Starts the page: finds the source of its data, then renders it. */

import { render } from "preact";
import { App } from "./app";
import { EmbeddedSource } from "./data/embedded";
import { HttpSource } from "./data/http";
import type { DataSource } from "./data/source";
import { startPrinting } from "./export/export";
import { setSource } from "./store";
import { registerGlobalCommands } from "./frame/globalCommands";
import { startLoading } from "./frame/runLoading";
import { startHash } from "./hash";
import { startKeys } from "./keys";
import { startTheme } from "./theme/theme";
import "./page.css";
// After it and in this order, as later rules override earlier ones.
import "./frame/frame.css";
import "./components/components.css";
import "./components/tables.css";
import "./components/source.css";
import "./drawer/drawer.css";
import "./frame/overlays.css";
import "./export/print.css";
import "./export/figure.css";

async function findSource(): Promise<DataSource> {
  const script = document.getElementById("workspan-data");
  if (script) return EmbeddedSource.open(script);
  if (__INVENTED__) return new (await import("./data/mock")).MockSource();
  return new HttpSource();
}

startHash();
startTheme();
startKeys();
registerGlobalCommands();
startPrinting();
// A truncated report has lost the elements after its data.
const root =
  document.getElementById("app") ??
  document.body.appendChild(Object.assign(document.createElement("div"), { id: "app" }));
findSource().then(
  (source) => {
    setSource(source);
    startLoading();
    render(<App />, root);
  },
  (e: Error) => {
    root.setAttribute("role", "alert");
    root.className = "broken";
    root.textContent = `This report can't be shown: ${e.message}. Get the file again: it may have been damaged on its way.`;
  },
);
