/** Look of row tiles: from the view's state and selection to the rasteriser's job. */

import { alpha } from "../colors";
import type { Tokens } from "../colors";
import type { Planes } from "../data/planes";
import type { Layer, Selection } from "../store";
import type { BoxColours } from "./boxColours";
import { TILE_BINS } from "../data/contract";
import { blend, packed } from "./raster";
import type { RasterJob } from "./raster";
import type { TileStyle } from "./tiles";

export function tileStyle(
  palette: Pick<BoxColours, "mode" | "by" | "lut" | "marks">,
  t: Tokens,
  layers: ReadonlySet<Layer>,
  selection: Selection | null,
  dark: boolean,
): TileStyle {
  const bright = undimmedItems(selection);
  const flags = [layers.has("delay"), layers.has("nowork"), layers.has("cpu")];
  const ground = packed(t.panel);
  // Flat substitutes for patterns where a run is too narrow for one.
  const over = (hex: string, share: number) => blend(packed(hex), ground, share);
  return {
    key: `${palette.mode} ${dark} ${bright ? `${bright.by}${bright.index}` : ""} ${flags.join()}`,
    job: (planes: Planes): RasterJob => {
      const p = planes.planes as unknown as RasterJob["planes"];
      return {
        rows: Math.floor(p.work.length / TILE_BINS),
        by: palette.by,
        lut: palette.lut,
        marks: palette.marks,
        bright,
        ground,
        cpu: flags[2]!,
        cpuColor: packed(t.work),
        free: [
          flags[0] ? over(t.delay, dark ? 0.62 : 0.5) : -1,
          flags[1] ? over(t.sched, dark ? 0.5 : 0.75) : -1,
          flags[1] ? packed(t.appBg) : -1,
        ],
        unreadColor: over(t.fg3, 0.12),
        // Only the planes that the rasteriser reads are sent to the worker.
        planes: {
          work: p.work,
          descheduled: p.descheduled,
          blocked: p.blocked,
          delay: p.delay,
          no_work_sched: p.no_work_sched,
          no_work_app: p.no_work_app,
          unread: p.unread ?? null,
          code: p.code,
          site: p.site,
          level: p.level,
          critical: p.critical,
          cpu: p.cpu ?? null,
        },
      };
    },
  };
}

/** The items that stay bright while everything else is dimmed. */
export function undimmedItems(
  selection: Selection | null,
): { by: "code" | "site"; index: number } | null {
  if (selection?.kind === "code") return { by: "code", index: selection.code };
  if (selection?.kind === "site") return { by: "site", index: selection.site };
  return null;
}

/**
 * Colour of ready strands whose task was just created: a plain light orange. All others have the
 * pattern of delay.
 */
export const readyCreate = (dark: boolean): string => (dark ? "#f2b56b" : "#f0b27a");

export const veil = (t: Tokens, dark: boolean): string =>
  dark ? "rgba(13,16,20,.66)" : alpha(t.bg, 0.72);
