//! `workspan info`: describes a trace and its contents.

use std::fmt::Write;

use serde::Serialize;
use workspan_dag::{Dag, ROOT_PLACE, TimeUnit};
use workspan_export::{bytes, thousands};
use workspan_reader::formats::FORMAT_KEY;

use crate::output::print;
use crate::trace::{TraceArgs, describe};

/// Describes a trace: host, command, runtime, clock, size, and what was and was not recorded
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  workspan info run.wspan
  workspan info --json run.wspan | jq .runtime
  workspan info --allow-truncated crashed.wspan")]
pub struct InfoArgs {
    #[command(flatten)]
    trace: TraceArgs,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Info<'a> {
    workspan_info: u32,
    file: String,
    bytes: u64,
    kind: &'a str,
    name: Option<&'a str>,
    command: Option<&'a str>,
    host: Option<&'a str>,
    cpus: Option<u32>,
    runtime: Option<&'a str>,
    workers: u32,
    threads: u32,
    clock: &'static str,
    ticks_per_second: u64,
    begin: u64,
    end: u64,
    burden: u64,
    probe_cost: u64,
    tasks: u64,
    strands: u64,
    captured: Vec<TraceContent>,
    facts: Vec<(&'a str, &'a str)>,
    warnings: &'a [String],
}

/// A kind of item in a trace, and the number of such items.
#[derive(Serialize)]
struct TraceContent {
    what: &'static str,
    count: u64,
    note: String,
}

/// `workspan info`.
///
/// # Errors
/// The trace can't be read, or stdout can't be written.
pub fn run(args: &InfoArgs) -> anyhow::Result<()> {
    let dag = args.trace.open()?;
    let file = describe(&args.trace.file, &args.trace.reading)?;
    let info = gather(&dag, file.name, file.bytes);
    if args.json {
        return print(&format!("{}\n", serde_json::to_string_pretty(&info)?));
    }
    print(&text(&info))
}

fn gather(dag: &Dag, file: String, bytes: u64) -> Info<'_> {
    let meta = &dag.meta;
    let tasks = dag.tasks.len() as u64 + dag.folded.sums().map(|f| f.1.tasks).sum::<u64>();
    let strands = (dag.strands.len() - dag.folded.len()) as u64
        + dag.folded.sums().map(|f| f.1.strands).sum::<u64>();
    Info {
        workspan_info: 1,
        file,
        bytes,
        kind: kind(dag),
        name: meta.name.as_deref(),
        command: meta.command.as_deref(),
        host: meta.host.as_deref(),
        cpus: meta.cpus,
        runtime: meta.runtime.as_deref(),
        workers: meta.workers,
        threads: meta.threads,
        clock: match meta.time_unit {
            TimeUnit::Ns => "ns",
            TimeUnit::Us => "us",
            TimeUnit::Ms => "ms",
            TimeUnit::Cycles => "cycles",
        },
        ticks_per_second: meta.ticks_per_second,
        begin: dag.strands.start.iter().copied().min().unwrap_or(0),
        end: dag.strands.end.iter().copied().max().unwrap_or(0),
        burden: meta.burden,
        probe_cost: meta.probe_cost,
        tasks,
        strands,
        captured: captured(dag),
        facts: meta
            .facts
            .iter()
            .map(|(k, v)| (k.as_str(), v.as_str()))
            .collect(),
        warnings: &meta.warnings,
    }
}

/// The kind of the file; an imported trace keeps its kind when it is exported as text.
fn kind(dag: &Dag) -> &str {
    let format = dag.meta.facts.iter().find(|fact| fact.0 == FORMAT_KEY);
    match format {
        Some((_, format)) => format,
        None if dag.meta.recorded => "recorded trace",
        None => "text trace",
    }
}

/// The content of folded subtrees.
fn folded(dag: &Dag) -> String {
    if dag.folded.is_empty() || dag.meta.run.folded_below_us.is_none() {
        return String::new();
    }
    let sum = |field: fn(&workspan_dag::Folded) -> u64| -> u128 {
        dag.folded_subtrees().map(|f| u128::from(field(&f.1))).sum()
    };
    let lengths = dag.strands.start.iter().zip(&dag.strands.end);
    let all: u128 = lengths.map(|(start, end)| u128::from(end - start)).sum();
    // This includes the time that folding took: the rest belongs to tasks that can be inspected.
    let inside = dag.folded_subtrees().map(|(s, _)| {
        let s = s as usize;
        u128::from(dag.strands.end[s] - dag.strands.start[s])
    });
    let share = inside.sum::<u128>() as f64 * 100.0 / all.max(1) as f64;
    let mut sites: Vec<u32> = dag
        .folded_subtrees()
        .flat_map(|f| f.1.sites.into_iter().map(|s| s.site))
        .collect();
    sites.sort_unstable();
    sites.dedup();
    format!(
        "{} tasks of {} spawn sites, {share:.0} % of the time in tasks",
        sum(|f| f.tasks),
        sites.len()
    )
}

