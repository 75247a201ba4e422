//! The DAG as operations of its tasks.

use workspan_dag::{Dag, EndKind, NONE, RaggedArray, TaskId, TaskKind};

use super::fix::{Change, Fix, Fixes};
use crate::options::{Error, Options};
use crate::weight::Weights;

/// An operation of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    /// Takes time on a worker. Has the strand and the ticks.
    Run(u32, u64),
    /// Creates a task.
    Create(u32),
    /// Continues when all members of this wait have ended.
    Wait(u32),
    /// Waits like `Wait`, but its thread can do nothing else until then.
    Block(u32),
    Yield,
    /// Sets the signal of this number, an index into [`Program::signals`].
    Signal(u32),
    End,
}

/// How a created task is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// According to the policy, at the cost of a spawn.
    Deferred,
    /// By any worker, at no cost: a detached task, or one that the runtime put on another thread,
    /// as a region's.
    Put,
    /// By its creator's worker, at once.
    Call,
}

/// A computation as the engine runs it.
pub(super) struct Program {
    /// Operations of all tasks, one task after the other.
    pub ops: Vec<Op>,
    /// Index of each task's first operation.
    pub first: Vec<u32>,
    pub kind: Vec<Kind>,
    pub parent: Vec<TaskId>,
    /// By task: whether it is a thread that the program started.
    pub is_thread: Vec<bool>,
    /// By task: the number of tasks that it depends on.
    pub depends: Vec<u32>,
    /// By wait: the number of its members.
    pub members: Vec<u32>,
    /// By task: the waits for it, and the tasks that depend on it.
    pub waits_of_task: RaggedArray,
    pub dependents: RaggedArray,
    /// By signal: the waits for it.
    pub waits_of_signal: RaggedArray,
    /// Strands that set signals or end another thread's wait, in order.
    pub signals: Vec<u32>,
    /// Strands that continue when another thread has ended their wait, in order.
    pub after_handoff: Vec<u32>,
    pub spawn_cost: u64,
    /// Sum over all [`Op::Run`], plus the spawns.
    pub work: u128,
    /// Number of waits of the DAG; waits of [`Program::after_handoff`] come next, then those for
    /// tasks that fixes make.
    pub dag_waits: u32,
    /// By task that a fix makes: the strand it comes from. The first one comes after the DAG's
    /// tasks.
    pub pieces: Vec<u32>,
    /// For each wait after those: the range of pieces that it waits for, or the task that now runs
    /// inside its creator.
    pub piece_waits: Vec<(u32, u32)>,
}

/// A strand's time as one piece, or spread over tasks.
struct Spread {
    before: u64,
    /// The first piece belongs to the task itself.
    pieces: Vec<u64>,
}

