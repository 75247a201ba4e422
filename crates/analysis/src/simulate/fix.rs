//! Changes to a program that are simulated before they are made.

use std::collections::BTreeSet;

use workspan_dag::{Dag, PlaceId, TaskId, TaskKind};

use crate::options::{Error, Options};
use crate::task_tree::{Step, TaskTree};
use crate::weight::Weights;
use crate::what_if::{Target, TargetWeights, check_factor};

/// A change to the program. The work stays, as in a what-if profile.
#[derive(Debug, Clone, PartialEq)]
pub enum Fix {
    /// Spreads each strand's part of the target over tasks of 1/factor of it.
    Spread {
        /// The code.
        target: Target,
        /// Number of pieces per strand; below 1 the strand takes longer by that factor instead.
        factor: f64,
    },
    /// Spreads each strand's part of the target over equal tasks of at most a given length: the
    /// same grain for long and short strands.
    Pieces {
        /// The code.
        target: Target,
        /// Maximum length of a piece in ticks, at least 1.
        ticks: u64,
    },
    /// A cutoff below which a recursion is serial: a group of tasks created at these places that
    /// are waited for together runs inside its creator if it holds at most `tasks` such tasks,
    /// descendants included.
    Cutoff {
        /// The places.
        places: Vec<PlaceId>,
        /// Maximum number of tasks in a serial group.
        tasks: u64,
    },
}

/// How a strand's part of a target is divided.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Grain {
    Factor(f64),
    Ticks(u64),
}

/// Fixes in terms of strands and tasks.
pub(super) struct Fixes {
    targets: Vec<(TargetWeights, Grain)>,
    /// By task: whether it runs inside its creator; empty if none does.
    serial: Vec<bool>,
}

/// The change of a strand's weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// The part with the first weight takes the second weight instead.
    Takes(u64, u64),
    /// The part with the first weight becomes pieces of the second weight; the last piece may be
    /// shorter.
    Pieces(u64, u64),
}

impl Fixes {
    /// # Errors
    /// A factor is not a positive number.
    pub(super) fn new(
        dag: &Dag,
        weights: &Weights,
        options: &Options,
        fixes: &[Fix],
    ) -> Result<Fixes, Error> {
        let mut targets = Vec::new();
        let mut serial = Vec::new();
        let cover = |target: &Target| {
            let targets = std::slice::from_ref(target);
            TargetWeights::union(dag, weights, options, targets)
        };
        for fix in fixes {
            match fix {
                Fix::Spread { target, factor } => {
                    check_factor(*factor)?;
                    targets.push((cover(target), Grain::Factor(*factor)));
                }
                Fix::Pieces { target, ticks } => {
                    targets.push((cover(target), Grain::Ticks(*ticks.max(&1))));
                }
                Fix::Cutoff { places, tasks } => {
                    serial.resize(dag.tasks.len(), false);
                    cut_off(dag, places, *tasks, &mut serial);
                }
            }
        }
        Ok(Fixes { targets, serial })
    }

    /// Whether `task` runs inside its creator.
    pub(super) fn is_serial(&self, task: TaskId) -> bool {
        self.serial.get(task as usize).copied().unwrap_or(false)
    }

    /// The change of strand `s`, whose weight is `weight`.
    pub(super) fn change(&self, s: u32, weight: u64) -> Option<Change> {
        let found = self
            .targets
            .iter()
            .find(|(cover, _)| cover.inside[s as usize] >= 1.0);
        let (cover, grain) = found?;
        let inside = (cover.inside[s as usize].round() as u64).min(weight);
        let piece = match *grain {
            Grain::Factor(factor) => (inside as f64 / factor).round() as u64,
            Grain::Ticks(ticks) => inside.div_ceil(inside.div_ceil(ticks).max(1)),
        };
        match grain {
            Grain::Factor(factor) if *factor < 1.0 => Some(Change::Takes(inside, piece)),
            _ => (piece >= 1 && piece < inside).then_some(Change::Pieces(inside, piece)),
        }
    }
}

fn cut_off(dag: &Dag, places: &[PlaceId], most: u64, serial: &mut [bool]) {
    let tasks = &dag.tasks;
    let mut inside = vec![0u64; tasks.len()];
    let places: BTreeSet<PlaceId> = places.iter().copied().collect();
    let created_there = |task: TaskId| places.contains(&tasks.site[task as usize]);
    TaskTree::new(dag).walk(|step| {
        let Step::Leave(task) = step else {
            return;
        };
        let count = &mut inside[task as usize];
        *count += u64::from(created_there(task));
        let count = *count;
        if let Some(parent) = inside.get_mut(tasks.parent[task as usize] as usize) {
            *parent += count;
        }
    });
    // A cutoff decides about all tasks created between one place and the wait for them together.
    for wait in 0..dag.waits.after.len() {
        let members = dag.waits.tasks.get(wait);
        let there = || members.iter().copied().filter(|&task| created_there(task));
        if there().map(|task| inside[task as usize]).sum::<u64>() > most {
            continue;
        }
        for task in there().filter(|&t| tasks.kind[t as usize] == TaskKind::Deferred) {
            serial[task as usize] = true;
        }
    }
}
