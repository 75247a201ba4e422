//! Formats measured and predicted speedups as lines of text.

use workspan_analysis::Limits;
use workspan_analysis::scale::{Logical, Point, Reason, Remark};

use super::ScaleView;
use crate::compare::CompareOptions;
use crate::limits;
use crate::page::{Page, Piece, Tone, plain, strong};
use crate::quantity::{NBSP, TimeScale, ratio, thousands};
use crate::what_if::quoted;

/// Formats the table and the remarks on it as lines of at most `looks.width` columns.
pub fn scale_text(view: &ScaleView, looks: &CompareOptions) -> String {
    let mut page = Page::new(looks.width, looks.color, looks.charset);
    let scale = view.scale;
    page.blank();
    let runs = scale.points.iter().filter_map(|p| p.measured.as_ref());
    let runs = runs.map(|m| m.times.len()).max().unwrap_or(0);
    let mut about = match runs {
        0 => ", predicted".to_owned(),
        1 => ", measured and predicted: one run each".to_owned(),
        n => format!(", measured and predicted: medians of {n} runs"),
    };
    if view.pinned {
        about.push_str(", one CPU per worker");
    }
    let mut program = vec![strong(view.program.clone())];
    if let Some(section) = &view.section {
        program.push(plain(format!(", {section} alone")));
        about.push_str("; times of recorded runs");
    }
    program.push(plain(about));
    page.prose("  ", 2, &program);
    match &scale.logical {
        Some(logical) => page.prose("  ", 2, &logical_words(view, logical)),
        None => {
            let why = view.unrecorded.as_deref().unwrap_or("no run was recorded");
            page.prose(
                "  ",
                2,
                &[(Tone::Bad, "No predictions: ".into()), plain(why)],
            );
        }
    }
    page.blank();
    page.line(&[(
        Tone::Faint,
        format!(
            "{:>8}{:>10}{:>16}{:>9}{:>11}{:>11}{:>10}",
            "workers", "elapsed", "spread", "speedup", "at least", "simulated", "at most"
        ),
    )]);
    for point in &scale.points {
        page.line(&[plain(cells(point))]);
    }
    page.blank();
    if let Some(logical) = &scale.logical {
        limits::show(
            &mut page,
            &logical.limits,
            view.region.as_deref().unwrap_or("?"),
        );
    }
    for remark in &scale.remarks {
        page.prose("  ", 2, &sentence(view, remark));
    }
    if let Some(folder) = &view.kept_folder {
        let pieces = [
            plain("To see the recorded runs, and the measured points between the bounds:  "),
            (
                Tone::Command,
                format!("workspan view {}/*.wspan", quoted(folder)),
            ),
        ];
        page.prose("  ", 2, &pieces);
    }
    page.finish()
}

fn logical_words(view: &ScaleView, logical: &Logical) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let amount = |ticks: f64| {
        if view.ticks_per_second == 0 {
            thousands(ticks.max(0.0).round() as u128)
        } else {
            nanos(view.ns(ticks))
        }
    };
    for (name, value) in [
        ("Work ", amount(logical.work as f64)),
        (", span ", amount(logical.span as f64)),
        (", parallelism ", two(logical.parallelism())),
        (", burdened ", two(logical.burdened_parallelism())),
    ] {
        pieces.extend([strong(name), plain(value)]);
    }
    let steal = if view.burden > 0 {
        format!(" ({} per steal)", amount(view.burden as f64))
    } else {
        String::new()
    };
    pieces.push(plain(steal));
    // For another tool's table, the number of spawns is not known.
    if logical.spawns > 0 || !view.scale.recorded.is_empty() {
        let spawns = thousands(logical.spawns.into());
        pieces.push(plain(format!(
            ", {spawns} spawns, average maximal strand {}",
            amount(logical.average_maximal_strand())
        )));
    }
    if let Some(run) = view.scale.recorded.first() {
        let workers = if run.asked == 1 { "worker" } else { "workers" };
        pieces.push(plain(format!("; recorded on {} {workers}", run.asked)));
    }
    if let Some(policy) = &view.policy {
        pieces.push(plain(format!("; simulated {policy}")));
    }
    pieces.push(plain("."));
    pieces
}

fn cells(point: &Point) -> String {
    let (mut elapsed, mut spread, mut speedup) = (String::new(), String::new(), String::new());
    if let Some(m) = &point.measured {
        elapsed = nanos(m.median() as f64).replace(NBSP, " ");
        if let (Some(&least), Some(&most)) = (m.times.first(), m.times.last())
            && m.times.len() > 1
        {
            let (least, most) = (least as f64 / 1e9, most as f64 / 1e9);
            let scale = TimeScale::for_seconds(most);
            spread = format!(
                "{}-{} {}",
                scale.value(least, most),
                scale.value(most, most),
                scale.unit
            );
        }
        speedup = m.speedup.map_or_else(String::new, two);
    }
    let workers = if point.crowded {
        format!("{}*", point.workers)
    } else {
        point.workers.to_string()
    };
    let bound =
        |side: fn((f64, f64)) -> f64| point.bounds.map_or_else(String::new, |b| two(side(b)));
    let simulated = point.simulated.map_or_else(String::new, |s| two(s.mean));
    format!(
        "{workers:>8}{elapsed:>10}{spread:>16}{speedup:>9}{:>11}{simulated:>11}{:>10}",
        bound(|b| b.0),
        bound(|b| b.1)
    )
}

