//! The report's title, and the sentences that say what limits the program.

use std::cmp::Reverse;

use workspan_analysis::causes::{Headline, headline};
use workspan_analysis::{OtherThreadsCpu, StrandRule, short_strands};
use workspan_dag::ROOT_PLACE;

use super::findings::capital;
use super::{View, code, findings, standstill};
use crate::limits;
use crate::page::{Page, Piece, Tone, columns, plain, strong};
use crate::position::{label, owner_words};
use crate::quantity::{bytes, ratio, share, thousands};
use crate::section::{self, titled};

pub(super) fn title(view: &View, page: &mut Page) {
    let meta = &view.dag.meta;
    let name = &titled(meta, "program");
    let mut facts = Vec::new();
    facts.extend(meta.runtime.clone());
    facts.push(workers(meta.workers));
    let b = &view.report.breakdown;
    facts.push(view.time(b.end.saturating_sub(b.begin) as f64));
    let facts = format!("  {}", facts.join(", "));
    let file = match &view.options.trace {
        Some(trace) => format!("{}, {}", trace.name, bytes(trace.bytes)),
        None => String::new(),
    };
    page.blank();
    let used =
        2 + columns(&page.clean(name)) + columns(&page.clean(&facts)) + columns(&page.clean(&file));
    if used + 2 <= page.width() {
        let gap = " ".repeat(page.width() - used);
        page.line(&[
            plain("  "),
            strong(name),
            plain(facts),
            (Tone::Faint, format!("{gap}{file}")),
        ]);
    } else {
        // The names and versions of several runtimes may exceed a line.
        if used - columns(&page.clean(&file)) <= page.width() {
            page.line(&[plain("  "), strong(name), plain(facts)]);
        } else {
            page.prose("  ", 4, &[strong(name), plain(facts)]);
        }
        if !file.is_empty() {
            page.prose("  ", 2, &[(Tone::Faint, file)]);
        }
    }
    page.blank();
    if let Some(words) = section::sentence(meta, b.elapsed()) {
        page.prose("  ", 2, &words);
        page.blank();
    }
}

pub(super) fn workers(n: u32) -> String {
    if n == 1 {
        "1 worker".into()
    } else {
        format!("{} workers", thousands(n.into()))
    }
}

/// The first sentences of the report.
pub(super) struct Opening {
    /// What limits the program.
    pub(super) verdict: Vec<Piece>,
    /// Further sentences about the whole run.
    pub(super) more: Vec<Vec<Piece>>,
    /// Whether worker time was lost: then the findings come between the two.
    pub(super) lost: bool,
}

/// The first sentences, shared by the terminal and the page.
pub(super) fn opening(view: &View) -> Opening {
    let is_whole = view.dag.meta.unread.is_none();
    let opening_with = |verdict: Vec<Piece>| Opening {
        verdict,
        more: Vec::new(),
        lost: false,
    };
    let mut opening = match headline(view.report) {
        Headline::NoTime => {
            let tasks = thousands(view.report.work_span.tasks.into());
            let trace = if is_whole {
                "this trace"
            } else {
                "what could be read of this trace"
            };
            return opening_with(vec![strong(format!(
                "No time passes in {trace}: all tasks ({tasks}) start and end at the same tick, \
                 so there is nothing to measure."
            ))]);
        }
        Headline::OneTask => {
            return opening_with(vec![strong(match is_whole {
                true => "The program ran as a single task: it created no other tasks.",
                false => ONE_TASK_IN_PART,
            })]);
        }
        Headline::Nothing { enough_for } => nothing(view, enough_for),
        Headline::Lost => Opening {
            lost: true,
            ..opening_with(vec![strong(busy(view)), strong(largest_speedup(view))])
        },
    };
    if let Some(percent) = view.report.samples.runtime_percent()
        && percent >= MAIN_RUNTIME_PERCENT
    {
        opening.verdict.push(strong(format!(
            " By samples, {percent} % of its work is the runtime's, {RUNTIME_WORK}."
        )));
    }
    let limits = &view.report.work_span.limits;
    let region = limits::region(view.dag, limits);
    opening.more.extend(limits::sentences(limits, region));
    if let Some(outside) = &view.report.other_threads {
        opening.more.insert(0, not_measured(view, outside));
    }
    opening.more.extend(small_tasks(view));
    opening.more.extend(concurrency_slowdown(view));
    opening.more.extend(machine(view));
    if !is_whole {
        opening.verdict.insert(0, strong(ONLY_A_PART));
    }
    opening
}

