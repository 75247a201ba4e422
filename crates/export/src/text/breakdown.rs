//! The table of the worker time by kind: workers × elapsed time.

use workspan_analysis::Breakdown;
use workspan_dag::EdgeKind;

use super::View;
use super::code::MIN_SAMPLES;
use crate::page::{Page, Piece, Tone, columns, plain, strong};
use crate::quantity::{TimeScale, percent_of, ratio, seconds, share, thousands};

/// Number of columns of the table before a bar.
const ROW_COLUMNS: usize = 43;
/// Number of columns of a bar for the whole time.
const BAR_COLUMNS: std::ops::RangeInclusive<usize> = 10..=100;

/// A part of the worker time.
struct Part {
    name: &'static str,
    ticks: u128,
    /// Its characters in a bar, for ASCII and for Unicode.
    marks: [char; 2],
    tone: Tone,
    /// Whether the table has a row for it if it is zero.
    always: bool,
}

/// The parts that add up to workers times elapsed time.
fn parts(b: &Breakdown) -> [Part; 8] {
    let part = |name, ticks, marks, always| Part {
        name,
        ticks,
        marks,
        tone: if name == "work" { Tone::Bar } else { Tone::Bad },
        always,
    };
    [
        part("work", b.work, ['#', '█'], true),
        part("delay", b.delay, ['~', '▒'], true),
        part("no work, scheduler", b.no_work_sched, [':', '∷'], true),
        part("no work, program", b.no_work_app, ['.', '·'], true),
        part("descheduled", b.descheduled, ['x', '×'], false),
        part("blocked", b.blocked, ['o', '○'], false),
        part("recording", b.recording, ['r', '®'], false),
        part("not read", b.unread, ['?', '?'], false),
    ]
}

/// `67 %`, `<1 %`.
fn whole_percent(percent: f64) -> String {
    if percent > 0.0 && percent < 0.5 {
        "<1 %".into()
    } else {
        format!("{percent:.0} %")
    }
}

/// All worker time as one bar, and the meaning of its characters.
pub(super) fn bar(view: &View, page: &mut Page) {
    let b = &view.report.breakdown;
    let all = u128::from(b.workers) * u128::from(b.elapsed());
    let parts = parts(b);
    let head = format!(
        "  Where {} x {} went  ",
        thousands(b.workers.into()),
        view.time(b.elapsed() as f64)
    );
    let room = page.width().saturating_sub(columns(&head));
    let mark = |part: &Part| part.marks[usize::from(page.unicode())];
    let mut line = vec![strong(head)];
    // The ends of the parts are rounded, so that their lengths add up to the bar's length.
    let (mut until, mut drawn) = (0u128, 0);
    for part in &parts {
        until += part.ticks;
        let end = (percent_of(until, all) / 100.0 * room as f64).round() as usize;
        let length = end.min(room).saturating_sub(drawn);
        line.push((part.tone, mark(part).to_string().repeat(length)));
        drawn += length;
    }
    let shown = parts.iter().filter(|part| part.ticks > 0);
    let mut legend: Vec<Vec<Piece>> = vec![Vec::new()];
    let mut column = 2;
    for part in shown {
        let words = format!(
            " {} {}",
            part.name,
            whole_percent(percent_of(part.ticks, all))
        );
        let need = 4 + columns(&words);
        if column + need > page.width() {
            legend.push(Vec::new());
            column = 2;
        }
        column += need;
        if let Some(last) = legend.last_mut() {
            last.extend([
                plain(if last.is_empty() { "  " } else { "   " }),
                (part.tone, mark(part).to_string()),
                plain(words),
            ]);
        }
    }
    page.line(&line);
    for line in legend {
        page.line(&line);
    }
}

