//! The report's first sentences in pieces, for a page: the limit of the program, the reasons, and
//! further checks.

use workspan_analysis::causes::Finding;
use workspan_analysis::{MIN_STRAND_INSTRUCTIONS, Options, Report, StrandRule, short_strands};
use workspan_dag::Dag;

use super::{View, findings, headline};
use crate::TextOptions;
use crate::page::{Piece, Tone, plain};
use crate::quantity::{percent_of, share, thousands};

/// The role of a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordKind {
    /// Running text.
    Text,
    /// Emphasised.
    Strong,
    /// A name in the program.
    Code,
    /// A position in the program.
    Place,
}

/// A piece of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The text. Names in it come from the traced program, so treat it as data, never as markup.
    pub text: String,
    /// Its role.
    pub kind: WordKind,
}

/// Words as plain text, code between backticks.
pub fn plain_words(words: &[Word]) -> String {
    let mut text = String::new();
    for word in words {
        match word.kind {
            WordKind::Code => text.push_str(&format!("`{}`", word.text)),
            _ => text.push_str(&word.text),
        }
    }
    text.replace('\u{a0}', " ")
}

/// The first sentences of `workspan report`.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// What limits the program.
    pub verdict: String,
    /// Sentences below the verdict.
    pub why: Vec<Vec<Word>>,
    /// The findings, in the order of [`workspan_analysis::causes::Causes::findings`].
    pub findings: Vec<FindingText>,
    /// The further checks.
    pub checked: Vec<CheckText>,
}

/// A finding in words.
#[derive(Debug, Clone, PartialEq)]
pub struct FindingText {
    /// What happened, and where.
    pub title: Vec<Word>,
    /// The loss, the remedy, and what the samples show.
    pub evidence: Vec<Word>,
}

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Fine.
    Good,
    /// A problem.
    Bad,
    /// The trace has no data for it.
    Absent,
}

/// A check of the summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckText {
    /// The outcome.
    pub state: State,
    /// What was checked.
    pub what: &'static str,
    /// Its value, in words.
    pub value: String,
}

/// The first sentences of `report`, which was made from `dag` with the options `measured`.
/// [`crate::report_text`] says the same.
pub fn summary(dag: &Dag, report: &Report, measured: &Options) -> Summary {
    let options = TextOptions::default();
    let view = View {
        dag,
        report,
        measured,
        options: &options,
    };
    let opening = headline::opening(&view);
    let mut why: Vec<Vec<Word>> = opening
        .more
        .iter()
        .map(|sentence| words(sentence))
        .collect();
    let found = match opening.lost {
        true => report.causes.findings(),
        false => Vec::new(),
    };
    if let (true, Some(quiet)) = (opening.lost, report.on_a_quiet_machine()) {
        why.insert(0, words(&findings::on_a_quiet_machine(&view, quiet)));
    }
    if opening.lost && found.is_empty() {
        why.insert(0, words(&[plain(findings::NO_CAUSE)]));
    }
    Summary {
        verdict: opening.verdict.into_iter().map(|piece| piece.1).collect(),
        why,
        findings: found.into_iter().map(|f| finding(&view, f)).collect(),
        checked: checked(&view),
    }
}

fn finding(view: &View, finding: &Finding) -> FindingText {
    let opening = findings::words(view, finding);
    let mut evidence = words(&[
        (Tone::Strong, opening.share),
        plain(format!(" of the lost time. {}", opening.advice)),
    ]);
    if !opening.code.is_empty() {
        evidence.extend(words(&[plain(" ")]));
        evidence.extend(words(&opening.code));
    }
    FindingText {
        title: words(&opening.what),
        evidence,
    }
}

/// Pieces as words. Text between backticks becomes code.
fn words(pieces: &[Piece]) -> Vec<Word> {
    let mut words = Vec::new();
    for (tone, text) in pieces {
        let kind = match tone {
            Tone::Strong | Tone::Command => WordKind::Strong,
            Tone::Path => WordKind::Place,
            _ => WordKind::Text,
        };
        if kind == WordKind::Place {
            words.push(Word {
                text: text.clone(),
                kind,
            });
            continue;
        }
        for (i, part) in text.split('`').enumerate() {
            if !part.is_empty() {
                words.push(Word {
                    text: part.to_owned(),
                    kind: if i % 2 == 1 { WordKind::Code } else { kind },
                });
            }
        }
    }
    words
}

