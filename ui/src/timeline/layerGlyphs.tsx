/** Small pictures of each layer, so that the toolbar is the legend. */

import type { Tokens } from "../colors";
import type { Layer } from "../store";

export function LayerGlyph({ layer, t, dark }: { layer: Layer; t: Tokens; dark: boolean }) {
  return (
    <svg width="14" height="10" viewBox="0 0 14 10" aria-hidden="true">
      {inside(layer, t, dark)}
    </svg>
  );
}

function inside(layer: Layer, t: Tokens, dark: boolean) {
  switch (layer) {
    case "spawns":
      return (
        <g>
          <circle cx="4" cy="5" r="2.4" fill={dark ? "#ee93a2" : "#a83a4f"} />
          <circle cx="11" cy="5" r="2.4" fill={dark ? "#8fe0d2" : "#1f6f64"} />
        </g>
      );
    case "steals":
    case "leaps":
      return (
        <g fill="none" stroke={layer === "leaps" ? t.leap : t.fg} stroke-width="1.5">
          <path d="M10 0Q3 5 8 8" />
          <path
            d="M4.5 7.5 9.5 9.5 9.5 5.5Z"
            fill={layer === "leaps" ? t.leap : t.fg}
            stroke="none"
          />
        </g>
      );
    case "matrix":
      return <path d="M0 0h4v4H0zM9 0h4v4H9zM5 5h4v4H5z" fill={t.leap} />;
    case "waits":
      return (
        <g fill="none" stroke={t.wait} stroke-width="1.5">
          <circle cx="3" cy="2.5" r="1.6" fill={t.wait} stroke="none" />
          <path d="M3 2.5Q13 3 9 8" />
          <path d="M5.5 8.5 10.5 6 11 10Z" fill={t.wait} stroke="none" />
        </g>
      );
    case "ready":
      return (
        <g>
          <path d="M0 5h14" stroke="#fff" stroke-width="5" />
          <path d="M0 5h14" stroke="#12161d" stroke-width="1.8" stroke-dasharray="2 2" />
        </g>
      );
    case "critical":
      return (
        <g>
          <path d="M0 5h14" stroke="#fff" stroke-width="7" />
          <path d="M0 5h14" stroke="#12161d" stroke-width="3.4" />
        </g>
      );
    case "delay":
      return (
        <g>
          <rect width="14" height="10" rx="2" fill={t.delay} fill-opacity="0.3" />
          <path d="M0 6 6 0M3 10 13 0M9 10l5-5" stroke={t.delay} stroke-width="2" />
        </g>
      );
    case "nowork":
      return (
        <g>
          <rect width="7" height="10" fill={t.sched} />
          <path d="M1 1h2v2H1zM4 4h2v2H4zM1 7h2v2H1z" fill={t.schedInk} />
          <rect x="7" width="7" height="10" fill={t.appBg} />
          <path d="M7 5l5-5M8 10l6-6" stroke={t.appHatch} />
        </g>
      );
    case "cpu":
      return <rect y="4" width="14" height="3" fill={t.work} />;
    case "queue":
      return <path d="M0 10V7h3V4h4v2h3V2h4v8Z" fill={t.fg3} />;
    case "attempts":
      return (
        <g>
          <path d="M1 1v5M3 1v5M8 1v5" stroke={t.steal} stroke-width="1.2" />
          <rect y="8" width="14" height="2" fill={t.sched} />
        </g>
      );
    case "regions":
      return (
        <g>
          <rect y="1" width="14" height="8" rx="2" fill={t.line2} />
          <rect y="1" width="2" height="8" fill={t.fg3} />
        </g>
      );
  }
}