pub(super) fn table(view: &View, page: &mut Page) {
    let (meta, b) = (&view.dag.meta, &view.report.breakdown);
    let elapsed = b.end.saturating_sub(b.begin);
    let all = u128::from(b.workers) * u128::from(elapsed);
    let parts = parts(b);
    let largest = parts.iter().map(|part| part.ticks).max().unwrap_or(0);
    let in_seconds = |ticks: u128| seconds(meta, ticks as f64);
    let scale = TimeScale::for_seconds(in_seconds(largest));
    page.blank();
    let head = format!(
        "  Where {} x {} went",
        thousands(b.workers.into()),
        view.time(elapsed as f64)
    );
    let unit = format!("(worker-{})", scale.name);
    let gap = " ".repeat(40usize.saturating_sub(columns(&head)).max(2));
    page.line(&[strong(head), (Tone::Faint, format!("{gap}{unit}"))]);
    let room = page.width().saturating_sub(ROW_COLUMNS);
    let room = room.clamp(*BAR_COLUMNS.start(), *BAR_COLUMNS.end());
    let mut row = |name: &str, ticks: u128, tone: Tone| {
        let percent = whole_percent(percent_of(ticks, all));
        let value = scale.value(in_seconds(ticks), in_seconds(largest));
        let length = (ticks as f64 / all.max(1) as f64 * room as f64).round() as usize;
        let mark = if page.unicode() { "█" } else { "#" };
        let bar = mark.repeat(length.min(room));
        page.line(&[
            plain(format!("    {name:<20} {value:>9} {percent:>6}  ")),
            (tone, bar),
        ]);
    };
    for part in &parts {
        if part.ticks == 0 && !part.always {
            continue;
        }
        row(part.name, part.ticks, part.tone);
        let delays = b.delay_by_edge.iter().enumerate().filter(|(_, v)| **v > 0);
        let delays: Vec<_> = delays.collect();
        if part.name == "delay" && delays.len() > 1 {
            for (i, ticks) in delays {
                let edge = EdgeKind::NAMES[i].replace('_', " ");
                row(&format!("  {edge}"), *ticks, Tone::Plain);
            }
        }
    }
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

/// The time that the strands' weights exclude, and the parts of the ready path.
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
    parts.extend(idle_workers(view));
    parts.extend(cpu_time(view));
    if !parts.is_empty() {
        page.blank();
        for part in parts {
            page.prose("  ", 2, &[(Tone::Faint, part)]);
        }
    }
}

/// `1.21 of 2`: the mean number of running strands and the number of workers.
pub(super) fn mean_of(mean: f64, workers: u32) -> String {
    format!("{} of {}", ratio(mean), thousands(workers.into()))
}

/// The time of idle workers by use, and the CPU time of it.
fn idle_workers(view: &View) -> Option<String> {
    let idle = view.report.idle.filter(|idle| idle.total() > 0)?;
    let share_of_idle = |ticks: u64| share(percent_of(ticks.into(), idle.total().into()));
    Some(format!(
        "Idle workers: {} in all, of which {} searching for tasks, {} going to sleep, {} asleep{}. They used {} of CPU time.",
        view.time(idle.total() as f64),
        share_of_idle(idle.searching),
        share_of_idle(idle.going_to_sleep),
        share_of_idle(idle.asleep),
        match idle.preempted {
            0 => String::new(),
            ticks => format!(", {} preempted", share_of_idle(ticks)),
        },
        view.time(idle.on_cpu() as f64)
    ))
}

/// The process's CPU time, compared with its known parts.
fn cpu_time(view: &View) -> Option<String> {
    let cpu = view.report.cpu?;
    let ns = |ns: u64| view.time(ns as f64 * view.dag.meta.tick_rate() as f64 / 1e9);
    let mut text = format!(
        "CPU time of the process: {}; in tasks {}, between tasks {}, on other threads {}.",
        ns(cpu.process),
        ns(cpu.strands),
        ns(cpu.between),
        ns(cpu.outside)
    );
    if cpu.is_off() {
        text += &format!(
            " That is {} ({}) {} than the process used.",
            ns(cpu.difference()),
            share(cpu.difference_percent()),
            if cpu.is_less() { "less" } else { "more" }
        );
    }
    let switches = view.dag.meta.cpu.as_ref().map_or(0, |cpu| cpu.switches);
    if let Some(each) = cpu.missing_per_switch(switches) {
        text += &format!(
            " It went into {} context switches, {} each, which are no thread's time.",
            thousands(switches.into()),
            ns(each)
        );
    }
    Some(text)
}
