//! `summary`: the sentences of `workspan report`.

use serde::Serialize;
use workspan_analysis::causes::{Cause, Finding};
use workspan_analysis::{blocked_in, hot_function_of};
use workspan_dag::Dag;
use workspan_export::{State, Word, WordKind, summary};

use crate::answer::Reply;
use crate::api_error::ApiError;
use crate::run::sites::NO_SITE;
use crate::run::{Run, RunModel};

#[derive(Serialize)]
struct Summary {
    verdict: String,
    why: Vec<Vec<Piece>>,
    findings: Vec<FindingWords>,
    checked: Vec<CheckText>,
}

#[derive(Serialize)]
struct Piece {
    text: String,
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

#[derive(Serialize)]
struct FindingWords {
    id: &'static str,
    /// The index in `report.findings`, which are in descending order of loss.
    index: usize,
    title: Vec<Piece>,
    evidence: Vec<Piece>,
    share: f64,
    lost: u128,
    /// The number of ticks by which the run would be shorter without this loss.
    gain: u64,
    show: Show,
    source: Option<SourceAt>,
}

/// The place on the timeline to look at for a finding.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Show {
    pub(crate) t0: u64,
    pub(crate) t1: u64,
    pub(crate) strand: Option<u32>,
    site: Option<u16>,
    code: Option<u16>,
}

#[derive(Serialize)]
struct SourceAt {
    file: String,
    line: u32,
}

#[derive(Serialize)]
struct CheckText {
    state: &'static str,
    what: &'static str,
    value: String,
}

pub(crate) fn answer(run: &Run) -> Result<Reply, ApiError> {
    let (model, analyses) = (run.model()?, run.analyses()?);
    let dag = analyses.dag(model);
    let said = summary(dag, &analyses.report, &model.options);
    let found = analyses.report.causes.findings_program_first();
    let pieces = |words: &[Word]| words.iter().map(|word| piece(dag, word)).collect();
    // A run that lost nearly nothing has findings without words.
    let findings = found.into_iter().filter_map(|(index, finding)| {
        let words = said.findings.get(index)?;
        let share = analyses.report.causes.percent(finding.lost) / 100.0;
        Some(FindingWords {
            id: finding.cause.id(),
            index,
            title: pieces(&words.title),
            evidence: pieces(&words.evidence),
            share,
            lost: finding.lost,
            gain: analyses.report.elapsed_gain(dag, finding),
            show: show(model, finding),
            source: source(dag, finding),
        })
    });
    let checked = said.checked.iter().map(|c| CheckText {
        state: match c.state {
            State::Good => "good",
            State::Bad => "bad",
            State::Absent => "absent",
        },
        what: c.what,
        value: c.value.clone(),
    });
    Reply::json(&Summary {
        verdict: said.verdict.clone(),
        why: said.why.iter().map(|sentence| pieces(sentence)).collect(),
        findings: findings.collect(),
        checked: checked.collect(),
    })
}

fn piece(dag: &Dag, word: &Word) -> Piece {
    let place = match word.kind {
        WordKind::Place => dag.places.iter().find(|p| p.label == word.text),
        _ => None,
    };
    // A position from samples is in no table of places: `src/sort.rs:43`.
    let told = || {
        let (file, line) = word.text.rsplit_once(':')?;
        Some((file.to_owned(), line.parse().ok()?))
    };
    let (file, line) = match (word.kind, place) {
        (WordKind::Place, Some(place)) => (place.file.clone(), place.line),
        (WordKind::Place, None) => told().map_or((None, None), |(f, l)| (Some(f), Some(l))),
        _ => (None, None),
    };
    Piece {
        text: word.text.clone(),
        kind: match word.kind {
            WordKind::Text => None,
            WordKind::Strong => Some("strong"),
            WordKind::Code => Some("code"),
            WordKind::Place => Some("place"),
        },
        file,
        line,
    }
}

/// The strand that shows a finding best, from its start to its end; the whole run if the finding is
/// a sum over all of it.
pub(crate) fn show(model: &RunModel, finding: &Finding) -> Show {
    let dag = &*model.dag;
    let site = model.sites.of(finding.block.site);
    let known = (finding.strand as usize) < dag.strands.len();
    let strand = known.then_some(finding.strand);
    let (start, end) = match strand.filter(|_| !is_everywhere(finding.cause)) {
        Some(s) => (dag.strands.start[s as usize], dag.strands.end[s as usize]),
        None => (model.begin, model.end),
    };
    // For a strand that waited, the interval begins when the strand was ready.
    let start = match strand.and_then(|s| model.ready(s)) {
        Some((ready, _)) if is_wait(finding.cause) => ready.min(start),
        _ => start,
    };
    let code = match finding.cause {
        cause
            if cause.is_blocked() || matches!(cause, Cause::SerialStrand | Cause::OtherThreads) =>
        {
            model.codes.of_block(&finding.block)
        }
        _ => strand.map(|s| model.codes.of(s)),
    };
    Show {
        t0: start.max(model.begin) - model.begin,
        t1: end.min(model.end) - model.begin,
        strand,
        site: (site != NO_SITE).then_some(site),
        code,
    }
}

/// Whether the cause is a sum of small losses all over the run, so that no single strand shows it.
fn is_everywhere(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::Descheduled | Cause::Oversubscribed | Cause::GrainFine | Cause::Stretch
    )
}

/// Whether the cause is about strands that were ready before they started.
fn is_wait(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::SlowThief | Cause::RestrainedStealing | Cause::BuriedWait
    )
}

/// The line to look at: where the samples were, otherwise where the strands start, otherwise where
/// their tasks are created.
fn source(dag: &Dag, finding: &Finding) -> Option<SourceAt> {
    if let Some(hot) = hot_function_of(dag, finding)
        && let (Some(file), Some(line)) = (hot.file, hot.line)
    {
        return Some(SourceAt { file, line });
    }
    if let Some(at) = blocked_in(dag, finding)
        && let (Some(file), Some(line)) = (at.file, at.line)
    {
        return Some(SourceAt { file, line });
    }
    let place = dag.places.get(finding.block.telling_place() as usize)?;
    Some(SourceAt {
        file: place.file.clone()?,
        line: place.line?,
    })
}
