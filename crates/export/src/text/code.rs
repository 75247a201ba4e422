//! The sample profile: functions inside strands, and the hottest lines.

use workspan_analysis::{BlockingPlace, CodePlace, Holder, HotFunction, LineSamples, WaitKind};

use workspan_dag::Dag;

use super::View;
use crate::page::{Page, Piece, Tone, columns, plain, strong};
use crate::position::label;
use crate::quantity::{percent_of, share, thousands};

/// Maximum number of lines shown.
const MAX_LINES: usize = 5;
/// Minimum share of the samples, in percent, for a line to be shown.
const MIN_LINE_PERCENT: f64 = 2.0;
/// Minimum number of samples that are worth a statement.
pub(super) const MIN_SAMPLES: u64 = 5;

/// The hottest lines of the program.
pub(super) fn lines(view: &View, page: &mut Page) {
    let heat = &view.report.samples;
    let worth = |line: &&LineSamples| {
        line.samples >= MIN_SAMPLES && percent(line.samples, heat.inside) >= MIN_LINE_PERCENT
    };
    let shown: Vec<&LineSamples> = heat.lines.iter().filter(worth).take(MAX_LINES).collect();
    if shown.is_empty() {
        return;
    }
    let on_path: u64 = heat.functions.iter().map(|f| f.critical).sum();
    page.blank();
    page.line(&[
        strong("  Lines, by samples"),
        (
            Tone::Faint,
            format!(
                "  ({} in strands, {} Hz)",
                thousands(heat.inside.into()),
                heat.hertz
            ),
        ),
    ]);
    // The numbers and the gaps take 24 columns; places take up to half of the rest.
    let at = |line: &LineSamples| format!("{}:{}", line.file, line.line);
    let room = page.width().saturating_sub(24);
    let widest = shown
        .iter()
        .map(|line| columns(&page.clean(&at(line))))
        .max();
    let functions = shown
        .iter()
        .map(|line| columns(&page.clean(&line.function)));
    let functions = functions.max().unwrap_or(0);
    let width = widest
        .unwrap_or(0)
        .min(room.saturating_sub(functions.min(room / 2)));
    page.line(&[(
        Tone::Faint,
        format!("  {:>8}{:>12}", "of all", "of critical"),
    )]);
    for line in shown {
        let critical = if on_path == 0 {
            "-".to_owned()
        } else {
            share(percent(line.critical, on_path))
        };
        let at = page.fit(&at(line), width);
        page.line(&[
            plain(format!(
                "  {:>8}{critical:>12}  ",
                share(percent(line.samples, heat.inside))
            )),
            (Tone::Path, at.trim_end().to_owned()),
            plain("  "),
            (
                Tone::Faint,
                page.fit(&line.function, room.saturating_sub(columns(at.trim_end())))
                    .trim_end()
                    .to_owned(),
            ),
        ]);
    }
}

fn percent(part: u64, all: u64) -> f64 {
    percent_of(part.into(), all.into())
}

/// `merge (src/sort.rs:43)`
pub(super) fn named(hot: &HotFunction) -> Vec<Piece> {
    at_line(&hot.function, hot.file.as_deref(), hot.line)
}

pub(super) fn at_line(function: &str, file: Option<&str>, line: Option<u32>) -> Vec<Piece> {
    let mut words = vec![plain(format!("`{function}`"))];
    if let Some(file) = file {
        let at = match line {
            Some(line) => format!("{file}:{line}"),
            None => file.to_owned(),
        };
        words.extend([plain(" ("), (Tone::Path, at), plain(")")]);
    }
    words
}

/// `Of the 33 samples there, 92 % were in `merge` (src/sort.rs:43).`; empty if there are too few.
pub(super) fn sentence(hot: &HotFunction) -> Vec<Piece> {
    if hot.of < MIN_SAMPLES {
        return Vec::new();
    }
    let mut words = vec![plain(format!(
        "Of the {} samples there, {} were in ",
        thousands(hot.of.into()),
        share(percent(hot.samples, hot.of))
    ))];
    words.extend(named(hot));
    if let Some(caller) = &hot.called_at {
        words.push(plain(", called by "));
        words.extend(at_line(
            &caller.function,
            caller.file.as_deref(),
            caller.line,
        ));
    }
    words.push(plain("."));
    words
}

/// `98 % of it was in `main` (src/m.rs:6), waiting in `lock` (63 stacks).`
pub(super) fn blocked(dag: &Dag, at: &BlockingPlace) -> Vec<Piece> {
    let mut words = vec![plain(format!(
        "{} of it was in ",
        share(percent(at.ticks, at.of))
    ))];
    words.extend(at_line(&at.function, at.file.as_deref(), at.line));
    if let Some(waits_in) = &at.waits_in {
        words.push(plain(format!(", waiting in `{waits_in}`")));
    }
    if at.is_c_library_lock() {
        words.push(plain(", a lock of the C library's own"));
    }
    words.push(plain(match at.stops {
        1 => " (one stack).".to_owned(),
        n => format!(" ({} stacks).", thousands(n.into())),
    }));
    if let Some(holder) = &at.holder {
        words.extend(held(holder, at.kind));
    }
    if let Some(join) = at.join {
        words.push(plain(" Before that, it waited in the join at "));
        words.push((Tone::Path, label(dag, join).to_owned()));
        words.push(plain("."));
    }
    words
}

/// ` The lock was released at `f` (src/m.rs:9), and whoever held it was mostly in `burn` (…).`
fn held(holder: &Holder, kind: WaitKind) -> Vec<Piece> {
    let (what, who) = match kind {
        WaitKind::Lock | WaitKind::Bridge => ("The lock was released at ", "its holder"),
        WaitKind::Rank => ("The late rank came there from ", "it"),
        _ => ("It was signalled at ", "that thread"),
    };
    let mut words = Vec::new();
    let place = |at: &CodePlace| at_line(&at.function, at.file.as_deref(), at.line);
    if let Some(at) = &holder.released_at {
        words.push(plain(format!(" {what}")));
        words.extend(place(at));
        if 10 * holder.ticks < 9 * holder.of {
            words.push(plain(format!(
                " ({} of it)",
                share(percent(holder.ticks, holder.of))
            )));
        }
        words.push(plain("."));
    }
    if let Some(ran) = holder.ran.as_ref().filter(|ran| ran.of >= MIN_SAMPLES) {
        words.push(plain(format!(" Meanwhile {who} was in ")));
        words.extend(place(&ran.at));
        if let Some(called) = &ran.called_at {
            words.push(plain(", called by "));
            words.extend(place(called));
        }
        words.push(plain(format!(
            " ({} of {} samples).",
            share(percent(ran.samples, ran.of)),
            thousands(ran.of.into())
        )));
    }
    words
}
