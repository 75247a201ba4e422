//! The title, and what limits the program in one or two sentences.

use workspan_analysis::causes::{Headline, headline};

use super::{View, findings};
use crate::page::{Page, Tone, columns, plain, strong};
use crate::quantity::{bytes, ratio, thousands};

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

fn workers(n: u32) -> String {
    if n == 1 {
        "1 worker".into()
    } else {
        format!("{} workers", thousands(n.into()))
    }
}

/// The first sentences.
pub(super) fn verdict(view: &View, page: &mut Page) {
    let say = |page: &mut Page, text: String| page.prose("  ", 2, &[strong(text)]);
    match headline(view.report) {
        Headline::NoTime => {
            let tasks = thousands(view.report.work_span.tasks.into());
            let text = format!(
                "No time passed in this trace: all its tasks ({tasks}) start and end at the same tick, \
                 so there is nothing to divide."
            );
            return say(page, text);
        }
        Headline::OneTask => {
            let text = "The program ran as one task: no task-parallel primitive created another.";
            return say(page, text.into());
        }
        Headline::Nothing { enough_for } => nothing(view, page, enough_for),
        Headline::Lost => {
            page.prose("  ", 2, &[strong(busy(view)), strong(allowed(view))]);
            findings::show(view, page);
        }
    }
    small_tasks(view, page);
}

/// `3.9 of 8 workers busy on average;`
fn busy(view: &View) -> String {
    let b = &view.report.breakdown;
    let noun = if b.workers == 1 { "worker" } else { "workers" };
    let busy = b.work as f64 / b.elapsed().max(1) as f64;
    let of = thousands(b.workers.into());
    format!("{} of {of} {noun} busy on average; ", ratio(busy))
}

fn allowed(view: &View) -> String {
    let limit = ratio(view.report.work_span.parallelism());
    format!("the program allows a speedup of at most {limit} on any number.")
}

fn nothing(view: &View, page: &mut Page, enough_for: u32) {
    let w = view.report.breakdown.workers;
    let rest = match enough_for {
        n if n >= 128 => "nothing to gain below 128 workers.".to_string(),
        n if n > w => format!("nothing to gain below {n} workers."),
        _ => format!("nothing to gain on {}.", workers(w)),
    };
    page.prose("  ", 2, &[strong(busy(view)), strong(rest)]);
    if enough_for <= w {
        let more = format!(
            "More workers would find little to do: the program allows a speedup of at most {} on any number.",
            ratio(view.report.work_span.parallelism())
        );
        page.prose("  > ", 4, &[plain(more)]);
    }
}

/// When a steal costs more than the strands it moves, that is said whatever else limits.
fn small_tasks(view: &View, page: &mut Page) {
    let ws = &view.report.work_span;
    let strand = ws.average_maximal_strand();
    if ws.spawns == 0 || ws.burden == 0 || strand >= ws.burden as f64 || ws.work == 0 {
        return;
    }
    let text = format!(
        "The tasks are small: a strand has {} on average, a steal costs {}.",
        view.amount(strand),
        view.amount(ws.burden as f64)
    );
    page.prose("  > ", 4, &[plain(text)]);
}
