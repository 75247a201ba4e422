//! The phrases that findings are made of: counts, times, and code blocks.

use workspan_analysis::CodeBlock;
use workspan_analysis::causes::{Evidence, Finding};
use workspan_dag::{NONE, ROOT_PLACE};

use crate::page::{Piece, plain};
use crate::position::{end_words, owner_words, place, short_function, start_words};
use crate::quantity::{ratio, thousands};
use crate::text::View;

/// `40,000 `
pub(super) fn counted(tasks: Option<u64>) -> String {
    tasks.map_or(String::new(), |n| thousands(n.into()) + " ")
}

/// ` (3.2 us each)`
pub(super) fn each(view: &View, e: &Evidence) -> String {
    e.task_ticks.map_or(String::new(), |t| {
        format!(" ({} each)", task_time(view, e, t))
    })
}

/// The time of one task, with its uncertainty if the report has one.
pub(super) fn task_time(view: &View, e: &Evidence, ticks: u64) -> String {
    let time = view.time(ticks as f64);
    match view.report.task_ticks_error(e) {
        Some(error) => format!("{time} ± {}", view.time(error as f64)),
        None => time,
    }
}

/// ` in all (57 strands)`, after a sum over several strands, which may have run at the same time.
pub(super) fn in_all(count: u64, unit: &str) -> String {
    match count {
        0 | 1 => String::new(),
        n => format!(" in all ({} {unit})", thousands(n.into())),
    }
}

/// " while 7 workers had nothing to do"
pub(super) fn idle(view: &View, finding: &Finding) -> String {
    let e = &finding.evidence;
    let others = view.report.breakdown.workers.saturating_sub(1);
    let mean = finding.lost as f64 / e.ticks.max(1) as f64;
    match others {
        0 => String::new(),
        1 => " while the other worker had nothing to do".into(),
        n if e.alone == Some(e.ticks) => format!(" while {n} workers had nothing to do"),
        _ => format!(
            " while {} workers had nothing to do on average",
            ratio(mean)
        ),
    }
}

/// The task with the code block in it.
pub(in crate::text) fn block(view: &View, at: &CodeBlock, many: bool) -> Vec<Piece> {
    let dag = view.dag;
    let mut words = owner_words(dag, at.site, many);
    if at.is_whole_task() {
        return words;
    }
    words.push(plain(", from "));
    let many = many && at.site != ROOT_PLACE;
    words.extend(start_words(dag, at, many));
    let inside = place(dag, at.from).or(place(dag, at.to));
    if let Some(f) = inside.and_then(|p| p.function.as_deref()) {
        words.push(plain(format!(" (`{}`)", short_function(f))));
    }
    words.push(plain(" to "));
    words.extend(end_words(dag, at, many));
    words.push(plain(","));
    words
}

/// The strands after a position.
pub(super) fn after(view: &View, at: &CodeBlock, many: bool) -> Vec<Piece> {
    let dag = view.dag;
    let strands = if many {
        "strands after "
    } else {
        "the strand after "
    };
    let mut words = vec![plain(strands)];
    words.extend(start_words(dag, at, many));
    if at.site != ROOT_PLACE && at.site != NONE {
        words.push(plain(" in "));
        words.extend(owner_words(dag, at.site, many));
    }
    words
}

/// `text` with its first letter in upper case.
pub(in crate::text) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}
