//! What to try first: the code of a finding, as a target of `workspan whatif`, and what it gives when it is twice as fast.

use workspan_dag::{Dag, EndKind, NONE, ROOT_PLACE, StartKind, StrandId};

use crate::causes::{Cause, Causes, Finding};
use crate::heat::{extent, hottest};
use crate::options::Options;
use crate::quiet::Quiet;
use crate::weight::Weights;
use crate::what_if::{Outcome, Target, what_if_weighed};

/// A finding's code made twice as fast.
#[derive(Debug, Clone, PartialEq)]
pub struct Suggestion {
    /// Which of [`Causes::findings`]; their number where it is that of [`crate::Quiet`].
    pub finding: usize,
    /// Its code.
    pub target: Target,
    /// What it gives.
    pub outcome: Outcome,
}

/// The factor that is shown.
const FACTOR: f64 = 2.0;
/// Parallelism that grows by less is not worth a line.
const WORTH_SAYING: f64 = 1.02;
/// Fewer samples say nothing of where a finding's time goes.
const FEWEST_SAMPLES: u64 = 5;

/// For the first finding whose code, made faster, raises the parallelism.
pub(crate) fn suggest(
    dag: &Dag,
    weights: &Weights,
    options: &Options,
    causes: &Causes,
    quiet: Option<&Quiet>,
) -> Option<Suggestion> {
    let quiet = quiet.map(Quiet::as_finding);
    let findings = causes.findings().into_iter().chain(&quiet);
    for (finding, found) in findings.enumerate() {
        let Some(target) = code_of(dag, found) else {
            continue;
        };
        let targets = [target];
        let result = what_if_weighed(dag, weights, options, &targets, &[FACTOR]).ok()?;
        let outcome = result.all.first().copied()?;
        if outcome.parallelism() >= WORTH_SAYING * result.now.most_parallelism() {
            let [target] = targets;
            return Some(Suggestion {
                finding,
                target,
                outcome,
            });
        }
    }
    None
}

/// The code a finding is about, where faster code is the cure and a position names it.
pub(crate) fn code_of(dag: &Dag, finding: &Finding) -> Option<Target> {
    let at = &finding.place;
    let site = |place: u32| Target::Site {
        places: same_label(dag, place),
        subtree: false,
    };
    match finding.cause {
        Cause::GrainCoarse if at.site != NONE => Some(site(at.site)),
        Cause::SerialStrand => {
            let strands = &dag.strands;
            let of_block = |s: StrandId| {
                let i = s as usize;
                dag.tasks.site[strands.task[i] as usize] == at.site
                    && (dag.starts_at(s), strands.start_kind[i]) == (at.from, at.from_kind)
                    && (strands.to[i], strands.end_kind[i]) == (at.to, at.to_kind)
            };
            let hot = hottest(dag, (0, u64::MAX), of_block);
            if let Some(hot) = hot.filter(|h| h.of >= FEWEST_SAMPLES && 2 * h.samples >= h.of)
                && let (Some(file), Some((from, to))) = (&hot.file, extent(dag, &hot, of_block))
            {
                let file = file.clone();
                return Some(Target::Lines { file, from, to });
            }
            if (at.from_kind, at.to_kind) == (StartKind::Begin, EndKind::End)
                || at.from_kind == StartKind::Begin && at.site == ROOT_PLACE
            {
                return Some(site(at.site));
            }
            let place = dag.places.get(at.from as usize)?;
            let line = place.line?;
            Some(Target::Lines {
                file: place.file.clone()?,
                from: line,
                to: line,
            })
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
