//! Outermost instances of spawn sites (MODEL.md §3) without a walk over the tree of tasks.
//!
//! A task below another task of its own site adds nothing to any site: its work and its paths count
//! for its parent. So all tasks with the same outermost instances above them can be summed
//! together. There are as many sums as outermost instances, mostly few. Two passes, one in the
//! order of creation and one in the order of time, measure them all.

use workspan_dag::cancel::checked;
use workspan_dag::{Dag, NONE, PlaceId, TaskId};

use crate::heaviest_paths::Heaviest;
use crate::site_span::is_entered;
use crate::strand_lengths::StrandLengths;
use crate::weight::Weights;

/// Work and span of an outermost instance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct OutermostInstance {
    pub site: PlaceId,
    pub work: u128,
    pub span: u128,
}

/// Maximum nesting of sites; deeper trees need the walk.
const MAX_NESTED_SITES: u32 = 64;

/// An outermost instance.
#[derive(Debug, Clone, Copy)]
struct SiteInstance {
    task: TaskId,
    site: PlaceId,
    /// The sum around it, or [`NONE`].
    outer: u32,
    depth: u32,
    work: u128,
    /// The largest `through` of its strands.
    reach: u128,
}

/// The outermost instances of all sites, in the order of their tasks. Their spans are in the
/// lengths that `heaviest` was made of. `None` if the walk is needed: with folded strands, edges
/// from outside into instances, tasks before their parents, or sites nested very deep.
pub(crate) fn outermost_instances(
    dag: &Dag,
    weights: &Weights,
    (lengths, heaviest): (&impl StrandLengths, &Heaviest),
) -> Option<Vec<OutermostInstance>> {
    if !dag.folded.is_empty() || is_entered(dag) {
        return None;
    }
    let mut instances: Vec<SiteInstance> = Vec::new();
    let mut instance_of: Vec<u32> = Vec::with_capacity(dag.tasks.len());
    for (task, &parent) in checked(dag.tasks.parent.iter().enumerate()) {
        let site = dag.tasks.site[task];
        let outer = match parent {
            NONE => NONE,
            parent => *instance_of.get(parent as usize)?,
        };
        let above = |instance: u32| instances.get(instance as usize);
        let mut around = std::iter::successors(above(outer), |instance| above(instance.outer));
        if around.any(|instance| instance.site == site) {
            instance_of.push(outer);
            continue;
        }
        let depth = above(outer).map_or(0, |instance| instance.depth + 1);
        if depth > MAX_NESTED_SITES {
            return None;
        }
        instance_of.push(instances.len() as u32);
        instances.push(SiteInstance {
            task: task as TaskId,
            site,
            outer,
            depth,
            work: 0,
            reach: 0,
        });
    }
    for (s, &task) in checked((0..).zip(&dag.strands.task)) {
        let instance = &mut instances[instance_of[task as usize] as usize];
        instance.work += u128::from(weights.work(s));
        instance.reach = instance.reach.max(heaviest.through(s));
    }
    for inner in (0..instances.len()).rev() {
        let SiteInstance {
            outer, work, reach, ..
        } = instances[inner];
        if let Some(outer) = instances.get_mut(outer as usize) {
            outer.work += work;
            outer.reach = outer.reach.max(reach);
        }
    }
    let measured = |instance: &SiteInstance| {
        let first = dag.tasks.first[instance.task as usize];
        let before = heaviest.through(first) - lengths.own(first);
        OutermostInstance {
            site: instance.site,
            work: instance.work,
            span: instance.reach - before,
        }
    };
    Some(instances.iter().map(measured).collect())
}
