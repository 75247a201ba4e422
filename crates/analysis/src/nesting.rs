//! Outermost instances of spawn sites (MODEL.md §3) without a walk over the tree of tasks.
//!
//! A task that lies in an instance of its own site already adds nothing of its own to any site: its work and its paths are its
//! parent's. So tasks that have the same outermost instances above them are one *nest*, there are as many nests as outermost
//! instances, mostly few, and two passes in the order of creation and of time measure them all.

use workspan_dag::cancel::checked;
use workspan_dag::{Dag, NONE, PlaceId, TaskId};

use crate::heaviest::Heaviest;
use crate::site_span::is_entered;
use crate::weight::Weights;

/// Work and span of an outermost instance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Outermost {
    pub site: PlaceId,
    pub work: u128,
    pub span: u128,
}

/// Sites inside of each other, at most; more are for the walk.
const DEEPEST: u32 = 64;

/// An outermost instance.
#[derive(Debug, Clone, Copy)]
struct Nest {
    task: TaskId,
    site: PlaceId,
    /// The nest around it, or [`NONE`].
    outer: u32,
    depth: u32,
    work: u128,
    /// The largest `through` of its strands.
    reach: u128,
}

/// The outermost instances of all sites, in the order of their tasks. `None` where they need the walk: folded parts, edges from
/// outside into instances, tasks before their parents, sites nested very deep.
pub(crate) fn outermost(
    dag: &Dag,
    weights: &Weights,
    heaviest: &Heaviest,
) -> Option<Vec<Outermost>> {
    if !dag.folded.is_empty() || is_entered(dag) {
        return None;
    }
    let mut nests: Vec<Nest> = Vec::new();
    let mut nest_of: Vec<u32> = Vec::with_capacity(dag.tasks.len());
    for (task, &parent) in checked(dag.tasks.parent.iter().enumerate()) {
        let site = dag.tasks.site[task];
        let outer = match parent {
            NONE => NONE,
            parent => *nest_of.get(parent as usize)?,
        };
        let above = |nest: u32| nests.get(nest as usize);
        let mut around = std::iter::successors(above(outer), |nest| above(nest.outer));
        if around.any(|nest| nest.site == site) {
            nest_of.push(outer);
            continue;
        }
        let depth = above(outer).map_or(0, |nest| nest.depth + 1);
        if depth > DEEPEST {
            return None;
        }
        nest_of.push(nests.len() as u32);
        nests.push(Nest {
            task: task as TaskId,
            site,
            outer,
            depth,
            work: 0,
            reach: 0,
        });
    }
    for (s, &task) in checked((0..).zip(&dag.strands.task)) {
        let nest = &mut nests[nest_of[task as usize] as usize];
        nest.work += u128::from(weights.work(s));
        nest.reach = nest.reach.max(heaviest.through(s));
    }
    for inner in (0..nests.len()).rev() {
        let Nest {
            outer, work, reach, ..
        } = nests[inner];
        if let Some(outer) = nests.get_mut(outer as usize) {
            outer.work += work;
            outer.reach = outer.reach.max(reach);
        }
    }
    let measured = |nest: &Nest| {
        let first = dag.tasks.first[nest.task as usize];
        let before = heaviest.through(first) - weights.path(first, 0);
        Outermost {
            site: nest.site,
            work: nest.work,
            span: nest.reach - before,
        }
    };
    Some(nests.iter().map(measured).collect())
}