impl Program {
    pub(super) fn new(
        dag: &Dag,
        weights: &Weights,
        options: &Options,
        spawn_cost: u64,
        fixes: &[Fix],
    ) -> Result<Program, Error> {
        let fixes = Fixes::new(dag, weights, options, fixes)?;
        let (tasks, strands) = (&dag.tasks, &dag.strands);
        let count = tasks.len();
        let mut created: Vec<(u32, u32, u32)> = (0..count as u32)
            .filter(|&t| tasks.creator[t as usize] != NONE)
            .map(|t| (tasks.creator[t as usize], tasks.create_rank[t as usize], t))
            .collect();
        created.sort_unstable();
        let created: Vec<(u32, u32)> = created.into_iter().map(|c| (c.0, c.2)).collect();
        let children = RaggedArray::from_pairs(strands.len(), created.iter().copied());
        let own = RaggedArray::from_pairs(count, strands.task.iter().copied().zip(0u32..));
        let mut signals: Vec<u32> = (0..strands.len() as u32)
            .filter(|&s| strands.end_kind[s as usize] == EndKind::Signal)
            .collect();
        signals.extend(dag.handoffs.list.iter().map(|handoff| handoff.from));
        signals.sort_unstable();
        signals.dedup();
        let mut after_handoff: Vec<u32> = dag.handoffs.list.iter().map(|h| h.to).collect();
        after_handoff.dedup();
        let mut program = Program {
            ops: Vec::with_capacity(2 * strands.len() + count),
            first: Vec::with_capacity(count),
            kind: kinds(dag),
            parent: tasks.parent.clone(),
            is_thread: (0..count as u32)
                .map(|task| tasks.kind[task as usize] == TaskKind::Root || dag.is_thread_task(task))
                .collect(),
            depends: vec![0; count],
            members: Vec::with_capacity(dag.waits.after.len()),
            waits_of_task: RaggedArray::default(),
            dependents: RaggedArray::default(),
            waits_of_signal: RaggedArray::default(),
            signals,
            after_handoff,
            spawn_cost,
            work: 0,
            dag_waits: dag.waits.after.len() as u32,
            pieces: Vec::new(),
            piece_waits: Vec::new(),
        };
        let mut pieces: Vec<Vec<u64>> = Vec::new();
        for task in 0..count as u32 {
            program.first.push(program.ops.len() as u32);
            let of_task = own.get(task as usize);
            for (i, &s) in of_task.iter().enumerate() {
                let spread = program.spread(dag, weights, &fixes, s);
                program.ops.push(Op::Run(s, spread.before));
                if let Some((&mine, others)) = spread.pieces.split_first() {
                    let from = (count + program.pieces.len()) as u32;
                    for &ticks in others {
                        let piece = (count + program.pieces.len()) as u32;
                        program.pieces.push(s);
                        pieces.push(vec![ticks]);
                        program.ops.push(Op::Create(piece));
                    }
                    program.ops.push(Op::Run(s, mine));
                    let to = (count + program.pieces.len()) as u32;
                    program.wait_for(from, to);
                }
                for &child in children.get(s as usize) {
                    program.ops.push(Op::Create(child));
                    if fixes.is_serial(child) {
                        program.kind[child as usize] = Kind::Call;
                        program.wait_for(child, child + 1);
                    }
                }
                let end = match strands.end_kind[s as usize] {
                    EndKind::Create => continue,
                    EndKind::Handoff => {
                        let next = of_task.get(i + 1).copied();
                        program.hand_off(s, next);
                        continue;
                    }
                    EndKind::Wait => {
                        let after = of_task
                            .get(i + 1)
                            .and_then(|&next| dag.waits.index_of(next));
                        after.map_or(Op::Yield, |wait| Op::Wait(wait as u32))
                    }
                    EndKind::Yield => Op::Yield,
                    EndKind::Signal => {
                        Op::Signal(program.signals.partition_point(|&x| x < s) as u32)
                    }
                    EndKind::End => Op::End,
                };
                program.ops.push(end);
            }
            if program.ops.last() != Some(&Op::End) {
                program.ops.push(Op::End);
            }
        }
        program.add_pieces(dag, &pieces);
        program.link(dag);
        let spawns = program
            .kind
            .iter()
            .filter(|&&k| k == Kind::Deferred)
            .count();
        let runs = program.ops.iter().map(|op| match op {
            Op::Run(_, ticks) => u128::from(*ticks),
            _ => 0,
        });
        program.work = runs.sum::<u128>() + spawns as u128 * u128::from(spawn_cost);
        Ok(program)
    }

    /// Ends strand `s` in a handoff; `next` follows.
    fn hand_off(&mut self, s: u32, next: Option<u32>) {
        if let Ok(signal) = self.signals.binary_search(&s) {
            self.ops.push(Op::Signal(signal as u32));
        }
        let waits = next.and_then(|next| self.after_handoff.binary_search(&next).ok());
        if let Some(wait) = waits {
            self.ops.push(Op::Block(self.dag_waits + wait as u32));
        }
    }

    /// Number of the first wait for tasks that fixes make.
    pub(super) fn first_piece_wait(&self) -> u32 {
        self.dag_waits + self.after_handoff.len() as u32
    }

    /// Lets the task of these operations continue when tasks `from` to `to` have ended.
    fn wait_for(&mut self, from: u32, to: u32) {
        let wait = self.first_piece_wait() + self.piece_waits.len() as u32;
        self.piece_waits.push((from, to));
        self.ops.push(Op::Wait(wait));
    }

