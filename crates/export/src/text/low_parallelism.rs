//! The intervals with idle workers that lost most, and the strands that ran in them.

use std::cmp::Reverse;

use workspan_analysis::{CodeBlock, LowParallelism, LowStrand, hottest_function};
use workspan_dag::ROOT_PLACE;

use super::{View, code};
use crate::page::{Page, Tone, plain, strong};
use crate::position::{cell, label};
use crate::quantity::{percent_of, ratio, share};

/// Maximum number of intervals shown.
const MAX_INTERVALS: usize = 3;
/// Maximum number of strands shown for one interval.
const MAX_STRANDS: usize = 3;
/// Minimum loss of an interval that is shown, in percent of all worker-ticks.
const MIN_LOST_PERCENT: f64 = 1.0;

pub(super) fn intervals(view: &View, page: &mut Page) {
    let b = &view.report.breakdown;
    let all = u128::from(b.workers) * u128::from(b.end.saturating_sub(b.begin));
    let worth = |i: &&LowParallelism| percent_of(i.lost, all) >= MIN_LOST_PERCENT;
    let shown: Vec<_> = view
        .report
        .low_parallelism
        .iter()
        .filter(worth)
        .take(MAX_INTERVALS)
        .collect();
    if shown.is_empty() {
        return;
    }
    page.blank();
    page.line(&[strong("  Low parallelism, largest loss first")]);
    for interval in shown {
        show(view, page, interval);
    }
}

fn show(view: &View, page: &mut Page, interval: &LowParallelism) {
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
                " from {}: {} running, {} of the lost time",
                view.time(interval.begin.saturating_sub(b.begin) as f64),
                ratio(running),
                share(interval.lost_percent)
            )),
        ],
    );
    for group in groups(view, interval).iter().take(MAX_STRANDS) {
        row(view, page, interval, group);
    }
}

/// Strands of an interval that ran the same code.
struct Group {
    block: CodeBlock,
    strands: usize,
    first: LowStrand,
    ticks: u64,
    alone: u64,
}

fn groups(view: &View, interval: &LowParallelism) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for strand in &interval.strands {
        let block = CodeBlock::from_strand(view.dag, strand.strand);
        match groups.iter_mut().find(|g| g.block == block) {
            Some(group) => {
                group.strands += 1;
                group.ticks = group.ticks.saturating_add(strand.ticks);
                group.alone = group.alone.saturating_add(strand.alone);
            }
            None => {
                let (ticks, alone) = (strand.ticks, strand.alone);
                groups.push(Group {
                    block,
                    strands: 1,
                    first: strand.clone(),
                    ticks,
                    alone,
                });
            }
        }
    }
    groups.sort_by_key(|g| (Reverse(g.alone), Reverse(g.ticks)));
    groups
}

fn row(view: &View, page: &mut Page, interval: &LowParallelism, group: &Group) {
    let dag = view.dag;
    let words = cell(dag, &group.block, page.width() / 2);
    let mut pieces = if group.strands > 1 {
        vec![plain(format!("{} strands of ", group.strands))]
    } else {
        let thread = group.first.thread;
        let worker = if dag.is_worker(thread) {
            "worker"
        } else {
            "thread"
        };
        let task = dag.tasks.number(group.first.task);
        let name = if group.block.site == ROOT_PLACE {
            "root task"
        } else {
            "task"
        };
        let creator = if group.block.site == ROOT_PLACE {
            ""
        } else {
            " of "
        };
        vec![plain(format!("{worker} {thread}, {name} {task}{creator}"))]
    };
    if group.strands > 1 || group.block.site != ROOT_PLACE {
        pieces.push((Tone::Path, label(dag, group.block.site).to_string()));
    }
    // The times of several strands may overlap; the times in which each ran alone do not.
    let all = match group.strands > 1 && group.alone < group.ticks {
        true => " in all",
        false => "",
    };
    let ran = format!("{}{all}", view.time(group.ticks as f64));
    pieces.push(plain(if group.alone == group.ticks {
        format!(", {words}: ran alone for {ran}")
    } else if group.alone > 0 {
        let alone = view.time(group.alone as f64);
        format!(", {words}: ran {ran}, alone for {alone}")
    } else {
        format!(", {words}: ran {ran}")
    }));
    let code = hottest_function(dag, (interval.begin, interval.end), |s| {
        CodeBlock::from_strand(dag, s) == group.block
    });
    if let Some(hot) = code.filter(|hot| hot.of >= code::MIN_SAMPLES && 2 * hot.samples > hot.of) {
        pieces.push(plain(", mostly in "));
        pieces.extend(code::named(&hot));
    }
    page.prose("      ", 8, &pieces);
}
