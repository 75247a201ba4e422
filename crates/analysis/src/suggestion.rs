//! The first thing to try: the code of a finding as a target of `workspan whatif`, with the
//! parallelism if it were twice as fast.

use workspan_dag::{Dag, NONE};

use crate::blocking_places::blocked_in;
use crate::blocks::{block_name, block_strands};
use crate::causes::{Cause, Causes, Finding};
use crate::critical_block::CriticalBlock;
use crate::named_code::{self, LineRange};
use crate::options::Options;
use crate::sample_profile::{hottest_function, is_in_block, sampled_lines};
use crate::weight::Weights;
use crate::what_if::{Outcome, Target, what_if_weighed};

/// A finding's code made twice as fast.
#[derive(Debug, Clone, PartialEq)]
pub struct Suggestion {
    /// Index into [`Causes::findings`]; their number for the critical block.
    pub finding: usize,
    /// The code of the finding.
    pub target: Target,
    /// The name of the target if it is a code block ([`crate::block_name`]), or a lock: then the
    /// line where threads waited for it.
    pub block: Option<String>,
    /// The outcome of the change.
    pub outcome: Outcome,
}

/// The factor that is shown.
const SHOWN_FACTOR: f64 = 2.0;
/// Minimum growth of the parallelism, as a factor, that is worth a line.
const MIN_PARALLELISM_GAIN: f64 = 1.02;
/// Minimum number of samples that shows where a finding's time is spent.
const MIN_SAMPLES: u64 = 5;

/// The suggestion for the first finding whose code raises the parallelism when it is faster.
pub(crate) fn suggest(
    dag: &Dag,
    weights: &Weights,
    options: &Options,
    causes: &Causes,
    critical: Option<&CriticalBlock>,
) -> Option<Suggestion> {
    let found = causes.findings();
    // The critical block is shown if there are no findings, or if load is one of them.
    let is_shown = found.is_empty() || found.iter().any(|f| f.cause.is_load());
    let critical = critical.filter(|_| is_shown);
    let critical = critical.and_then(CriticalBlock::as_finding);
    let findings = found.into_iter().chain(&critical);
    for (finding, found) in findings.enumerate() {
        let Some((target, block)) = code_of(dag, found) else {
            continue;
        };
        let targets = [target];
        let result = what_if_weighed(dag, weights, options, &targets, &[SHOWN_FACTOR]).ok()?;
        let outcome = result.all.first().copied()?;
        if outcome.parallelism() >= MIN_PARALLELISM_GAIN * result.now.most_parallelism() {
            let [target] = targets;
            return Some(Suggestion {
                finding,
                target,
                block,
                outcome,
            });
        }
    }
    None
}

/// The code of a finding that would be cured by faster code: the lines with most of its samples,
/// the tasks of a site, its code block, or its lock. Also the name of the last two.
fn code_of(dag: &Dag, finding: &Finding) -> Option<(Target, Option<String>)> {
    let block = &finding.block;
    let site = |place: u32| Target::Site {
        places: same_label(dag, place),
        subtree: false,
    };
    match finding.cause {
        Cause::GrainCoarse if block.site != NONE => Some((site(block.site), None)),
        Cause::SerialStrand => {
            let is_in_block = is_in_block(dag, finding);
            let hot = hottest_function(dag, (0, u64::MAX), &is_in_block);
            if let Some(hot) = hot.filter(|h| h.of >= MIN_SAMPLES && 2 * h.samples >= h.of)
                && let (Some(file), Some((from, to))) =
                    (&hot.file, sampled_lines(dag, &hot, &is_in_block))
            {
                let file = file.clone();
                return Some((Target::Lines { file, from, to }, None));
            }
            if block.is_whole_task() {
                return Some((site(block.site), None));
            }
            let name = block_name(dag, block);
            let strands = block_strands(dag, &name);
            Some((Target::Strands(strands), Some(name)))
        }
        Cause::Lock | Cause::LockAcrossJoin => {
            let at = blocked_in(dag, finding)?;
            let (file, line) = (at.file?, at.line?);
            let name = format!("{file}:{line}");
            let range = LineRange {
                file,
                from: line,
                to: line,
            };
            let target = named_code::lock(dag, &range).ok()?;
            Some((target, Some(name)))
        }
        _ => None,
    }
}

/// All places with the same label as `place`, because `--site` means all of them.
fn same_label(dag: &Dag, place: u32) -> Vec<u32> {
    let label = dag.places.get(place as usize).map(|p| &p.label);
    let same = |i: &u32| dag.places.get(*i as usize).map(|p| &p.label) == label;
    (0..dag.places.len() as u32).filter(same).collect()
}