pub(super) fn verdict(view: &View, page: &mut Page) {
    let opening = opening(view);
    page.prose("  ", 2, &opening.verdict);
    standstill::show(view, page, "  > ");
    if opening.lost {
        findings::show(view, page);
    }
    for sentence in &opening.more {
        page.prose("  > ", 4, sentence);
    }
}

/// A prefix of the verdict on a trace that could be read only in part.
const ONLY_A_PART: &str = "Only part of this trace could be read. All numbers are of that part. ";

/// The verdict on a trace that could be read only in part, with a single task.
const ONE_TASK_IN_PART: &str = "Only part of this trace could be read. In that part a single task ran; \
     whether it created others is not known.";

/// `3.9 of 8 workers were busy on average. `
fn busy(view: &View) -> String {
    let b = &view.report.breakdown;
    let (noun, were) = match b.workers {
        1 => ("worker", "was"),
        _ => ("workers", "were"),
    };
    let busy = b.mean_busy();
    let workers = thousands(b.workers.into());
    if view.dag.meta.unread.is_some_and(|part| part.off_cpu) {
        // The work may include off-CPU time, so it does not show how busy the workers were.
        return format!(
            "On average {} of {workers} {noun} had a task (whether on or off the CPU is not known). ",
            ratio(busy)
        );
    }
    // With fewer CPUs than workers, the CPUs may all have been busy.
    let on_cpus = match view.dag.meta.cpus.map(|cpus| cpus.max(1)) {
        Some(1) if b.workers > 1 => ", on one CPU".to_owned(),
        Some(cpus) if cpus < b.workers => format!(", on {cpus} CPUs"),
        _ => String::new(),
    };
    format!(
        "{} of {workers} {noun} {were} busy on average{on_cpus}. ",
        ratio(busy)
    )
}

/// The upper bound of the speedup, in a sentence.
fn largest_speedup(view: &View) -> String {
    let ws = &view.report.work_span;
    let limit = ratio(ws.largest_speedup());
    let (can, has) = match ws.limits.blocked {
        Some(_) => ("could", "had"),
        None => ("can", "has"),
    };
    let any = match ws.limits.shares {
        Some(_) => String::new(),
        None => format!(", however many workers it {has}"),
    };
    capital(&format!(
        "{}the program {can} run at most {limit} times as fast as on one worker{any}.",
        limits::assumed(&ws.limits),
    ))
}

fn nothing(view: &View, enough_for: u32) -> Opening {
    let w = view.report.breakdown.workers;
    let rest = match enough_for {
        n if n > w => format!("A fix would gain nothing on fewer than {n} workers."),
        _ => format!("A fix would gain nothing on {}.", workers(w)),
    };
    if view.dag.meta.unread.is_some() {
        // What was not read may have lost any amount of time.
        return Opening {
            verdict: vec![strong(busy(view))],
            more: Vec::new(),
            lost: false,
        };
    }
    let mut more = Vec::new();
    if enough_for <= w {
        more.push(vec![plain(format!(
            "More workers would find little to do. {}",
            largest_speedup(view)
        ))]);
    }
    Opening {
        verdict: vec![strong(busy(view)), strong(rest)],
        more,
        lost: false,
    }
}

/// A sentence about the CPU time of threads about which the report has no other data.
fn not_measured(view: &View, outside: &OtherThreadsCpu) -> Vec<Piece> {
    let mut words = vec![
        strong(view.time(outside.others as f64)),
        plain(" of the process's CPU time ("),
        strong(share(outside.percent())),
        plain(
            ") was used by threads outside the pool while they were in no call of a runtime. These numbers do not include it",
        ),
    ];
    if let Some(hot) = &outside.hottest {
        words.push(plain("; most of it was in "));
        words.extend(code::named(hot));
    }
    words.push(plain("."));
    words
}

