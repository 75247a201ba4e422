//! The title, and what limits the program in one or two sentences.

use std::cmp::Reverse;

use workspan_analysis::Outside;
use workspan_analysis::causes::{Headline, headline};
use workspan_dag::ROOT_PLACE;

use super::{View, code, findings};
use crate::limits;
use crate::page::{Page, Piece, Tone, columns, plain, strong};
use crate::position::label;
use crate::quantity::{bytes, ratio, share, thousands};

pub(super) fn title(view: &View, page: &mut Page) {
    let meta = &view.dag.meta;
    let name = meta
        .name
        .as_deref()
        .filter(|n| !n.is_empty())
        .unwrap_or("program");
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
        // Several runtimes with their versions may take more than a line.
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
}

pub(super) fn workers(n: u32) -> String {
    if n == 1 {
        "1 worker".into()
    } else {
        format!("{} workers", thousands(n.into()))
    }
}

/// The first sentences: what limits, and what else is to be said of the whole run.
pub(super) struct Said {
    pub(super) verdict: Vec<Piece>,
    pub(super) more: Vec<Vec<Piece>>,
    /// The findings stand between the two.
    pub(super) lost: bool,
}

/// The same words for terminal and page.
pub(super) fn said(view: &View) -> Said {
    let of = |verdict: Vec<Piece>| Said {
        verdict,
        more: Vec::new(),
        lost: false,
    };
    let mut said = match headline(view.report) {
        Headline::NoTime => {
            let tasks = thousands(view.report.work_span.tasks.into());
            return of(vec![strong(format!(
                "No time passed in this trace: all its tasks ({tasks}) start and end at the same tick, \
                 so there is nothing to divide."
            ))]);
        }
        Headline::OneTask => {
            let text = "The program ran as one task: no task-parallel primitive created another.";
            return of(vec![strong(text)]);
        }
        Headline::Nothing { enough_for } => nothing(view, enough_for),
        Headline::Lost => Said {
            lost: true,
            ..of(vec![strong(busy(view)), strong(allowed(view))])
        },
    };
    let limits = &view.report.work_span.limits;
    let region = limits::region(view.dag, limits);
    said.more.extend(limits::sentences(limits, region));
    if let Some(outside) = &view.report.outside {
        said.more.insert(0, not_here(view, outside));
    }
    said.more.extend(small_tasks(view));
    if view.dag.meta.unread.is_some() {
        said.verdict.insert(0, strong(ONLY_A_PART));
    }
    said
}

pub(super) fn verdict(view: &View, page: &mut Page) {
    let said = said(view);
    page.prose("  ", 2, &said.verdict);
    if said.lost {
        findings::show(view, page);
    }
    for sentence in &said.more {
        page.prose("  > ", 4, sentence);
    }
}

/// What comes before a verdict on a trace that could not be read as a whole.
const ONLY_A_PART: &str = "Only part of this trace could be read. In that part: ";

/// `3.9 of 8 workers busy on average;`
fn busy(view: &View) -> String {
    let b = &view.report.breakdown;
    let noun = if b.workers == 1 { "worker" } else { "workers" };
    let busy = b.work as f64 / b.elapsed().max(1) as f64;
    let of = thousands(b.workers.into());
    if view.dag.meta.unread.is_some_and(|part| part.off_cpu) {
        // Work may include time off the CPU, so this is no measure of how busy they were.
        return format!(
            "{} of {of} {noun} had a task on average (whether on or off the CPU is unknown); ",
            ratio(busy)
        );
    }
    format!("{} of {of} {noun} busy on average; ", ratio(busy))
}

fn allowed(view: &View) -> String {
    let ws = &view.report.work_span;
    let limit = ratio(ws.parallelism());
    let any = match ws.limits.shares {
        Some(_) => "",
        None => " on any number",
    };
    format!(
        "{}the program {} a speedup of at most {limit}{any}.",
        limits::assumed(&ws.limits),
        limits::allows(&ws.limits)
    )
}

fn nothing(view: &View, enough_for: u32) -> Said {
    let w = view.report.breakdown.workers;
    let rest = match enough_for {
        n if n >= 128 => "nothing to gain below 128 workers.".to_string(),
        n if n > w => format!("nothing to gain below {n} workers."),
        _ => format!("nothing to gain on {}.", workers(w)),
    };
    let mut more = Vec::new();
    if enough_for <= w {
        more.push(vec![plain(format!(
            "More workers would find little to do: {}",
            allowed(view)
        ))]);
    }
    Said {
        verdict: vec![strong(busy(view)), strong(rest)],
        more,
        lost: false,
    }
}

/// CPU time that none of the numbers has.
fn not_here(view: &View, outside: &Outside) -> Vec<Piece> {
    let mut words = vec![
        strong(view.time(outside.others as f64)),
        plain(" of the process's CPU time ("),
        strong(share(outside.percent())),
        plain(
            ") ran on threads outside the pool that called no runtime meanwhile, and is in none of these numbers",
        ),
    ];
    if let Some(hot) = &outside.hottest {
        words.push(plain(": mostly in "));
        words.extend(code::named(hot));
    }
    words.push(plain("."));
    words
}

/// When a steal costs more than the strands it moves, that is said whatever else limits.
fn small_tasks(view: &View) -> Option<Vec<Piece>> {
    let ws = &view.report.work_span;
    let strand = ws.average_maximal_strand();
    if ws.spawns == 0 || ws.burden == 0 || strand >= ws.burden as f64 || ws.work == 0 {
        return None;
    }
    // Roots aside, the site with most tasks is where they come from.
    let sites = view.report.sites.iter().filter(|s| s.site != ROOT_PLACE);
    let most = sites.max_by_key(|s| (s.count, Reverse(s.site)));
    let mut words = vec![plain("The tasks are small")];
    if let Some(site) = most {
        words.push(plain(if 2 * site.count >= ws.tasks {
            ", most of them created at "
        } else {
            ", the largest part of them created at "
        }));
        words.push((Tone::Path, label(view.dag, site.site).to_owned()));
    }
    words.push(plain(format!(
        ": a strand has {} on average, a steal costs {}.",
        view.amount(strand),
        view.amount(ws.burden as f64)
    )));
    Some(words)
}
