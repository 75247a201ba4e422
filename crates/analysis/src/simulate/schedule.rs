//! Writes a simulated run as a trace.

use workspan_dag::raw::{RawEnd, RawRegion, RawScope, RawStrand, RawTask, RawTrace};
use workspan_dag::{
    Dag, Meta, NONE, Region, RunFacts, Steal, StealingDuringWaits, Steals, StrandId, TaskKind,
    note_keys,
};

use super::program::{Kind, Op, Program};
use super::{Policy, Setup};

/// Writes strands when they end.
pub(super) struct Schedule<'a> {
    dag: &'a Dag,
    program: &'a Program,
    raw: RawTrace,
    /// By task: where and when its current strand began.
    open: Vec<(u32, u64)>,
    /// By task: the strand of the DAG that it is in, and the number of its creates that are done.
    within: Vec<(StrandId, u32)>,
    /// By raw strand: the strand of the DAG that it comes from, and the number of creates before
    /// it.
    source: Vec<(StrandId, u32)>,
    /// By task: operations before this one are written, even if the engine has not come to them
    /// yet.
    ahead: Vec<u32>,
    /// Folded strands that have been written.
    written: WrittenFoldSet,
}

/// The set of folded strands that have been written.
struct WrittenFoldSet {
    folded: Vec<StrandId>,
    seen: Vec<bool>,
}

impl WrittenFoldSet {
    /// True if a folded strand was not in the set yet.
    fn insert(&mut self, strand: StrandId) -> bool {
        let Ok(i) = self.folded.binary_search(&strand) else {
            return false;
        };
        !std::mem::replace(&mut self.seen[i], true)
    }
}

