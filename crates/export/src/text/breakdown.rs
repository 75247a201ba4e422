//! The table that says where the worker time went: workers times elapsed time, by kind.

use super::View;
use super::code::MIN_SAMPLES;
use crate::page::{Page, Tone, columns, plain, strong};
use crate::quantity::{TimeScale, percent_of, ratio, seconds, share, thousands};

/// The kinds of edges by `EdgeKind as usize`, as the table names them.
const EDGES: [&str; 7] = [
    "create",
    "create continuation",
    "wait continuation",
    "yield continuation",
    "end",
    "depend",
    "signal",
];

/// Columns of the longest bar.
const BAR_COLUMNS: usize = 30;

pub(super) fn table(view: &View, page: &mut Page) {
    let (meta, b) = (&view.dag.meta, &view.report.breakdown);
    let elapsed = b.end.saturating_sub(b.begin);
    let all = u128::from(b.workers) * u128::from(elapsed);
    let largest = [
        b.work,
        b.descheduled,
        b.blocked,
        b.recording,
        b.delay,
        b.no_work_sched,
        b.no_work_app,
    ]
    .into_iter()
    .max()
    .unwrap_or(0);
    let of = |ticks: u128| seconds(meta, ticks as f64);
    let scale = TimeScale::of(of(largest));
    page.blank();
    let head = format!(
        "  Where {} x {} went",
        thousands(b.workers.into()),
        view.time(elapsed as f64)
    );
    let unit = format!("(worker-{})", scale.name);
    let gap = " ".repeat(40usize.saturating_sub(columns(&head)).max(2));
    page.line(&[strong(head), (Tone::Faint, format!("{gap}{unit}"))]);
    let mut row = |name: &str, ticks: u128, always: bool, tone: Tone| {
        if ticks == 0 && !always {
            return;
        }
        let percent = percent_of(ticks, all);
        let percent = if percent > 0.0 && percent < 0.5 {
            "<1 %".into()
        } else {
            format!("{percent:.0} %")
        };
        let value = scale.value(of(ticks), of(largest));
        let length = (ticks as f64 / all.max(1) as f64 * BAR_COLUMNS as f64).round() as usize;
        let mark = if page.unicode() { "█" } else { "#" };
        let bar = mark.repeat(length.min(BAR_COLUMNS));
        page.line(&[
            plain(format!("    {name:<20} {value:>9} {percent:>6}  ")),
            (tone, bar),
        ]);
    };
    row("work", b.work, true, Tone::Bar);
    row("delay", b.delay, true, Tone::Bad);
    let delays = b.delay_by_edge.iter().enumerate().filter(|(_, v)| **v > 0);
    let shown: Vec<_> = delays.collect();
    if shown.len() > 1 {
        for (i, ticks) in shown {
            row(&format!("  {}", EDGES[i]), *ticks, false, Tone::Plain);
        }
    }
    row("no work, scheduler", b.no_work_sched, true, Tone::Bad);
    row("no work, program", b.no_work_app, true, Tone::Bad);
    row("descheduled", b.descheduled, false, Tone::Bad);
    row("blocked", b.blocked, false, Tone::Bad);
    row("recording", b.recording, false, Tone::Bad);
    if b.buried > 0 {
        let (count, time) = (thousands(b.buried.into()), view.time(b.buried_ticks as f64));
        let text = if b.buried == 1 {
            format!(
                "buried: 1 wait was over while its thread ran an unrelated task on top of it, for {time}."
            )
        } else {
            format!(
                "buried: {count} waits were over while their threads ran unrelated tasks on top of them, for {time} in all."
            )
        };
        page.prose("    ", 4, &[plain(text)]);
    }
}

/// What the strands' weights exclude, and the parts of the ready path.
pub(super) fn excluded(view: &View, page: &mut Page) {
    let b = &view.report.breakdown;
    let strands = b.work + b.descheduled + b.blocked + b.recording;
    let off = b.descheduled + b.blocked;
    let mut parts = Vec::new();
    if b.recording > 0 {
        let what = if view.measured.raw {
            "which is counted as work (--raw)"
        } else {
            "which is not counted as work"
        };
        parts.push(format!(
            "Recording took {} ({}) inside strands, {what}.",
            view.time(b.recording as f64),
            share(percent_of(b.recording, strands))
        ));
    }
    let heat = &view.report.samples;
    if heat.recording >= MIN_SAMPLES {
        let all = heat.inside + heat.outside;
        parts.push(format!(
            "Of {} samples, {} were in the recorder's code and belong to no strand.",
            thousands(all.into()),
            share(percent_of(heat.recording.into(), all.into()))
        ));
    }
    if off > 0 {
        let what = if view.measured.count_blocked {
            "of which blocked time is counted as work (--count-blocked)"
        } else {
            "which is not counted as work"
        };
        parts.push(format!(
            "Off-CPU time inside strands: {}, {what}.",
            share(percent_of(off, strands))
        ));
    }
    if b.elapsed() > 0 && view.report.work_span.tasks > 1 {
        let path = &b.ready_path;
        if path.scheduler_delay > 0 || path.busy_delay > 0 {
            parts.push(format!(
                "The ready path: {} of work, {} of waiting for a busy worker, {} of waiting for the scheduler.",
                view.time(path.work as f64),
                view.time(path.busy_delay as f64),
                view.time(path.scheduler_delay as f64)
            ));
        }
    }
    if !parts.is_empty() {
        page.blank();
        for part in parts {
            page.prose("  ", 2, &[(Tone::Faint, part)]);
        }
    }
}

/// `1.21 of 2`: mean running against the workers.
pub(super) fn mean_of(mean: f64, workers: u32) -> String {
    format!("{} of {}", ratio(mean), thousands(workers.into()))
}
