//! The longest times in which few strands ran, and which.

use workspan_analysis::{LowParallelism, LowStrand};

use super::View;
use crate::page::{Page, Tone, plain, strong};
use crate::position::{cell, label};
use crate::quantity::{ratio, share};

/// Most intervals shown.
const INTERVALS: usize = 3;
/// Most strands shown of one.
const STRANDS: usize = 3;
/// Intervals that lost less than this share of all that was lost are left out.
const WORTH_SHOWING: f64 = 2.0;

pub(super) fn intervals(view: &View, page: &mut Page) {
    let worth = |i: &&LowParallelism| i.lost_percent >= WORTH_SHOWING;
    let shown: Vec<_> = view
        .report
        .low_parallelism
        .iter()
        .filter(worth)
        .take(INTERVALS)
        .collect();
    if shown.is_empty() {
        return;
    }
    page.blank();
    page.line(&[strong("  Low parallelism, what lost most first")]);
    for interval in shown {
        one(view, page, interval);
    }
}

fn one(view: &View, page: &mut Page, interval: &LowParallelism) {
    let b = &view.report.breakdown;
    let length = interval.end.saturating_sub(interval.begin);
    let free = interval.lost as f64 / length.max(1) as f64;
    let running = (f64::from(b.workers) - free).max(0.0);
    page.prose(
        "    ",
        6,
        &[
            strong(view.time(length as f64)),
            plain(format!(
                " from {}: {} running, {} of what was lost",
                view.time(interval.begin.saturating_sub(b.begin) as f64),
                ratio(running),
                share(interval.lost_percent)
            )),
        ],
    );
    for strand in interval.strands.iter().take(STRANDS) {
        row(view, page, strand);
    }
}

fn row(view: &View, page: &mut Page, strand: &LowStrand) {
    let dag = view.dag;
    let i = strand.strand as usize;
    let s = &dag.strands;
    let words = cell(dag, s.from[i], s.start_kind[i], s.to[i], s.end_kind[i]);
    let site = label(dag, dag.tasks.site[strand.task as usize]);
    let worker = if dag.is_worker(strand.thread) {
        "worker"
    } else {
        "thread"
    };
    let mut pieces = vec![
        plain(format!(
            "task {} of ",
            dag.tasks.number[strand.task as usize]
        )),
        (Tone::Path, site.to_string()),
        plain(format!(
            ", {worker} {}, {words}: ran {}",
            strand.thread,
            view.time(strand.ticks as f64)
        )),
    ];
    if strand.alone > 0 {
        pieces.push(plain(format!(", alone {}", view.time(strand.alone as f64))));
    }
    page.prose("      ", 8, &pieces);
}