impl<'a> Schedule<'a> {
    pub(super) fn new(dag: &'a Dag, program: &'a Program) -> Schedule<'a> {
        let count = program.first.len();
        Schedule {
            dag,
            program,
            raw: RawTrace::default(),
            open: vec![(0, 0); count],
            within: vec![(NONE, 0); count],
            source: Vec::new(),
            ahead: vec![0; count],
            written: WrittenFoldSet {
                folded: dag.folded.strands().to_vec(),
                seen: vec![false; dag.folded.len()],
            },
        }
    }

    /// Called when `task` begins or continues.
    pub(super) fn open(&mut self, task: u32, w: u32, t: u64) {
        self.open[task as usize] = (w, t);
    }

    pub(super) fn stolen(&mut self, t: u64, thief: u32, victim: u32, task: u32, leap: bool) {
        self.raw.steals.push(Steal {
            t,
            thief,
            victim,
            task,
            leap,
        });
    }

    /// Called when `task` calls an inline child at `t`; `next` is its next operation. If a creator
    /// has nothing to do before it waits or stops, it does that at once, as runtimes report it:
    /// while the child runs on its worker, it is in its wait, not ready.
    pub(super) fn calls(&mut self, task: u32, w: u32, t: u64, next: u32) {
        let ops = &self.program.ops[next as usize..];
        let idle = ops.iter().take_while(|op| matches!(op, Op::Run(_, 0)));
        let stop = idle.count();
        if matches!(ops.get(stop), Some(Op::Wait(_) | Op::Yield)) {
            for at in next..=next + stop as u32 {
                self.note(task, w, t, at);
            }
            self.ahead[task as usize] = next + stop as u32 + 1;
        }
    }

    /// Called when `task` comes to operation `at` at time `t`.
    pub(super) fn note(&mut self, task: u32, w: u32, t: u64, at: u32) {
        if at < self.ahead[task as usize] {
            return;
        }
        let op = self.program.ops[at as usize];
        let is_piece = task as usize >= self.dag.tasks.len();
        let end_op = match op {
            Op::Run(strand, _) => {
                let within = &mut self.within[task as usize];
                if within.0 != strand {
                    *within = (strand, 0);
                }
                return;
            }
            Op::Create(child) => RawEnd::Create(child),
            Op::Yield => RawEnd::Yield,
            Op::Signal(signal) => RawEnd::Signal(signal),
            Op::End => RawEnd::End,
            Op::Wait(wait) | Op::Block(wait) => self.wait(wait),
        };
        let (thread, start) = self.open[task as usize];
        debug_assert_eq!(thread, w);
        let (strand, rank) = self.within[task as usize];
        let index = self.raw.strands.len() as u32;
        self.source
            .push(if is_piece { (NONE, 0) } else { (strand, rank) });
        let fold = if is_piece || strand == NONE || !self.written.insert(strand) {
            None
        } else {
            self.dag.fold_of(strand)
        };
        let keep = fold.is_some();
        self.raw.folded.extend(fold.map(|f| (index, f)));
        let at = if strand == NONE {
            NONE
        } else {
            self.dag.strands.to[strand as usize]
        };
        self.raw.strands.push(RawStrand {
            task,
            thread,
            start,
            end: t,
            end_op,
            at: if is_piece { NONE } else { at },
            keep,
        });
        if matches!(op, Op::Create(_)) && !is_piece {
            self.within[task as usize].1 += 1;
        }
        // A signal or yield does not end the worker's turn: the next strand begins at once.
        self.open[task as usize] = (w, t);
    }

    fn wait(&mut self, wait: u32) -> RawEnd {
        if let Some(piece) = wait.checked_sub(self.program.first_piece_wait()) {
            let (from, to) = self.program.piece_waits[piece as usize];
            self.raw.wait_tasks.push(from..to);
            return RawEnd::WaitTasks(self.raw.wait_tasks.len() as u32 - 1);
        }
        if let Some(after) = wait.checked_sub(self.program.dag_waits) {
            let after = self.program.after_handoff[after as usize];
            let signals = &self.program.signals;
            let from = self
                .dag
                .handoffs
                .to(after)
                .iter()
                .map(|handoff| signals.partition_point(|&s| s < handoff.from) as u32);
            self.raw.wait_signals.push(from);
            return RawEnd::WaitSignals(self.raw.wait_signals.len() as u32 - 1);
        }
        let waits = &self.dag.waits;
        let i = wait as usize;
        if waits.scope[i] != NONE {
            return RawEnd::WaitScope(waits.scope[i]);
        }
        if waits.plain[i] {
            return RawEnd::WaitChildren;
        }
        let signals = waits.signals.get(i);
        if !signals.is_empty() {
            let numbers = signals.iter().filter_map(|s| {
                let at = self.program.signals.binary_search(s).ok()?;
                Some(at as u32)
            });
            let numbers: Vec<u32> = numbers.collect();
            self.raw.wait_signals.push(numbers);
            return RawEnd::WaitSignals(self.raw.wait_signals.len() as u32 - 1);
        }
        self.raw.wait_tasks.push(waits.tasks.get(i).iter().copied());
        RawEnd::WaitTasks(self.raw.wait_tasks.len() as u32 - 1)
    }

    /// The finished trace.
    pub(super) fn finish(mut self, setup: &Setup) -> RawTrace {
        let dag = self.dag;
        self.raw.meta = meta(dag, setup);
        self.raw.places = dag.places.clone();
        self.raw.labels = dag.labels.clone();
        self.tasks();
        let signal = |&s: &StrandId| {
            let known = dag.signals.binary_search_by_key(&s, |x| x.0);
            // The signal of a handoff has no number of its own.
            known.map_or((1 << 62) + u64::from(s), |i| dag.signals[i].1)
        };
        self.raw.signals = self.program.signals.iter().map(signal).collect();
        for (i, &task) in dag.dependents.iter().enumerate() {
            let on = dag.depends.get(i);
            self.raw.depends.extend(on.iter().map(|&on| (task, on)));
        }
        // First raw strand of each (strand, number of creates before it).
        let mut places: Vec<(StrandId, u32, u32)> = (0u32..)
            .zip(&self.source)
            .map(|(raw, s)| (s.0, s.1, raw))
            .collect();
        places.sort_unstable();
        let raw_of = |strand: StrandId, rank: u32| -> u32 {
            // A piece that ends in no operation is merged with those after it.
            let known = places.binary_search_by_key(&strand, |p| p.0).is_ok();
            let strand = match known || strand == NONE {
                true => strand,
                false => dag.handoffs.whole(strand).1,
            };
            let at = places.partition_point(|p| (p.0, p.1) < (strand, rank));
            // After the last create of a strand that ends with it comes the task's next strand.
            places.get(at).filter(|p| p.0 == strand).map_or_else(
                || places.get(at.wrapping_sub(1)).map_or(NONE, |p| p.2),
                |p| p.2,
            )
        };
        let scope = |s: &workspan_dag::Scope| RawScope {
            number: s.number,
            kind: s.kind,
            opener: s.opener,
            strand: raw_of(s.strand, s.creates_before),
        };
        self.raw.scopes = dag.scopes.iter().map(scope).collect();
        let strands = &self.raw.strands;
        let when = |(strand, t): (StrandId, u64), rank: u32| -> (u32, u64) {
            let raw = raw_of(strand, rank);
            if raw as usize >= strands.len() {
                return (raw, 0);
            }
            let now = strands.get(raw as usize);
            let (start, end) = (
                dag.strands.start[strand as usize],
                dag.strands.end[strand as usize],
            );
            let length = u128::from(end - start).max(1);
            let share = u128::from(t.clamp(start, end) - start);
            let at = share * u128::from(now.end - now.start) / length;
            let at = if rank > 0 { 0 } else { at as u64 };
            (raw, now.start + at)
        };
        let region = |r: &Region| RawRegion {
            label: r.label,
            task: r.task,
            tree: r.tree,
            begin: when(r.begin, r.begin_creates_before),
            end: when(r.end, r.end_creates_before),
        };
        self.raw.regions = dag.regions.iter().map(region).collect();
        self.raw.parts = dag.parts.iter().map(region).collect();
        self.raw
    }

    fn tasks(&mut self) {
        let tasks = &self.dag.tasks;
        let task = |t: usize| RawTask {
            number: tasks.number(t as u32),
            parent: tasks.parent[t],
            kind: match self.program.kind[t] {
                // A cutoff has made it inline.
                Kind::Call => TaskKind::Inline,
                _ => tasks.kind[t],
            },
            site: tasks.site[t],
            scope: tasks.scope[t],
        };
        self.raw.tasks = (0..tasks.len()).map(task).collect();
        let last = tasks.len().checked_sub(1);
        let mut number = last.map_or(0, |last| tasks.number(last as u32));
        for &strand in &self.program.pieces {
            number = number.saturating_add(1);
            let s = strand as usize;
            let (parent, from) = (self.dag.strands.task[s], self.dag.starts_at(strand));
            self.raw.tasks.push(RawTask {
                number,
                parent,
                kind: TaskKind::Deferred,
                site: if from == NONE {
                    tasks.site[parent as usize]
                } else {
                    from
                },
                scope: NONE,
            });
        }
    }
}

