/** Spawn sites with their code blocks, and the source beside them. */

import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { useJson, valueOf } from "../answers";
import { codeColour } from "../codeColours";
import { register } from "../commands";
import type { Report, RunMeta, SiteExtras } from "../data/contract";
import { requests } from "../data/requests";
import { registerExport, save } from "../export/export";
import { signedPercent, count, plural, percent, plainNumber, ticks } from "../format";
import { announcement, drawer, run, runMeta, selection, showInTab, status } from "../store";
import { colours, dark } from "../theme/theme";
import { Place } from "../components/widgets";
import { BlockName } from "./BlockName";
import { roundedEstimate } from "../components/estimates";
import { Sparkline } from "../components/Sparkline";
import { WhenAnswered, EmptyState } from "../components/placeholders";
import { csv, sorted, Table, type Column, type Order } from "../components/Table";
import { parse } from "./filter";
import { visibleRows, siteTableRows, type Row } from "./siteRows";
import { SiteDetail } from "./SiteDetail";
import { SourcePane } from "./SourcePane";
import "./sites.css";

const FILTER_COLUMNS = [
  "work",
  "critical",
  "count",
  "span",
  "parallelism",
  "delay",
  "stretch",
] as const;

/** A value that is not known is not 0. */
const UNKNOWN = <span class="faint">–</span>;

/** The code with most of the critical path, shown until a row is selected. */
const heaviest = (rows: Row[]): Row =>
  rows.reduce((a, b) =>
    b.kind === "block" && b.critical > (a.kind === "block" ? a.critical : -1) ? b : a,
  );

const NO_EXTRAS: SiteExtras = { sites: [], codes: [] };

export function Sites() {
  const meta = runMeta();
  const report = useJson<Report>(requests.report(run.value));
  const extras = useJson<SiteExtras>(requests.sites(run.value));
  if (!meta) return null;
  return (
    <WhenAnswered answer={report} what="the spawn sites" height={400}>
      {(r) => {
        if (!r.sites?.length)
          return <EmptyState title="No spawn sites">The trace contains no tasks.</EmptyState>;
        // Without the extras, the table only lacks its sparklines and delays.
        return <SitesView report={r} extras={valueOf(extras) ?? NO_EXTRAS} run={meta} />;
      }}
    </WhenAnswered>
  );
}