/// Says that tasks take longer while others run than alone, and how to investigate it.
fn concurrency_slowdown(view: &View) -> Option<Vec<Piece>> {
    let slower = view.report.concurrency_slowdown?;
    let mut words = owner_words(view.dag, slower.site, true);
    if let Some(first) = words.first_mut() {
        first.1 = capital(&first.1);
    }
    words.push(plain(" took "));
    words.push(strong(format!("{} times as long", ratio(slower.ratio()))));
    words.push(plain(format!(
        " while other tasks run ({}, median of {}) as alone ({}, of {}): they may share cache lines (false sharing), \
        caches or memory bandwidth. ",
        view.amount(slower.concurrent.1 as f64),
        thousands(slower.concurrent.0.into()),
        view.amount(slower.alone.1 as f64),
        thousands(slower.alone.0.into()),
    )));
    words.push((
        Tone::Command,
        "workspan stretch -- COMMAND".replace(' ', "\u{a0}"),
    ));
    words.push(plain(" compares one worker with all."));
    Some(words)
}

/// Says what is special about the machine's CPUs, if the program has workers for all of them or is
/// limited by the machine.
fn machine(view: &View) -> Option<Vec<Piece>> {
    let (meta, machine) = (&view.dag.meta, &view.dag.meta.run.machine);
    let cpus = meta.cpus?;
    let mut facts = Vec::new();
    if let Some(cores) = machine
        .cores
        .filter(|&cores| view.report.breakdown.workers > cores)
    {
        facts.push(format!(
            "its {cpus} CPUs are hardware threads of {cores} cores, and work takes longer on a shared core"
        ));
    }
    if let Some(kinds) = machine.kinds.filter(|_| view.report.breakdown.workers > 1) {
        facts.push(format!(
            "its cores are of {kinds} kinds, some slower than others"
        ));
    }
    if let Some(nodes) = machine
        .nodes
        .filter(|_| view.report.concurrency_slowdown.is_some())
    {
        facts.push(format!(
            "its CPUs belong to {nodes} NUMA nodes, and memory on another node is slower"
        ));
    }
    if let Some(quota) = machine
        .quota
        .filter(|&quota| f64::from(view.report.breakdown.workers) > quota)
    {
        facts.push(format!(
            "a control group allows {} CPUs' worth of time",
            ratio(quota)
        ));
    }
    let (first, rest) = facts.split_first()?;
    let mut text = format!("The machine: {first}");
    rest.iter().for_each(|fact| text += &format!("; {fact}"));
    Some(vec![plain(text + ".")])
}

/// Shares of the work that are a runtime's, in percent: from the first on the report mentions them,
/// from the second on in its first sentences.
const NOTABLE_RUNTIME_PERCENT: u64 = 30;
const MAIN_RUNTIME_PERCENT: u64 = 50;
/// What a runtime does inside of strands.
const RUNTIME_WORK: &str = "to create, queue and wait for tasks";

/// Says that tasks are small, whatever else limits the program: scheduling costs more than the
/// average strand, or is most of the work.
fn small_tasks(view: &View) -> Option<Vec<Piece>> {
    let ws = &view.report.work_span;
    let percent = view.report.samples.runtime_percent();
    let notable = NOTABLE_RUNTIME_PERCENT..MAIN_RUNTIME_PERCENT;
    let runtime = percent.filter(|percent| notable.contains(percent)).map(|percent| {
        plain(format!(
            "By samples, {percent} % of the work is the runtime's, {RUNTIME_WORK}; parallelism and bounds include it."
        ))
    });
    let Some(short) = short_strands(ws, view.measured) else {
        return runtime.map(|share| vec![share]);
    };
    // Name the site that creates most tasks; roots have no creator.
    let sites = view.report.sites.iter().filter(|s| s.site != ROOT_PLACE);
    let most = sites.max_by_key(|s| (s.count, Reverse(s.site)));
    let mut words = vec![plain("The tasks are small")];
    if let Some(site) = most {
        words.push(plain(if 2 * site.count >= ws.tasks {
            ", and most of them are created at "
        } else {
            ", and many of them are created at "
        }));
        words.push((Tone::Path, label(view.dag, site.site).to_owned()));
    }
    let average = view.amount(short.average);
    let threshold = view.amount(short.threshold as f64);
    words.push(plain(match short.rule {
        StrandRule::Steal => {
            format!(": a strand takes {average} on average, while a steal costs {threshold}.")
        }
        StrandRule::Instructions => format!(
            ": a strand has {average} instructions on average, and below {threshold} the overhead of scheduling dominates."
        ),
    }));
    if let Some(share) = runtime {
        words.push(plain(" "));
        words.push(share);
    }
    Some(words)
}