fn meta(dag: &Dag, setup: &Setup) -> Meta {
    let tasks_in_waits = match setup.policy {
        Policy::RestrainedStealing => StealingDuringWaits::OwnChildren,
        _ => StealingDuringWaits::Any,
    };
    let mut meta = dag.meta.clone();
    (meta.workers, meta.threads) = (setup.workers.max(1), setup.workers.max(1));
    (meta.burden, meta.probe_cost) = (setup.steal_cost, 0);
    meta.steals = match setup.policy {
        Policy::WorkFirst => Steals::Continuation,
        _ => Steals::Child,
    };
    meta.recorded = false;
    meta.cpus = None;
    meta.runtime = Some(format!("simulated, {}", setup.policy));
    meta.run = RunFacts {
        tasks_in_waits,
        ..RunFacts::default()
    };
    meta.facts = vec![
        (
            "simulated from".into(),
            dag.meta
                .runtime
                .clone()
                .unwrap_or_else(|| "a text trace".into()),
        ),
        ("policy".into(), setup.policy.to_string()),
        ("steal cost".into(), format!("{} ticks", setup.steal_cost)),
        ("seed".into(), setup.seed.to_string()),
    ];
    if tasks_in_waits == StealingDuringWaits::OwnChildren {
        meta.facts
            .push((note_keys::TASKS_IN_WAITS.into(), "own children".into()));
    }
    meta.warnings = Vec::new();
    meta
}

impl std::fmt::Display for Policy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Policy::WorkFirst => f.write_str("work-first"),
            Policy::HelpFirst => f.write_str("help-first"),
            Policy::DelayedChildren => f.write_str("delayed-children"),
            Policy::BoundedQueue(n) => write!(f, "bounded-queue:{n}"),
            Policy::RestrainedStealing => f.write_str("restrained-stealing"),
            Policy::BreadthFirst => f.write_str("breadth-first"),
        }
    }
}