/// Maximum share of the worker time, in percent, at which off-CPU time, delay and oversubscription
/// are fine.
const MAX_GOOD_PERCENT: f64 = 2.0;
/// Maximum share of the strands' time, in percent, at which recording is fine.
const MAX_RECORDING_PERCENT: f64 = 10.0;

/// The checks that need off-CPU times.
const OFF_CPU: [&str; 2] = ["Waiting for a CPU", "Blocked (I/O, locks)"];

fn checked(view: &View) -> Vec<CheckText> {
    let (dag, b, ws) = (view.dag, &view.report.breakdown, &view.report.work_span);
    let all = u128::from(b.workers) * u128::from(b.elapsed());
    let unread = dag.meta.unread;
    let mut list = Vec::new();
    // The unread part may contain anything, so no check passes and no zero is certain.
    let mut add = |state: State, what: &'static str, value: String| {
        let value = match (unread, state) {
            (Some(part), State::Absent) if part.off_cpu && OFF_CPU.contains(&what) => {
                "unknown: not read".into()
            }
            (Some(_), State::Absent) => format!("{value} (in the part that was read)"),
            _ => value,
        };
        list.push(CheckText { state, what, value });
    };
    let good = |is: bool| match (unread, is) {
        (Some(_), _) => State::Absent,
        (None, true) => State::Good,
        (None, false) => State::Bad,
    };
    let of_all = |ticks: u128| percent_of(ticks, all);
    add(
        good(of_all(b.delay) < MAX_GOOD_PERCENT),
        "Scheduler delay",
        format!("{} of worker time", share(of_all(b.delay))),
    );
    if ws.spawns > 0 && ws.burden > 0 {
        let short = short_strands(ws, view.measured);
        let strand = view.amount(ws.average_maximal_strand());
        let value = match short.map(|short| short.rule) {
            Some(StrandRule::Instructions) => {
                format!("{strand} per strand, below {MIN_STRAND_INSTRUCTIONS}")
            }
            _ => format!(
                "{strand} per strand, {} per steal",
                view.amount(ws.burden as f64)
            ),
        };
        add(good(short.is_none()), "Task size", value);
    } else {
        add(
            State::Absent,
            "Task size",
            "the cost of a steal is unknown".into(),
        );
    }
    add(
        good(b.buried == 0),
        "Buried waits",
        match b.buried {
            0 => "none".into(),
            n => format!(
                "{}, {}",
                thousands(n.into()),
                view.time(b.buried_ticks as f64)
            ),
        },
    );
    let off = of_all(b.descheduled);
    if dag.offs.is_empty() && !dag.meta.recorded {
        add(State::Absent, OFF_CPU[0], "not recorded".into());
    } else {
        add(
            good(off < MAX_GOOD_PERCENT),
            OFF_CPU[0],
            format!("{} of worker time", share(off)),
        );
        add(
            good(of_all(b.blocked) < MAX_GOOD_PERCENT),
            OFF_CPU[1],
            format!("{} of worker time", share(of_all(b.blocked))),
        );
    }
    let strands = b.work + b.descheduled + b.blocked + b.recording;
    if b.recording == 0 && !dag.meta.recorded {
        // What another tool's recording took is not known.
        add(State::Absent, "Recording itself", "not in the trace".into());
    } else {
        add(
            good(percent_of(b.recording, strands) < MAX_RECORDING_PERCENT),
            "Recording itself",
            format!(
                "{} of the strands' time",
                share(percent_of(b.recording, strands))
            ),
        );
    }
    if b.oversubscribed > 0 {
        add(
            good(of_all(b.oversubscribed) < MAX_GOOD_PERCENT),
            "More strands than workers",
            format!("{} of worker time", share(of_all(b.oversubscribed))),
        );
    }
    match dag.samples.len() {
        0 => add(State::Absent, "Samples of the code", "none taken".into()),
        n => add(
            State::Good,
            "Samples of the code",
            format!("{} at {} Hz", thousands(n as u128), dag.samples.hertz),
        ),
    }
    match dag.strand_counters().count() {
        0 => add(State::Absent, "Hardware counters", "none recorded".into()),
        n => add(State::Good, "Hardware counters", thousands(n as u128)),
    }
    list
}
