/** The minimap: the whole run with the window on it, and the window's axis. */

import { axisTime as labelAt, ticks as timeOf } from "../format";
import { veil } from "./tileStyle";
import type { Pen } from "./pen";
import { profileColumns, steppedArea } from "./parallelismProfile";
import { axis as axisOf, isWholeRun, pixelAt as pixel } from "./timeScale";
import type { Scene } from "./scene";

export function drawMinimap(s: Scene, pen: Pen): void {
  const { minimap: band, x0, plot } = s.bands;
  const t = s.tokens;
  pen.text("Whole run", 16, band.y + (band.h > 24 ? 12 : 10), {
    size: 11.5,
    weight: 600,
    colour: t.fg,
  });
  if (band.h > 24)
    pen.text(timeOf(s.meta.elapsed, s.meta.ticks_per_second), 16, band.y + 26, { colour: t.fg3 });
  pen.rect(x0, band.y, plot, band.h, t.inset);
  const n = Math.max(1, Math.floor(plot));
  const c = profileColumns(
    s.tiles.slots("profile", s.overview, s.tiles.overviewLevel),
    s.overview,
    n,
    ["running"],
  );
  const high = new Float64Array(n);
  const base = band.y + band.h;
  const p = Math.max(1, s.meta.workers);
  for (let i = 0; i < n; i++)
    high[i] = base - (Math.min(p, c.values.running![i] || 0) / p) * (band.h - 4);
  pen.area(steppedArea(n, s.overview, new Float64Array(n).fill(base), high), t.work, 0.78);
  const window = s.dragged ?? s.scale;
  const a = pixel(s.overview, window.t0);
  const b = Math.max(pixel(s.overview, window.t1), a + 2);
  if (!isWholeRun(window, s.meta.elapsed)) {
    pen.rect(x0, band.y, Math.max(0, a - x0), band.h, veil(t, s.dark));
    pen.rect(b, band.y, Math.max(0, x0 + plot - b), band.h, veil(t, s.dark));
  }
  for (const mark of s.marks) pen.rect(pixel(s.overview, mark) - 0.5, band.y, 1, band.h, t.accent);
  pen.frame(a + 0.75, band.y - 0.25, Math.max(1, b - a - 1.5), band.h + 0.5, t.accent, 1.5);
  for (const [edge, by] of [
    [a, 1],
    [b, -1],
  ] as const) {
    if (b - a < 12 && by === -1) continue;
    pen.rects([edge - 3.5 + by, band.y + band.h / 2 - 8, 7, 16], t.accent, 2.5);
    pen.rect(edge - 1 + by, band.y + band.h / 2 - 4, 1, 8, t.panel);
    pen.rect(edge + 0.6 + by, band.y + band.h / 2 - 4, 1, 8, t.panel);
  }
}

export function drawAxis(s: Scene, pen: Pen): void {
  const { axis: y, x0, plot, rows } = s.bands;
  const t = s.tokens;
  const made = axisOf(s.scale, s.meta.ticks_per_second, Math.max(2, Math.min(10, plot / 110)));
  const bottom = rows.y + Math.min(rows.h, rows.total - rows.scroll);
  for (const tick of made.ticks) {
    const at = Math.round(pixel(s.scale, tick.t));
    if (at < x0 - 0.5 || at > x0 + plot + 0.5) continue;
    pen.rect(at, y + 4, 1, bottom - y - 4, t.line);
    const label = made.base ? tick.label : labelAt(tick.t / s.meta.ticks_per_second, made.step);
    const half = pen.textWidth(label, 11) / 2;
    if (at - half < x0) pen.text(label, x0, y - 2, { colour: t.fg3 });
    else if (at + half > x0 + plot)
      pen.text(label, x0 + plot, y - 2, { align: "right", colour: t.fg3 });
    else pen.text(label, at, y - 2, { align: "center", colour: t.fg3 });
  }
  if (made.base)
    pen.text(`${made.base} +`, x0 - 10, y - 2, { align: "right", colour: t.fg2, weight: 600 });
}