function SitesView({
  report,
  extras,
  run: r,
}: {
  report: Report;
  extras: SiteExtras;
  run: RunMeta;
}) {
  const text = useSignal("");
  const order = useSignal<Order | null>(null);
  const closed = useSignal<ReadonlySet<string>>(new Set());
  const whole = useSignal<ReadonlySet<string>>(new Set());
  const chosen = useSignal<string | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const tps = r.ticks_per_second;
  const groups = useMemo(() => siteTableRows(report, extras.sites, r), [report, extras, r]);
  const stretched = groups.some(
    (g) => g.site.stretch !== null || g.blocks.some((b) => b.stretch !== null),
  );
  const delayed = extras.sites.length > 0;
  const flip = (set: ReadonlySet<string>, id: string) => {
    const next = new Set(set);
    if (!next.delete(id)) next.add(id);
    return next;
  };

  const seconds = (n: number | null) => (n === null ? null : Number((n / tps).toPrecision(9)));
  const columns: Column<Row>[] = [
    {
      id: "name",
      title: "spawn site, code",
      left: true,
      sort: (w) => w.name.toLowerCase(),
      csv: (w) =>
        w.kind === "block"
          ? `  ${w.name} ${w.place}`
          : `${w.name} ${r.sites[w.site]?.label ?? ""}`.trim(),
      cell: (w) =>
        w.kind === "more" ? (
          <button
            type="button"
            class="link more"
            onClick={(e) => {
              e.stopPropagation();
              whole.value = flip(whole.value, w.id.replace("more", ""));
            }}
          >
            {plural(w.hidden, "more block")}
          </button>
        ) : w.kind === "block" ? (
          <BlockName of={w} codes={r.codes} />
        ) : (
          <span class="name">
            <button
              type="button"
              class="fold"
              aria-label={
                closed.value.has(w.id) ? `Show code of ${w.name}` : `Hide code of ${w.name}`
              }
              aria-expanded={!closed.value.has(w.id)}
              onClick={(e) => {
                e.stopPropagation();
                closed.value = flip(closed.value, w.id);
              }}
            >
              {closed.value.has(w.id) ? "▸" : "▾"}
            </button>
            <span class="fn">{w.name}</span>{" "}
            {w.place && <Place label={w.place} file={w.file} line={w.line} />}
          </span>
        ),
    },
    {
      id: "when",
      title: "when it ran",
      hint: `Running strands, on the CPU or not, from 0 to ${r.workers}, over the whole run`,
      left: true,
      cell: (w) =>
        w.kind === "more" ? null : w.spark.length ? (
          <Sparkline
            values={w.spark}
            top={r.workers}
            fill={
              w.kind === "site" ? colours.value.fg2 : codeColour(r.codes, w.code, dark.value).fill
            }
            title={`when ${w.name} ran`}
          />
        ) : (
          <span class="spark" style={{ display: "block", width: "116px", height: "18px" }} />
        ),
    },
    {
      id: "critical",
      title: "critical",
      hint: "Share of the span: the critical path's strands that belong to it",
      left: true,
      sort: (w) => w.critical,
      unit: "s",
      csv: (w) => seconds(w.critical),
      cell: (w) =>
        w.kind === "more" ? null : (
          <span class="cell-bar">
            <i style={{ width: `${Math.max(w.critical > 0 ? 1.5 : 0, w.share * 56)}px` }} />
            {percent(w.share, w.share > 0 ? 1 : 0)}
          </span>
        ),
    },
    {
      id: "count",
      title: "count",
      hint: "Site: its tasks. Code: its strands",
      sort: (w) => w.count,
      csv: (w) => w.count,
      cell: (w) =>
        w.kind === "more"
          ? null
          : w.kind === "site" && report.estimated && w.count >= 10_000
            ? `≈ ${roundedEstimate(w.count)}`
            : // Strands inside folded ones are not counted by code.
              w.count === 0 && w.work > 0
              ? "–"
              : count(w.count),
    },
    {
      id: "work",
      title: "work",
      hint: "Site: its tasks with all descendants. Code: its own strands",
      sort: (w) => w.work,
      unit: "s",
      csv: (w) => seconds(w.work),
      cell: (w) => (w.kind === "more" ? null : ticks(w.work, tps)),
    },
    {
      id: "span",
      title: "span",
      hint: "Sum of the heaviest paths through its tasks",
      sort: (w) => w.span ?? NaN,
      unit: "s",
      csv: (w) => seconds(w.span),
      cell: (w) => (w.kind === "site" ? (w.span === null ? UNKNOWN : ticks(w.span, tps)) : null),
    },
    {
      id: "parallelism",
      title: "parallelism",
      sort: (w) => w.parallelism ?? NaN,
      csv: (w) => w.parallelism,
      cell: (w) =>
        w.kind === "site" ? (w.parallelism === null ? UNKNOWN : plainNumber(w.parallelism)) : null,
    },
    ...(delayed
      ? [
          {
            id: "delay",
            title: "delay",
            hint: "Time in which its strands were ready while a worker was free",
            sort: (w: Row) => w.delay ?? NaN,
            unit: "s",
            csv: (w: Row) => seconds(w.delay),
            cell: (w: Row) =>
              w.kind === "site" && w.delay !== null ? (
                <span class={w.delay > 0 ? "" : "faint"}>{ticks(w.delay, tps)}</span>
              ) : null,
          },
        ]
      : []),
    {
      id: "buried",
      title: "join wait",
      hint: "Time in which joins could continue, but their thread was inside an unrelated task",
      sort: (w) => w.buried ?? NaN,
      unit: "s",
      csv: (w) => seconds(w.buried),
      cell: (w) =>
        w.kind === "site" && w.buried !== null ? (
          <span class={w.buried > 0 ? "" : "faint"}>{ticks(w.buried, tps)}</span>
        ) : null,
    },
    {
      id: "steals",
      title: "steals",
      hint: "Strands of its tasks that were stolen",
      sort: (w) => w.steals ?? NaN,
      csv: (w) => w.steals,
      cell: (w) =>
        w.kind === "site" && w.steals !== null ? (
          <span class={w.steals > 0 ? "" : "faint"}>{count(w.steals)}</span>
        ) : null,
    },
    ...(stretched
      ? [
          {
            id: "stretch",
            title: "stretch",
            hint: "How much longer the same work took than on one worker",
            sort: (w: Row) => w.stretch ?? NaN,
            csv: (w: Row) => w.stretch,
            cell: (w: Row) =>
              w.kind === "more" || w.stretch === null ? null : (
                <span class={w.stretch > 0.03 ? "worse" : "faint"}>{signedPercent(w.stretch)}</span>
              ),
          },
        ]
      : []),
  ];

  const filter = parse(text.value, FILTER_COLUMNS);
  const shown = useMemo(() => {
    const fits = "fits" in filter ? filter.fits : () => true;
    const facts = (w: Row) => ({
      text: `${w.name} ${w.place} ${w.file ?? ""}:${w.line ?? ""} ${r.sites[w.site]?.label ?? ""}`,
      numbers: {
        work: w.work / tps,
        critical: w.share,
        count: w.count,
        span: w.span === null ? null : w.span / tps,
        parallelism: w.parallelism,
        delay: w.delay === null ? null : w.delay / tps,
        stretch: w.stretch,
      },
    });
    const kept =
      text.value.trim() === ""
        ? groups
        : groups
            .map((g) => ({ site: g.site, blocks: g.blocks.filter((b) => fits(facts(b))) }))
            .filter((g) => g.blocks.length > 0 || fits(facts(g.site)));
    // Groups stay together: sites are sorted by the column, and the blocks of each site as well.
    const bySite = new Map(kept.map((g) => [g.site.id, g]));
    const sites = sorted(
      kept.map((g) => g.site),
      columns,
      order.value,
    );
    return visibleRows(
      sites.map((s) => ({
        site: s,
        blocks: sorted(bySite.get(s.id)!.blocks, columns, order.value),
      })),
      closed.value,
      whole.value,
    );
  }, [groups, text.value, order.value, closed.value, whole.value, r]);

  const s = selection.value;
  const isSelected = (w: Row) =>
    w.kind !== "more" &&
    !!s &&
    s.run === r.id &&
    (s.kind === "site"
      ? w.kind === "site" && w.site === s.site
      : s.kind === "code"
        ? w.kind === "block" &&
          w.code === s.code &&
          (chosen.value === null ||
            chosen.value === w.id ||
            !shown.some((x) => x.id === chosen.value && x.code === s.code))
        : false);
  const current =
    shown.find((w) => w.id === chosen.value && isSelected(w)) ?? shown.find(isSelected) ?? null;
  const select = (w: Row) => {
    if (w.kind === "more") return;
    chosen.value = w.id;
    selection.value =
      w.kind === "site" || w.code === null
        ? { kind: "site", run: r.id, site: w.site }
        : { kind: "code", run: r.id, code: w.code };
    announcement.value = `${w.name}, ${percent(w.share)} critical, work ${ticks(w.work, tps)}, ${count(w.count)} ${w.kind === "site" ? "tasks" : "strands"}`;
  };
  const open = (w: Row) => {
    select(w);
    drawer.value = true;
    showInTab("timeline", null, selection.value);
  };
  const copy = async () => {
    const textOut = csv(
      columns,
      shown.filter((w) => w.kind !== "more"),
    );
    try {
      await navigator.clipboard.writeText(textOut);
      announcement.value = "Table copied";
    } catch {
      save(new Blob([textOut], { type: "text/csv" }), `${r.name}-sites.csv`);
    }
  };
  useEffect(
    () =>
      registerExport({
        tab: "sites",
        csv: () =>
          csv(
            columns,
            shown.filter((w) => w.kind !== "more"),
          ),
      }),
    [shown],
  );
  useEffect(
    () =>
      register(
        {
          id: "sites.filter",
          title: "Filter the table",
          keys: ["f"],
          tabs: ["sites"],
          group: "Sites",
          run: () => {
            input.current?.focus();
          },
        },
        {
          id: "sites.timeline",
          title: "Show in the timeline",
          keys: ["Enter"],
          tabs: ["sites"],
          group: "Sites",
          run: () => {
            if (selection.value) showInTab("timeline", null, selection.value);
          },
        },
      ),
    [],
  );
  useEffect(() => {
    status.value = `${plural(groups.length, "site")}, ${plural(
      groups.reduce((n, g) => n + g.blocks.length, 0),
      "code block",
    )} · ${order.value ? `sorted by ${order.value.column}` : "sorted by critical percent, root first"}`;
    return () => {
      status.value = "";
    };
  }, [groups, order.value]);

  return (
    <div class="sites">
      <div class="left">
        <div class="toolbar">
          <label class={`filter ${"error" in filter ? "wrong" : ""}`}>
            <input
              ref={input}
              type="text"
              value={text.value}
              placeholder="Filter: text, work>1ms, critical>5%"
              aria-label="Filter the table"
              aria-invalid={"error" in filter}
              spellcheck={false}
              autocomplete="off"
              onInput={(e) => (text.value = e.currentTarget.value)}
              onKeyDown={(e) => {
                if (e.key === "Escape") {
                  e.stopPropagation();
                  if (text.value) text.value = "";
                  else e.currentTarget.blur();
                }
              }}
            />
          </label>
          <span class="rule" />
          <span role="status">
            {"error" in filter ? (
              <span class="worse">{filter.error}</span>
            ) : (
              `${plural(shown.filter((w) => w.kind === "site").length, "site")}, ${plural(shown.filter((w) => w.kind === "block").length, "code block")}`
            )}
          </span>
          {order.value && (
            <button type="button" class="link" onClick={() => (order.value = null)}>
              as in the report
            </button>
          )}
          <button type="button" class="toggle apart" onClick={() => void copy()}>
            Copy CSV
          </button>
        </div>
        <div class="scroll">
          <Table
            label="Spawn sites and their code"
            columns={columns}
            rows={shown}
            id={(w) => w.id}
            rowClass={(w) => (w.kind === "site" ? "" : "sub")}
            selected={isSelected}
            onSelect={select}
            onOpen={open}
            order={order.value}
            onOrder={(o) => (order.value = o)}
          />
          {shown.length === 0 && (
            <EmptyState small title="No row matches the filter">
              <button
                type="button"
                class="link"
                style={{ paddingLeft: "16px" }}
                onClick={() => (text.value = "")}
              >
                Show all
              </button>
            </EmptyState>
          )}
          {groups.length === 1 && (
            <p class="hint">
              Only the root {r.tasks === 1 ? "task is" : "tasks are"} shown: nothing was spawned
              while the run was recorded.
            </p>
          )}
          {r.more_sites > 0 && (
            <p class="hint">
              {plural(r.more_sites, "further site")} with less of the critical path and less work{" "}
              {r.more_sites === 1 ? "has" : "have"} no row here; <code>workspan report --json</code>{" "}
              lists all.
            </p>
          )}
          {groups.length > 1 && (
            <p class="hint">
              Work after the root task's last wait belongs to the root; its code row shows the
              lines.
              {stretched && " Stretch is relative to the run on one worker."}
            </p>
          )}
        </div>
        {(current ?? shown[0]) && (
          <div class="scroll docked" tabIndex={0} role="group" aria-label="The selected row">
            <SiteDetail
              row={current ?? heaviest(shown)}
              extra={extras.sites[(current ?? heaviest(shown)).site] ?? null}
              codes={extras.codes}
              report={report}
              run={r}
            />
          </div>
        )}
      </div>
      <SourcePane run={r} row={current} first={groups} />
    </div>
  );
}
