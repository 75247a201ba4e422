/** Patterns for a picture in a file of its own: those of patterns.tsx as text. */

import type { Tokens } from "../colors";

export function svgPatternDefs(t: Tokens): string {
  return (
    `<pattern id="p-app" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="7" height="7" fill="${t.appBg}"/><rect width="1.2" height="7" fill="${t.appHatch}"/></pattern>` +
    `<pattern id="p-delay" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" fill="${t.delay}"/><rect width="2" height="6" fill="${t.panel}" opacity=".5"/></pattern>` +
    `<pattern id="p-sched" width="5" height="5" patternUnits="userSpaceOnUse"><rect width="5" height="5" fill="${t.sched}"/><circle cx="2.5" cy="2.5" r="1" fill="${t.schedInk}"/></pattern>` +
    `<pattern id="p-descheduled" width="4" height="4" patternUnits="userSpaceOnUse"><rect width="4" height="4" fill="${t.panel}"/><rect width="4" height="1.4" fill="${t.desch}"/></pattern>` +
    `<pattern id="p-blocked" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="${t.panel}"/><path d="M0 0 6 6M6 0 0 6" stroke="${t.blocked}"/></pattern>` +
    `<pattern id="p-unread" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)"><rect width="6" height="6" fill="${t.inset}"/><rect width="1.2" height="6" fill="${t.fg3}"/></pattern>`
  );
}
