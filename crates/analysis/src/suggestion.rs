//! What to try first: the code of a finding as a target of `workspan whatif`, and the parallelism
//! if it were twice as fast.

use workspan_dag::{Dag, NONE};

use crate::blocked::blocked_in;
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
    /// Which of [`Causes::findings`]; their number where it is that of the critical block.
    pub finding: usize,
    /// Its code.
    pub target: Target,
    /// What that is called where it is a code block ([`crate::block_name`]), or a lock: the line
    /// where threads waited for it.
    pub block: Option<String>,
    /// What it gives.
    pub outcome: Outcome,
}

/// The factor that is shown.
const SHOWN_FACTOR: f64 = 2.0;
/// Parallelism that grows by less is not worth a line.
const MIN_PARALLELISM_GAIN: f64 = 1.02;
/// Fewer samples say nothing of where a finding's time goes.
const MIN_SAMPLES: u64 = 5;

/// For the first finding whose code, made faster, raises the parallelism.
pub(crate) fn suggest(
    dag: &Dag,
    weights: &Weights,
    options: &Options,
    causes: &Causes,
    critical: Option<&CriticalBlock>,
) -> Option<Suggestion> {
    let found = causes.findings();
    // The critical block is shown where nothing is found, or load.
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

/// The code a finding is about, where faster code is the cure: lines that hold most of its samples,
/// tasks of a site, its code block or its lock with what that is called.
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

/// All places that show the label of `place`, as `--site` means them.
fn same_label(dag: &Dag, place: u32) -> Vec<u32> {
    let label = dag.places.get(place as usize).map(|p| &p.label);
    let same = |i: &u32| dag.places.get(*i as usize).map(|p| &p.label) == label;
    (0..dag.places.len() as u32).filter(same).collect()
}