    /// The time of strand `s`: with the spawns folded into it, and spread if a fix says so.
    fn spread(&self, dag: &Dag, weights: &Weights, fixes: &Fixes, s: u32) -> Spread {
        let fold = if dag.folded.is_empty() {
            None
        } else {
            dag.fold_of(s)
        };
        let spawns = fold.map_or(0, |f| f.spawns.saturating_mul(self.spawn_cost));
        let weight = weights.work(s);
        let mut spread = Spread {
            before: weight.saturating_add(spawns),
            pieces: Vec::new(),
        };
        match fixes.change(s, weight) {
            None => {}
            Some(Change::Takes(inside, instead)) => {
                spread.before = (spread.before - inside).saturating_add(instead);
            }
            Some(Change::Pieces(inside, piece)) => {
                spread.before -= inside;
                let mut left = inside;
                while left > 0 {
                    // The last piece may be shorter.
                    let next = piece.min(left);
                    spread.pieces.push(next);
                    left -= next;
                }
            }
        }
        spread
    }

    fn add_pieces(&mut self, dag: &Dag, pieces: &[Vec<u64>]) {
        for (i, ticks) in pieces.iter().enumerate() {
            let strand = self.pieces[i];
            self.first.push(self.ops.len() as u32);
            for &ticks in ticks {
                self.ops.push(Op::Run(strand, ticks));
            }
            self.ops.push(Op::End);
            self.kind.push(Kind::Deferred);
            self.is_thread.push(false);
            self.parent.push(dag.strands.task[strand as usize]);
            self.depends.push(0);
        }
    }

    fn link(&mut self, dag: &Dag) {
        let tasks = self.first.len();
        let (mut of_task, mut of_signal, mut dependents) = (Vec::new(), Vec::new(), Vec::new());
        for wait in 0..dag.waits.after.len() {
            let members = dag.waits.tasks.get(wait);
            let signals = dag.waits.signals.get(wait);
            self.members.push((members.len() + signals.len()) as u32);
            of_task.extend(members.iter().map(|&t| (t, wait as u32)));
            for strand in signals {
                if let Ok(signal) = self.signals.binary_search(strand) {
                    of_signal.push((signal as u32, wait as u32));
                } else {
                    self.members[wait] -= 1;
                }
            }
        }
        for (i, &after) in (self.dag_waits..).zip(&self.after_handoff) {
            let handoffs = dag.handoffs.to(after);
            self.members.push(handoffs.len() as u32);
            let signals = &self.signals;
            of_signal.extend(handoffs.iter().map(|handoff| {
                let signal = signals.partition_point(|&s| s < handoff.from);
                (signal as u32, i)
            }));
        }
        let first = self.first_piece_wait();
        for (i, &(from, to)) in (first..).zip(&self.piece_waits) {
            self.members.push(to - from);
            of_task.extend((from..to).map(|t| (t, i)));
        }
        for (i, &task) in dag.dependents.iter().enumerate() {
            let on = dag.depends.get(i);
            self.depends[task as usize] = on.len() as u32;
            dependents.extend(on.iter().map(|&t| (t, task)));
        }
        self.waits_of_task = RaggedArray::from_pairs(tasks, of_task.into_iter());
        self.waits_of_signal = RaggedArray::from_pairs(self.signals.len(), of_signal.into_iter());
        self.dependents = RaggedArray::from_pairs(tasks, dependents.into_iter());
    }
}

/// An inline task is a call, unless the runtime put it on another thread, or put another inline
/// task of its parent there.
fn kinds(dag: &Dag) -> Vec<Kind> {
    let (tasks, strands) = (&dag.tasks, &dag.strands);
    let mut puts = vec![false; tasks.len()];
    for task in 0..tasks.len() {
        let creator = tasks.creator[task];
        if tasks.kind[task] == TaskKind::Inline && creator != NONE {
            let (here, there) = (strands.thread[creator as usize], tasks.first[task]);
            if strands.thread[there as usize] != here {
                puts[strands.task[creator as usize] as usize] = true;
            }
        }
    }
    let kind = |task: usize| match tasks.kind[task] {
        TaskKind::Deferred => Kind::Deferred,
        TaskKind::Detached | TaskKind::Root => Kind::Put,
        TaskKind::Inline => {
            let creator = tasks.creator[task];
            let put = creator != NONE && puts[strands.task[creator as usize] as usize];
            if put { Kind::Put } else { Kind::Call }
        }
    };
    (0..tasks.len()).map(kind).collect()
}
