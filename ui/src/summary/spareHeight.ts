/** How the height that a column of a large window has to spare is divided among its parts. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";

/** Heights of a row of a list, and of the heading of a section with the gap above it. */
const ROW_PX = 27;
const HEADING_PX = 48;
/** The chart of bounds gets no higher: its curves tell no more then. */
const MAX_CHART_PX = 260;
/** Share of the chart in the spare height, as long as lists have more rows to show. */
const CHART_SHARE = 0.5;
/** A list of fewer rows is not worth a heading. */
const MIN_ROWS = 3;
/** Space below the column. */
const BELOW_PX = 24;

export interface Spare {
  /** Additional height of the chart. */
  chart: number;
  /** Additional rows of the list that is always there. */
  sites: number;
  /** Rows of the list that is there only if it has room; 0 leaves it out. */
  codes: number;
}

export const NOTHING_SPARE: Spare = { chart: 0, sites: 0, codes: 0 };

/** `sites` and `codes`: how many further rows there are. `hasChart`: it is in this column. */
export function divide(px: number, sites: number, codes: number, hasChart: boolean): Spare {
  const lists = Math.max(0, px) * (hasChart ? 1 - CHART_SHARE : 1);
  const moreSites = Math.min(sites, Math.floor(lists / ROW_PX));
  const rest = lists - moreSites * ROW_PX - HEADING_PX;
  const fits = Math.min(codes, Math.floor(rest / ROW_PX));
  const moreCodes = codes > 1 && fits >= Math.min(MIN_ROWS, codes) ? fits : 0;
  const used = heightOf({ chart: 0, sites: moreSites, codes: moreCodes });
  const chart = Math.floor(Math.max(0, Math.min(MAX_CHART_PX, px - used)));
  return { chart: hasChart ? chart : 0, sites: moreSites, codes: moreCodes };
}

export const heightOf = (s: Spare): number =>
  s.chart + s.sites * ROW_PX + (s.codes > 0 ? HEADING_PX + s.codes * ROW_PX : 0);

/**
 * The spare height of a column that ends with its view, beyond what its parts take without it, in
 * pixels. `given` is what was divided in the current picture.
 */
export function useSpareHeight<E extends HTMLElement>(
  given: (px: number) => Spare,
): [RefObject<E | null>, Spare] {
  const ref = useRef<E>(null);
  const [px, setPx] = useState(0);
  const now = given(px);
  const used = useRef(0);
  used.current = heightOf(now);
  const measure = () => {
    const column = ref.current;
    const view = column?.parentElement;
    const last = column?.lastElementChild;
    if (!column || !view || !last) return;
    const top = column.getBoundingClientRect().top;
    const room = view.getBoundingClientRect().bottom - view.scrollTop - BELOW_PX - top;
    const own = last.getBoundingClientRect().bottom - top - used.current;
    const spare = Math.max(0, Math.floor(room - own));
    setPx((before) => (Math.abs(before - spare) < 2 ? before : spare));
  };
  useLayoutEffect(measure);
  useLayoutEffect(() => {
    const column = ref.current;
    if (!column) return;
    const watch = new ResizeObserver(measure);
    for (const e of [column, column.parentElement]) if (e) watch.observe(e);
    return () => watch.disconnect();
  }, [ref.current]);
  return [ref, now];
}
