/** The frame: header, tabs, the tab that is shown, status line. */

import { Timeline } from "./timeline/Timeline";
import { DagView } from "./dagview/DagView";
import { meta, source, TABS, tab } from "./store";
import { requests } from "./data/requests";
import type { Meta } from "./data/contract";
import { useEffect } from "preact/hooks";

export function App() {
  useEffect(() => { void source.json<Meta>(requests.meta()).then((m) => (meta.value = m)); }, []);
  if (!meta.value) return <p>Loading</p>;
  return (
    <div id="frame">
      <nav>{TABS.map((t) => <button onClick={() => (tab.value = t)}>{t}</button>)}</nav>
      <main>{tab.value === "timeline" ? <Timeline /> : tab.value === "dag" ? <DagView /> : <p>{tab.value}</p>}</main>
    </div>
  );
}
