/** The frame: header, tabs, banners, the view of the tab, drawer, status line, and overlays. */

import { Component, type ComponentChildren } from "preact";
import { Compare } from "./compare/Compare";
import { dagDrawer } from "./dag/toolbarOptions";
import { DagView } from "./dag/DagView";
import { Drawer } from "./drawer/Drawer";
import { Flame } from "./flame/Flame";
import { Banners } from "./frame/Banners";
import { Header } from "./frame/Header";
import { Loading, StillReading } from "./frame/Loading";
import { overlay, toast } from "./frame/overlay";
import { StatusLine } from "./frame/StatusLine";
import { Tabs, TITLES } from "./frame/Tabs";
import { Help } from "./palette/Help";
import { Palette } from "./palette/Palette";
import { PatternDefs } from "./patterns";
import { Scalability } from "./scalability/Scalability";
import { Sites } from "./sites/Sites";
import { announcement, drawer, meta, runMeta, selection, split, tab, type Tab } from "./store";
import { Sql } from "./sql/Sql";
import { Statistics } from "./statistics/Statistics";
import { hasNoLength, NoLengthView } from "./summary/NoLength";
import { Summary } from "./summary/Summary";
import { TermTooltip } from "./terms/Term";
import { dark } from "./theme/theme";
import { Timeline } from "./timeline/Timeline";
import { WhatIf } from "./whatif/WhatIf";

/**
 * The placeholder of a tab that needs more than the overview, while that is all there is. Compare
 * and Scalability need it of all runs.
 */
function overviewPlaceholder(tab: Tab): ComponentChildren | null {
  if (tab === "timeline" || tab === "summary") return null;
  const all = tab === "compare" || tab === "scalability";
  const reading = all
    ? meta.value?.runs.some((r) => r.overview !== null)
    : runMeta()?.overview !== null;
  return reading ? <StillReading what={TITLES[tab]} /> : null;
}

/** Tabs of charts over time. */
const OVER_TIME: ReadonlySet<Tab> = new Set(["timeline", "dag", "flame", "scalability", "whatif"]);

/** What stands for a chart over time, if no time passes in the run. */
function noLengthPlaceholder(tab: Tab): ComponentChildren | null {
  const r = runMeta();
  const others = tab === "scalability" && meta.value?.runs.some((x) => x.elapsed > 0);
  return r && OVER_TIME.has(tab) && !others && hasNoLength(r) ? <NoLengthView run={r} /> : null;
}

const VIEWS: Record<Tab, () => ComponentChildren> = {
  summary: () => <Summary />,
  timeline: () => <Timeline />,
  dag: () => <DagView />,
  scalability: () => <Scalability />,
  sites: () => <Sites />,
  whatif: () => <WhatIf />,
  compare: () => <Compare />,
  flame: () => <Flame />,
  statistics: () => <Statistics />,
  sql: () => <Sql />,
};

/** Views that begin with a headline of their own. */
const WITH_HEADLINE: ReadonlySet<Tab> = new Set([
  "summary",
  "flame",
  "scalability",
  "whatif",
  "compare",
]);

export function App() {
  const at = tab.value;
  const both = split.value && (at === "timeline" || at === "dag");
  // The DAG has its own side panel, and shows the drawer only on request. The flame graph uses the
  // drawer for the range shown.
  const inDrawer =
    at === "timeline" || both || (at === "flame" && selection.value?.kind === "range");
  const wanted = inDrawer ? drawer.value : at === "dag" && dagDrawer.value;
  const details =
    meta.value !== null && runMeta()?.overview === null && selection.value !== null && wanted;
  return (
    <div class="frame">
      <PatternDefs dark={dark.value} />
      <Header />
      <Tabs />
      <Banners />
      <main>
        {(!WITH_HEADLINE.has(at) || noLengthPlaceholder(at)) && (
          <h1 class="unseen">{TITLES[at]}</h1>
        )}
        {!meta.value ? (
          <div class="view">
            <Loading />
          </div>
        ) : both ? (
          <div class="halves" id="view" role="tabpanel" aria-label={TITLES[at]}>
            <div>
              <ErrorBoundary key="timeline">{VIEWS.timeline()}</ErrorBoundary>
            </div>
            <div>
              <ErrorBoundary key="dag">{overviewPlaceholder("dag") ?? VIEWS.dag()}</ErrorBoundary>
            </div>
          </div>
        ) : (
          <div class="view" id="view" role="tabpanel" aria-label={TITLES[at]}>
            <ErrorBoundary key={at}>
              {overviewPlaceholder(at) ?? noLengthPlaceholder(at) ?? VIEWS[at]()}
            </ErrorBoundary>
          </div>
        )}
        <TermTooltip />
      </main>
      {details ? (
        <ErrorBoundary key="drawer">
          <Drawer />
        </ErrorBoundary>
      ) : (
        <span />
      )}
      <StatusLine />
      {overlay.value === "palette" && <Palette />}
      {overlay.value === "help" && <Help />}
      {toast.value && (
        <div class="toast" aria-hidden="true">
          {toast.value}
        </div>
      )}
      <div class="unseen" role="status" aria-live="polite" id="announcer">
        {announcement.value}
      </div>
    </div>
  );
}

/** Catches the error of a view, so that the page and the other views keep working. */
class ErrorBoundary extends Component<{ children?: ComponentChildren }, { broken: Error | null }> {
  override state = { broken: null as Error | null };
  override componentDidCatch(e: unknown) {
    console.error(e);
    this.setState({ broken: e instanceof Error ? e : new Error(String(e)) });
  }
  override render() {
    if (!this.state.broken) return <>{this.props.children}</>;
    return (
      <div class="state" role="alert">
        <h2>This view failed</h2>
        <div>{this.state.broken.message}</div>
        <div>
          The other views still work. Please report this error with the address of this page.
        </div>
        <button type="button" class="button" onClick={() => this.setState({ broken: null })}>
          Try again
        </button>
      </div>
    );
  }
}
