/** SQL queries over the run: prepared ones, or the user's own. Rows link into the timeline. */

import { signal, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { useJson, valueOf } from "../answers";
import type { Queries, RunMeta, SqlAnswer } from "../data/contract";
import { requests } from "../data/requests";
import { registerExport } from "../export/export";
import { plural } from "../format";
import { drawer, meta, runMeta, showInTab, status } from "../store";
import { csv, sorted, Table, type Column, type Order } from "../components/Table";
import { WhenAnswered, EmptyState } from "../components/placeholders";
import { linkOf } from "./rowLinks";
import "./sql.css";

/** The text and the last query are kept while other tabs are shown. */
const queryText = signal("");
const lastQuery = signal<string | null>(null);

export function Sql() {
  const r = runMeta();
  if (!r) return null;
  // A report file has no database.
  if (meta.value?.mode === "report")
    return (
      <EmptyState title="SQL needs the trace" command="workspan view run.wspan">
        A report file cannot answer queries.
      </EmptyState>
    );
  return <QueryView run={r} />;
}

function QueryView({ run: r }: { run: RunMeta }) {
  const ready = valueOf(useJson<Queries>(requests.queries()));
  const schema = useSignal(false);
  useEffect(() => {
    const first = ready?.queries.find((q) => q.name === "critical-path") ?? ready?.queries[0];
    if (first && !queryText.value) queryText.value = lastQuery.value = first.sql;
  }, [ready]);
  const answer = useJson<SqlAnswer>(lastQuery.value ? requests.sql(r.id, lastQuery.value) : null);
  const ask = () => (lastQuery.value = queryText.value.trim() || null);
  return (
    <div class="sql">
      <aside class="scroll" aria-label="Ready-made queries" tabIndex={0}>
        <h2>Ready-made queries</h2>
        {ready?.queries.map((q) => (
          <button
            key={q.name}
            type="button"
            class={`ready ${q.sql === lastQuery.value ? "on" : ""}`}
            aria-pressed={q.sql === lastQuery.value}
            onClick={() => (queryText.value = lastQuery.value = q.sql)}
          >
            <b>{q.name}</b>
            <span>{q.about}</span>
          </button>
        ))}
      </aside>
      <div class="right">
        <form
          class="query"
          onSubmit={(e) => {
            e.preventDefault();
            ask();
          }}
        >
          <textarea
            aria-label="Query in SQL"
            rows={6}
            spellcheck={false}
            value={queryText.value}
            onInput={(e) => (queryText.value = e.currentTarget.value)}
            onKeyDown={(e) => {
              e.stopPropagation();
              if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) {
                e.preventDefault();
                ask();
              }
              if (e.key === "Escape") e.currentTarget.blur();
            }}
          />
          <div class="toolbar plain">
            <button type="submit" class="button">
              Run <kbd>Ctrl</kbd> <kbd>Enter</kbd>
            </button>
            <button
              type="button"
              class="toggle"
              aria-pressed={schema.value}
              onClick={() => (schema.value = !schema.value)}
            >
              Tables
            </button>
            <span class="faint">Times are whole nanoseconds. A query may only read.</span>
          </div>
        </form>
        {schema.value && ready && (
          <pre
            class="schema scroll"
            tabIndex={0}
            role="group"
            aria-label="Tables and their columns"
          >
            {ready.schema}
          </pre>
        )}
        <div class="scroll answer" tabIndex={0} role="group" aria-label="Answer">
          {lastQuery.value !== null && (
            <WhenAnswered answer={answer} what="the answer" height={240}>
              {(a) => <AnswerTable answer={a} run={r} />}
            </WhenAnswered>
          )}
        </div>
      </div>
    </div>
  );
}

/** Length from which on texts may be truncated; the tooltip has the full text. */
const MAX_SHOWN = 40;

type Row = { id: number; cells: SqlAnswer["rows"][number] };

function AnswerTable({ answer: a, run: r }: { answer: SqlAnswer; run: RunMeta }) {
  const order = useSignal<Order | null>(null);
  const rows = useMemo(() => a.rows.map((cells, id): Row => ({ id, cells })), [a]);
  const columns = useMemo(() => columnsOf(a, r), [a, r]);
  useEffect(() => {
    order.value = null;
    const more = a.more ? " or more; the first are shown" : "";
    status.value = [`${plural(a.rows.length, "row")}${more}`, a.note?.replace(/`/g, "")]
      .filter(Boolean)
      .join(" · ");
    return () => {
      status.value = "";
    };
  }, [a]);
  useEffect(() => registerExport({ tab: "sql", csv: () => csv(columns, rows) }), [columns, rows]);
  if (rows.length === 0) return <EmptyState small title="No rows" />;
  return (
    <Table
      label="Answer"
      columns={columns}
      rows={sorted(rows, columns, order.value)}
      id={(w) => String(w.id)}
      order={order.value}
      onOrder={(o) => (order.value = o)}
    />
  );
}

function columnsOf(a: SqlAnswer, r: RunMeta): Column<Row>[] {
  const numeric = a.columns.map((_, i) =>
    a.rows.every((row) => row[i] === null || typeof row[i] === "number"),
  );
  const link: Column<Row> = {
    id: "link",
    title: "in the timeline",
    left: true,
    cell: (w) => {
      const to = linkOf(a.columns, w.cells, r);
      return to ? (
        <button
          type="button"
          class="link"
          aria-label={`Show row ${w.id + 1} in the timeline`}
          onClick={() => {
            drawer.value = true;
            showInTab("timeline", to.at, to.selection);
          }}
        >
          Show →
        </button>
      ) : null;
    },
  };
  const linked = a.rows.some((row) => linkOf(a.columns, row, r));
  return [
    ...(linked ? [link] : []),
    ...a.columns.map((title, i): Column<Row> => ({
      id: `c${i}`,
      title,
      left: !numeric[i],
      sort: (w) => w.cells[i] ?? (numeric[i] ? NaN : ""),
      csv: (w) => w.cells[i] ?? null,
      cell: (w) => {
        const v = w.cells[i];
        return v === null || v === undefined ? (
          <span class="faint">–</span>
        ) : typeof v === "number" ? (
          v.toLocaleString("en", { maximumFractionDigits: 6 })
        ) : (
          <span class="mono" title={v.length > MAX_SHOWN ? v : undefined}>
            {v}
          </span>
        );
      },
    })),
  ];
}
