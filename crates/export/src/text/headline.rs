//! The title, and what limits the program in one or two sentences.

use workspan_dag::{EndKind, StartKind};

use super::View;
use crate::page::{Page, Piece, Tone, columns, plain, strong};
use crate::position::{end_words, label, owner_words, place, short_function, start_words};
use crate::quantity::{bytes, ratio, share, thousands};
use workspan_analysis::verdict::{Limit, SerialBlock, Verdict, verdict as decide};

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
        page.line(&[plain("  "), strong(name), plain(facts)]);
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
    let verdict = decide(view.dag, view.report);
    match &verdict.limit {
        Limit::NoTime => {
            let tasks = thousands(view.report.work_span.tasks.into());
            let text = format!(
                "No time passed in this trace: all its tasks ({tasks}) start and end at the same tick, \
                 so there is nothing to divide."
            );
            page.prose("  ", 2, &[strong(text)]);
            return;
        }
        Limit::OneTask => {
            page.prose(
                "  ",
                2,
                &[strong(
                    "The program ran as one task: no task-parallel primitive created another.",
                )],
            );
            return;
        }
        Limit::Nothing { enough_for } => nothing(view, page, &verdict, *enough_for),
        _ => {
            page.prose(
                "  ",
                2,
                &[strong(busy(view, &verdict)), strong(allowed(view))],
            );
            let also = verdict
                .also
                .as_ref()
                .map(|(limit, percent)| (limit, Some(*percent)));
            for (limit, percent) in
                std::iter::once((&verdict.limit, verdict.lost_percent)).chain(also)
            {
                let mut words = cause(view, limit);
                if let Some(percent) = percent {
                    words.push(strong(format!(": {} of what was lost.", share(percent))));
                }
                page.prose("  > ", 4, &words);
            }
        }
    }
    small_tasks(view, page);
}

/// `3.9 of 8 workers busy on average;`
fn busy(view: &View, verdict: &Verdict) -> String {
    let w = view.report.breakdown.workers;
    let noun = if w == 1 { "worker" } else { "workers" };
    format!(
        "{} of {} {noun} busy on average; ",
        ratio(verdict.mean_busy),
        thousands(w.into())
    )
}

fn allowed(view: &View) -> String {
    let limit = ratio(view.report.work_span.parallelism());
    format!("the program allows a speedup of at most {limit} on any number.")
}

fn nothing(view: &View, page: &mut Page, verdict: &Verdict, enough_for: u32) {
    let w = view.report.breakdown.workers;
    let rest = match enough_for {
        n if n >= 128 => "nothing to gain below 128 workers.".to_string(),
        n if n > w => format!("nothing to gain below {n} workers."),
        _ => format!("nothing to gain on {}.", workers(w)),
    };
    page.prose("  ", 2, &[strong(busy(view, verdict)), strong(rest)]);
    if enough_for <= w {
        let more = format!(
            "More workers would find little to do: the program allows a speedup of at most {} on any number.",
            ratio(view.report.work_span.parallelism())
        );
        page.prose("  > ", 4, &[plain(more)]);
    }
}

fn cause(view: &View, limit: &Limit) -> Vec<Piece> {
    let b = &view.report.breakdown;
    let time = |v: u128| strong(view.time(v as f64));
    match limit {
        Limit::Serial(block) => serial(view, block),
        Limit::LowParallelism(interval) => low(view, *interval),
        Limit::Delay => {
            let by_edge = b
                .delay_by_edge
                .iter()
                .enumerate()
                .max_by_key(|(i, v)| (**v, std::cmp::Reverse(*i)));
            let what = by_edge.map_or("", |(i, _)| super::breakdown::EDGES[i].1);
            vec![
                plain("Strands were ready while workers were free, for "),
                time(b.delay),
                plain(format!(" of worker time, most of it {what}")),
            ]
        }
        Limit::Scheduler => vec![
            plain("Workers had nothing to do for "),
            time(b.no_work_sched),
            plain(" because a strand they depended on was ready and not yet started"),
        ],
        Limit::Descheduled => vec![
            plain("Other programs held the CPUs: workers were preempted inside strands for "),
            time(b.descheduled),
        ],
        Limit::Blocked => vec![
            plain("Strands gave up the CPU (I/O, locks, channels) for "),
            time(b.blocked),
            plain(" of worker time"),
        ],
        Limit::Recording => vec![
            plain("Recording itself took "),
            time(b.recording),
            plain(": the tasks are so small that the times of this run are mostly the recorder's"),
        ],
        Limit::NoTime | Limit::OneTask | Limit::Nothing { .. } => Vec::new(),
    }
}

/// "while 7 workers had nothing to do".
fn idle(workers: u32) -> String {
    match workers.saturating_sub(1) {
        0 => String::new(),
        1 => " while the other worker had nothing to do".into(),
        n => format!(" while {n} workers had nothing to do"),
    }
}

fn serial(view: &View, block: &SerialBlock) -> Vec<Piece> {
    let many = block.strands.len() > 1;
    let mut words = owner_words(view.dag, block.site, many);
    if let Some(first) = words.first_mut() {
        first.1 = capital(&first.1);
    }
    if (block.from_kind, block.to_kind) == (StartKind::Begin, EndKind::End) {
        words.push(plain(" ran alone for "));
    } else {
        words.push(plain(", from "));
        words.extend(start_words(view.dag, block.from, block.from_kind));
        let inside = place(view.dag, block.from).or(place(view.dag, block.to));
        if let Some(f) = inside.and_then(|p| p.function.as_deref()) {
            words.push(plain(format!(" (`{}`)", short_function(f))));
        }
        words.push(plain(" to "));
        words.extend(end_words(view.dag, block.to, block.to_kind));
        words.push(plain(", ran alone for "));
    }
    words.push(strong(view.time(block.alone as f64)));
    words.push(plain(idle(view.report.breakdown.workers)));
    words
}

fn low(view: &View, interval: Option<usize>) -> Vec<Piece> {
    let Some(interval) = interval.and_then(|i| view.report.low_parallelism.get(i)) else {
        let mut words = vec![
            plain("The program had too little to do in parallel for "),
            { strong(view.time(view.report.breakdown.no_work_app as f64)) },
        ];
        words.push(plain(" of worker time"));
        let worst = view
            .report
            .sites
            .iter()
            .max_by(|a, b| a.critical_percent.total_cmp(&b.critical_percent));
        if let Some(site) = worst {
            words.push(plain(format!(
                "; {} of the critical path is in ",
                share(site.critical_percent)
            )));
            words.push((Tone::Path, label(view.dag, site.site).to_string()));
        }
        return words;
    };
    let ran = view.time(interval.end.saturating_sub(interval.begin) as f64);
    let mut words = vec![plain("For "), strong(ran), plain(" too few strands ran")];
    if let Some(longest) = interval.strands.first() {
        let i = longest.strand as usize;
        let site = view.dag.tasks.site[longest.task as usize];
        words.push(plain(", the longest of them in "));
        words.extend(owner_words(view.dag, site, false));
        words.push(plain(", from "));
        words.extend(start_words(
            view.dag,
            view.dag.strands.from[i],
            view.dag.strands.start_kind[i],
        ));
        words.push(plain(" to "));
        words.extend(end_words(
            view.dag,
            view.dag.strands.to[i],
            view.dag.strands.end_kind[i],
        ));
    }
    words
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

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}
