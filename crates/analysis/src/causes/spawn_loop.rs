//! Loops of one task on the ready path that create tasks one after the other.
//!
//! A *run* is a stretch of the ready path inside one task that goes from create to create without a
//! wait. A strand of it is a turn of a loop if at least [`MIN_TURNS`] strands of the run go from
//! the same create to the same create and take time. Code before a loop, between two loops or after
//! them is ordinary serial code.

use workspan_dag::cancel::checked;
use workspan_dag::{Dag, EdgeKind, EndKind, NONE, PlaceId, StartKind, StrandId, TaskId, TaskKind};

use super::Cause;
use super::book::Entry;
use super::grain::Grain;
use crate::blocks::CodeBlock;

/// Minimum number of turns of a loop: a recursion that creates eight tasks at each node is not a
/// loop.
const MIN_TURNS: usize = 16;

/// The creates of a run.
#[derive(Debug, Clone)]
pub(super) struct CreateRun {
    task: TaskId,
    first: StrandId,
    last: StrandId,
    /// The positions (from, to) of its turns, ascending.
    turns: Vec<(PlaceId, PlaceId)>,
    /// Number of stealable tasks that it created. The next fields are their time with their
    /// descendants, and the site of the first.
    pub tasks: u64,
    pub work: u128,
    site: PlaceId,
    steal: u128,
}

impl CreateRun {
    /// The entry for the loss that the strands of this run caused. Faster strands would not help if
    /// the tasks are too small anyway, so then the cause is the grain.
    pub(super) fn entry(&self) -> Entry {
        let fine = Grain::too_small(self.work, u128::from(self.tasks), self.steal);
        let cause = if fine {
            Cause::GrainFine
        } else {
            Cause::SpawnLoop
        };
        Entry::new(cause, CodeBlock::whole_site(self.site))
    }
}

/// All runs with loops, by strand, ascending.
pub(super) struct SpawnLoops {
    runs: Vec<CreateRun>,
}

impl SpawnLoops {
    pub(super) fn new(
        dag: &Dag,
        path: &[(StrandId, Option<EdgeKind>)],
        grain: &Grain,
        steal: u64,
    ) -> SpawnLoops {
        let mut loops = SpawnLoops { runs: Vec::new() };
        let continues = |s: StrandId| dag.strands.start_kind[s as usize] == StartKind::AfterCreate;
        for run in path.chunk_by(|_, b| continues(b.0)) {
            if run.len() > MIN_TURNS {
                loops.add(dag, run, steal);
            }
        }
        if !loops.runs.is_empty() {
            loops.count_tasks(dag, grain);
        }
        loops.runs.retain(|r| r.tasks >= MIN_TURNS as u64);
        loops
    }

    fn add(&mut self, dag: &Dag, path: &[(StrandId, Option<EdgeKind>)], steal: u64) {
        let strands = &dag.strands;
        let mut ends: Vec<(PlaceId, PlaceId)> = path
            .iter()
            .map(|p| p.0 as usize)
            .filter(|&s| is_between_creates(dag, s) && strands.start[s] < strands.end[s])
            .map(|s| (dag.starts_at(s as StrandId), strands.to[s]))
            .collect();
        ends.sort_unstable();
        let turns: Vec<_> = ends
            .chunk_by(|a, b| a == b)
            .filter(|same| same.len() >= MIN_TURNS)
            .map(|same| same[0])
            .collect();
        if let (false, Some(first), Some(last)) = (turns.is_empty(), path.first(), path.last()) {
            self.runs.push(CreateRun {
                task: strands.task[first.0 as usize],
                first: first.0,
                last: last.0,
                turns,
                tasks: 0,
                work: 0,
                site: NONE,
                steal: u128::from(steal),
            });
        }
    }

    fn count_tasks(&mut self, dag: &Dag, grain: &Grain) {
        for task in checked(0..dag.tasks.len()) {
            let kind = dag.tasks.kind[task];
            if !matches!(kind, TaskKind::Deferred | TaskKind::Detached) {
                continue;
            }
            if let Some(run) = self.find(dag, dag.tasks.creator[task]) {
                let run = &mut self.runs[run];
                if run.tasks == 0 {
                    run.site = dag.tasks.site[task];
                }
                run.tasks += 1;
                run.work += u128::from(grain.work(task as TaskId));
            }
        }
    }

    /// The run that strand `s` belongs to.
    fn find(&self, dag: &Dag, s: StrandId) -> Option<usize> {
        let at = self.runs.partition_point(|r| r.last < s);
        let run = self.runs.get(at)?;
        let inside = run.first <= s && dag.strands.task.get(s as usize) == Some(&run.task);
        inside.then_some(at)
    }

    /// The run in which strand `s` is a turn.
    pub(super) fn of(&self, dag: &Dag, s: StrandId) -> Option<&CreateRun> {
        let run = &self.runs[self.find(dag, s)?];
        let i = s as usize;
        let turn = (dag.starts_at(s), dag.strands.to[i]);
        let is_turn = is_between_creates(dag, i) && run.turns.binary_search(&turn).is_ok();
        is_turn.then_some(run)
    }

    /// The first run whose tasks have this site.
    pub(super) fn at_site(&self, site: PlaceId) -> Option<&CreateRun> {
        self.runs.iter().find(|r| r.site == site)
    }
}

fn is_between_creates(dag: &Dag, s: usize) -> bool {
    dag.strands.start_kind[s] == StartKind::AfterCreate
        && dag.strands.end_kind[s] == EndKind::Create
}