fn captured(dag: &Dag) -> Vec<TraceContent> {
    let sites: Vec<_> = {
        let mut used: Vec<u32> = dag
            .tasks
            .site
            .iter()
            .copied()
            .chain(
                dag.folded
                    .iter()
                    .flat_map(|f| f.1.sites.into_iter().map(|s| s.site)),
            )
            .filter(|s| *s != ROOT_PLACE)
            .collect();
        used.sort_unstable();
        used.dedup();
        used
    };
    let lines = sites
        .iter()
        .filter(|s| {
            dag.places
                .get(**s as usize)
                .is_some_and(|p| p.line.is_some())
        })
        .count();
    let counters: Vec<&str> = dag.counters.iter().map(|c| c.name.as_str()).collect();
    let row = |what, count: usize, note: String| TraceContent {
        what,
        count: count as u64,
        note,
    };
    let text = |note: &str| note.to_string();
    let mut rows = vec![
        row(
            "spawn sites",
            sites.len(),
            format!("{lines} with file and line"),
        ),
        row(
            "steals the runtime reported",
            dag.steals.len(),
            text("others are inferred from who ran what"),
        ),
        row("off-CPU intervals", dag.offs.len(), text("")),
        row("scheduler events", dag.thread_events.len(), text("")),
        row(
            "samples of the running code",
            dag.samples.len(),
            if dag.samples.is_empty() {
                String::new()
            } else {
                format!("{} a second", dag.samples.hertz)
            },
        ),
        row("counters", counters.len(), counters.join(", ")),
        row("regions", dag.regions.len(), text("")),
        row("parts", dag.parts.len(), text("")),
        row(
            "folded subtrees",
            dag.folded.len().saturating_sub(dag.skipped.len()),
            workspan_export::read_folding(&dag.meta).unwrap_or_else(|| folded(dag)),
        ),
    ];
    if !dag.skipped.is_empty() {
        let share = 100.0 * unrecorded(dag);
        let note = format!(
            "{share:.0} % of the time that tasks ran; what is inside is estimated, see --max-overhead"
        );
        rows.push(row("unrecorded strands", dag.skipped.len(), note));
    }
    rows
}

/// The share of unrecorded strands in the time of all strands.
fn unrecorded(dag: &Dag) -> f64 {
    let time = |s: usize| (dag.strands.end[s] - dag.strands.start[s]) as f64;
    let all: f64 = (0..dag.strands.len()).map(time).sum();
    let part: f64 = dag.skipped.iter().map(|u| time(u.0 as usize)).sum();
    part / all.max(1.0)
}

fn text(info: &Info) -> String {
    let mut out = String::new();
    let mut line = |key: &str, value: String| {
        // Names come from the file, so characters that could control the terminal are escaped.
        let clean = |text: &str| -> String {
            let mut clean = String::new();
            for c in text.chars() {
                if c.is_control() {
                    clean.extend(c.escape_unicode())
                } else {
                    clean.push(c)
                }
            }
            clean
        };
        let _ = writeln!(out, "{:<16} {}", clean(key), clean(&value));
    };
    line(
        "file",
        format!("{}, {}, {}", info.file, info.kind, bytes(info.bytes)),
    );
    let known = [
        ("name", info.name),
        ("command", info.command),
        ("host", info.host),
        ("runtime", info.runtime),
    ];
    for (key, value) in known {
        line(key, value.unwrap_or("not known").to_string());
    }
    if let Some(cpus) = info.cpus {
        line("cpus", cpus.to_string());
    }
    line(
        "workers",
        format!("{}, {} threads in all", info.workers, info.threads),
    );
    let rate = thousands(info.ticks_per_second.into());
    line("ticks", format!("{}, {rate} a second", info.clock));
    let length = info.end.saturating_sub(info.begin);
    let seconds = length as f64 / info.ticks_per_second.max(1) as f64;
    line(
        "length",
        format!("{} ticks, {seconds:.6} s", thousands(length.into())),
    );
    line("tasks", thousands(info.tasks.into()));
    line("strands", thousands(info.strands.into()));
    let known = |v: u64| {
        if v == 0 {
            "not known".to_string()
        } else {
            format!("{} ticks", thousands(v.into()))
        }
    };
    line("steal costs", known(info.burden));
    line("probe costs", known(info.probe_cost));
    // Facts that the first line has already.
    let printed = ["size", FORMAT_KEY];
    for (key, value) in info.facts.iter().filter(|f| !printed.contains(&f.0)) {
        line(key, (*value).to_string());
    }
    out.push_str("captured\n");
    for row in info.captured.iter().filter(|r| r.count > 0) {
        let note = if row.note.is_empty() {
            String::new()
        } else {
            format!(" ({})", row.note)
        };
        let _ = writeln!(out, "  {} {}{note}", thousands(row.count.into()), row.what);
    }
    let missing: Vec<&str> = info
        .captured
        .iter()
        .filter(|r| r.count == 0)
        .map(|r| r.what)
        .collect();
    if !missing.is_empty() {
        out.push_str("not captured\n");
        let _ = writeln!(out, "  {}", missing.join(", "));
    }
    if !info.warnings.is_empty() {
        out.push_str("warnings\n");
        for warning in info.warnings {
            let _ = writeln!(out, "  {}", warning.replace(|c: char| c.is_control(), " "));
        }
    }
    out
}
