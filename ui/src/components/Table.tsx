/**
 * A sortable table with a fixed head. It draws only the visible rows if there are many, and
 * supports the arrow keys.
 */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { csvField } from "./csv";

export interface Column<R> {
  id: string;
  title: string;
  /** Tooltip of the head. */
  hint?: string;
  left?: boolean;
  cell: (row: R) => ComponentChildren;
  /** Sort key: numbers largest first, texts from a. Without it the column is not sortable. */
  sort?: (row: R) => number | string;
  /** Unit of the plain value, for the head of the CSV. */
  unit?: string;
  /** The plain value for "Copy CSV". */
  csv?: (row: R) => string | number | null;
}

export interface TableProps<R> {
  label: string;
  columns: Column<R>[];
  /** Must be sorted if `order` is given; groups stay together. */
  rows: R[];
  id: (row: R) => string;
  rowClass?: (row: R) => string;
  rowHeight?: number;
  selected?: (row: R) => boolean;
  onSelect?: (row: R) => void;
  onOpen?: (row: R) => void;
  order?: Order | null;
  onOrder?: (order: Order) => void;
}

export interface Order {
  column: string;
  down: boolean;
}

/** Rows sorted by a column; equal ones keep their order. */
export function sorted<R>(rows: R[], columns: Column<R>[], order: Order | null): R[] {
  const by = order && columns.find((c) => c.id === order.column)?.sort;
  if (!by) return rows;
  const sign = order.down ? -1 : 1;
  return rows
    .map((row, i) => ({ row, i, key: by(row) }))
    .sort((a, b) => {
      if (typeof a.key === "string" || typeof b.key === "string")
        return sign * String(a.key).localeCompare(String(b.key)) || a.i - b.i;
      const [x, y] = [
        Number.isNaN(a.key) ? -Infinity : a.key,
        Number.isNaN(b.key) ? -Infinity : b.key,
      ];
      return x === y ? a.i - b.i : sign * (x < y ? -1 : 1);
    })
    .map((r) => r.row);
}

/** Rows as CSV with a head, quoted if necessary; a spreadsheet never reads a cell as a formula. */
export function csv<R>(columns: Column<R>[], rows: R[]): string {
  const use = columns.filter((c) => c.csv);
  return (
    [
      use.map((c) => csvField(c.unit ? `${c.title} (${c.unit})` : c.title)).join(","),
      ...rows.map((r) => use.map((c) => csvField(c.csv!(r))).join(",")),
    ].join("\n") + "\n"
  );
}

const MIN_WINDOWED_ROWS = 200;

export function Table<R>(p: TableProps<R>) {
  const height = p.rowHeight ?? 33;
  const many = p.rows.length > MIN_WINDOWED_ROWS;
  const scroll = useRef<HTMLElement | null>(null);
  const body = useRef<HTMLTableSectionElement>(null);
  const [window, setWindow] = useState({ from: 0, to: 60 });
  useLayoutEffect(() => {
    if (!many || !body.current) return;
    const box = body.current.closest<HTMLElement>(".scroll");
    scroll.current = box;
    if (!box) return;
    const look = () => {
      const above = box.scrollTop - (body.current?.offsetTop ?? 0);
      const from = Math.max(0, Math.floor(above / height) - 10);
      const to = Math.min(p.rows.length, Math.ceil((above + box.clientHeight) / height) + 10);
      setWindow((w) => (w.from === from && w.to === to ? w : { from, to }));
    };
    look();
    box.addEventListener("scroll", look, { passive: true });
    const watch = new ResizeObserver(look);
    watch.observe(box);
    return () => {
      box.removeEventListener("scroll", look);
      watch.disconnect();
    };
  }, [many, p.rows.length, height]);
  const [from, to] = many
    ? [Math.min(window.from, p.rows.length), Math.min(window.to, p.rows.length)]
    : [0, p.rows.length];
  const shown = useMemo(() => p.rows.slice(from, to), [p.rows, from, to]);
  const anySelected = p.selected && shown.some(p.selected);
  const walk = (e: KeyboardEvent) => {
    const row = e.currentTarget as HTMLTableRowElement;
    const go =
      e.key === "ArrowDown"
        ? row.nextElementSibling
        : e.key === "ArrowUp"
          ? row.previousElementSibling
          : null;
    if (go instanceof HTMLElement && go.tabIndex >= -1 && go.dataset.row !== undefined) {
      e.preventDefault();
      go.focus();
      go.click();
    } else if (e.key === "Enter") {
      e.preventDefault();
      const r = p.rows.find((x) => p.id(x) === row.dataset.row);
      if (r) (p.onOpen ?? p.onSelect)?.(r);
    }
  };
  return (
    <table class="table" aria-label={p.label} aria-rowcount={p.rows.length + 1}>
      <thead>
        <tr>
          {p.columns.map((c) => (
            <th
              key={c.id}
              scope="col"
              class={`c-${c.id} ${c.left ? "left" : ""}`}
              title={c.hint}
              aria-sort={
                p.order?.column === c.id ? (p.order.down ? "descending" : "ascending") : undefined
              }
            >
              {c.sort && p.onOrder ? (
                <button
                  type="button"
                  onClick={() =>
                    p.onOrder!({
                      column: c.id,
                      down:
                        p.order?.column === c.id
                          ? !p.order.down
                          : typeof (p.rows[0] && c.sort!(p.rows[0])) !== "string",
                    })
                  }
                >
                  {c.title}
                  {p.order?.column === c.id && (
                    <span aria-hidden="true">{p.order.down ? "↓" : "↑"}</span>
                  )}
                </button>
              ) : (
                c.title
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={body}>
        {from > 0 && (
          <tr aria-hidden="true">
            <td
              colSpan={p.columns.length}
              style={{ height: `${from * height}px`, padding: "0", border: "0" }}
            />
          </tr>
        )}
        {shown.map((r, i) => {
          const on = p.selected?.(r) ?? false;
          return (
            <tr
              key={p.id(r)}
              data-row={p.id(r)}
              aria-rowindex={from + i + 2}
              class={`${p.rowClass?.(r) ?? ""} ${p.onSelect ? "may" : ""}`}
              {...(p.onSelect
                ? {
                    tabIndex: on || (!anySelected && i === 0) ? 0 : -1,
                    "aria-selected": on,
                    onClick: () => p.onSelect!(r),
                    onDblClick: () => p.onOpen?.(r),
                    onKeyDown: walk,
                  }
                : {})}
            >
              {p.columns.map((c) => (
                <td key={c.id} class={`c-${c.id} ${c.left ? "left" : ""}`}>
                  {c.cell(r)}
                </td>
              ))}
            </tr>
          );
        })}
        {to < p.rows.length && (
          <tr aria-hidden="true">
            <td
              colSpan={p.columns.length}
              style={{ height: `${(p.rows.length - to) * height}px`, padding: "0", border: "0" }}
            />
          </tr>
        )}
      </tbody>
    </table>
  );
}