/// A speedup with two decimals, as Cilkview prints it.
fn two(v: f64) -> String {
    format!("{v:.2}")
}

fn nanos(ns: f64) -> String {
    let scale = TimeScale::for_seconds(ns / 1e9);
    format!("{}{NBSP}{}", scale.value(ns / 1e9, ns / 1e9), scale.unit)
}

fn on(workers: &[u32]) -> String {
    let list: Vec<String> = workers.iter().map(u32::to_string).collect();
    match list.split_last() {
        None => String::new(),
        Some((one, [])) => one.clone(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
    }
}

fn percent(share: f64) -> String {
    format!("{:.0}{NBSP}%", share * 100.0)
}

/// A remark as text, with the command to run next.
pub(super) fn sentence(view: &ScaleView, remark: &Remark) -> Vec<Piece> {
    let next = |command: &str| (Tone::Path, command.to_owned());
    match remark {
        Remark::Ignores { asked, workers } => {
            let had = match workers {
                1 => "one worker".to_owned(),
                n => format!("{n} workers"),
            };
            let cure = if *workers == 1 {
                "Either nothing in it runs in parallel, or it gets its number of workers in another way."
            } else {
                "It gets its number of workers in another way: if that is an argument, write {workers} in its place."
            };
            vec![(
                Tone::Bad,
                format!(
                    "The program had {had} each time, although {} were requested, so the measured points have the wrong number of \
                    workers. {cure}",
                    on(asked)
                ),
            )]
        }
        Remark::Differs { asked, workers } => vec![(
            Tone::Bad,
            format!(
                "The program had {workers} instead of {asked} workers: read the measured points with care."
            ),
        )],
        Remark::Noisy(workers) => vec![plain(format!(
            "The runs on {} workers differ too much for a conclusion: use a quieter machine or --repeat 15.",
            on(workers)
        ))],
        Remark::Below { workers, reason } => {
            let on = on(workers);
            let mut pieces = vec![(
                Tone::Bad,
                format!(
                    "On {on} workers it is slower than the lower bound, so the scheduler is not the only cause. "
                ),
            )];
            pieces.extend(match reason {
                Reason::Stretch(times) => vec![
                    plain(format!(
                        "The same work took {} times as long on more workers: memory bandwidth, caches or contention. To see which code:  ",
                        ratio(*times)
                    )),
                    next(&view.stretch),
                    plain("  To see whether it is the memory:  "),
                    next(&view.bandwidth),
                ],
                Reason::Descheduled(share) => vec![plain(format!(
                    "The system ran something else for {} of the workers' time: other programs, or fewer CPUs than it seems.",
                    percent(*share)
                ))],
                Reason::Blocked(share) => vec![
                    plain(format!("Workers were blocked (I/O, locks) for {} of their time. To see where:  ", percent(*share))),
                    next(&view.report),
                ],
                Reason::Delay(share) => vec![
                    plain(format!(
                        "Workers were free while tasks were ready for {} of their time: steals cost more than assumed. To see where:  ",
                        percent(*share)
                    )),
                    next(&view.report),
                ],
                Reason::Unknown => vec![
                    plain("The recorded run does not show why. To see whether it is the memory:  "),
                    next(&view.bandwidth),
                ],
            });
            pieces
        }
        Remark::Above(workers) => vec![
            (
                Tone::Bad,
                format!(
                    "On {} workers it is faster than the upper bound. ",
                    on(workers)
                ),
            ),
            plain(
                "Either it has less work there (larger caches, a search that ends early), or the runs on one worker were slow for \
                 another reason. To see how the work differs:  ",
            ),
            next(&view.stretch),
        ],
        Remark::Inside => {
            let limited = view.scale.logical.map(|l| l.limits) != Some(Limits::default());
            vec![plain(if limited {
                "The measured points lie between the bounds, as far as the bounds apply."
            } else {
                "The measured points lie between the bounds: the DAG and the scheduler explain this curve."
            })]
        }
        Remark::Unjudged => vec![plain(
            "The measured points cannot be compared with the bounds: that needs a recorded run, a measured run on one \
            worker, and one on several workers with a CPU each.",
        )],
        Remark::Crowded(workers) => {
            let cpus = match view.scale.cpus {
                1 => "one CPU".to_owned(),
                n => format!("{n} CPUs"),
            };
            vec![plain(format!(
                "* {} workers shared {cpus}: the bounds do not account for that.",
                on(workers)
            ))]
        }
        Remark::Enough(workers) => vec![plain(match workers {
            1 => "One worker is enough: more are no faster.".to_owned(),
            n => format!("{n} workers are enough: more are no faster."),
        })],
        Remark::Short(ns) => vec![plain(format!(
            "The fastest run took {}, and starting the process is a large part of that. Give the program more to do.",
            nanos(*ns as f64)
        ))],
    }
}
