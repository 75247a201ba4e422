//! A join that a reader reports as one strand gives the same run as the three strands that it
//! stands for, whatever else the reader reports about its tasks, its scope and its strands.

mod dice;

use dice::Dice;
use proptest::prelude::*;
use workspan_dag::build::{Mode, build};
use workspan_dag::raw::{RawEnd, RawRegion, RawScope, RawStrand, RawTask, RawTrace};
use workspan_dag::{Dag, NONE, Place, ScopeKind, Steals, TaskKind, TimeUnit};

/// A run in two forms at once: with joins as one strand each, and as three.
struct Twins {
    dice: Dice,
    short: RawTrace,
    long: RawTrace,
    /// Place in `long` of each strand of `short`.
    place: Vec<u32>,
}

impl Twins {
    fn both(&mut self, change: impl Fn(&mut RawTrace)) {
        change(&mut self.short);
        change(&mut self.long);
    }

    fn below(&mut self, n: u32) -> u32 {
        self.dice.roll(u64::from(n.max(1))) as u32
    }

    fn task(&mut self, parent: u32, kind: TaskKind, scope: u32) -> u32 {
        let task = self.short.tasks.len() as u32;
        let site = if parent == NONE { 0 } else { 1 + task % 2 };
        self.both(|raw| {
            raw.tasks.push(RawTask {
                number: u64::from(task),
                parent,
                kind,
                site,
                scope,
            });
        });
        task
    }

    fn strand(&mut self, task: u32, thread: u32, start: u64, end: u64, end_op: RawEnd) {
        let strand = RawStrand {
            task,
            thread,
            start,
            end,
            end_op,
            at: if end_op == RawEnd::End { NONE } else { 1 },
            keep: self.dice.roll(8) == 0,
        };
        self.place.push(self.long.strands.len() as u32);
        self.short.strands.push(strand);
        let RawEnd::Join(first) = end_op else {
            self.long.strands.push(strand);
            return;
        };
        let scope = self.long.tasks[first as usize].scope;
        let (create, at_once) = (RawEnd::Create, (strand.end, false));
        self.long.strands.push(RawStrand {
            end_op: create(first),
            ..strand
        });
        for end_op in [create(first + 1), RawEnd::WaitScope(scope)] {
            let (start, keep) = at_once;
            self.long.strands.push(RawStrand {
                start,
                keep,
                end_op,
                ..strand
            });
        }
    }

    /// `task` runs on `thread` from `t` on; returns its end. The deferred one of a join's two tasks
    /// may be stolen.
    fn run(&mut self, task: u32, thread: u32, depth: u32, mut t: u64) -> u64 {
        let joins = if depth == 0 { 0 } else { self.below(3) };
        for _ in 0..joins {
            let now = t + u64::from(self.below(4));
            if self.below(4) == 0 {
                let child = self.task(task, TaskKind::Deferred, NONE);
                self.strand(task, thread, t, now, RawEnd::Create(child));
                let end = self.run(child, (thread + 1) % 3, depth - 1, now);
                self.strand(task, thread, now, now, RawEnd::WaitChildren);
                t = end;
                continue;
            }
            let scope = self.short.scopes.len() as u32;
            let (first, opened) = (
                self.short.tasks.len() as u32,
                self.short.strands.len() as u32,
            );
            self.task(task, TaskKind::Deferred, scope);
            self.task(task, TaskKind::Inline, scope);
            let strand = |place: &[u32], i: u32| place.get(i as usize).copied();
            self.strand(task, thread, t, now, RawEnd::Join(first));
            let long_opened = strand(&self.place, opened).unwrap_or(0);
            for (raw, strand) in [(&mut self.short, opened), (&mut self.long, long_opened)] {
                raw.scopes.push(RawScope {
                    number: u64::from(scope),
                    kind: ScopeKind::Group,
                    opener: task,
                    strand,
                });
            }
            let inline = self.run(first + 1, thread, depth - 1, now);
            let stolen = self.below(3) == 0;
            let deferred = if stolen {
                let late = now + u64::from(self.below(3));
                self.run(first, (thread + 1) % 3, depth - 1, late)
            } else {
                self.run(first, thread, depth - 1, inline)
            };
            t = inline.max(deferred);
        }
        let end = t + u64::from(self.below(4));
        self.strand(task, thread, t, end, RawEnd::End);
        end
    }

    /// Adds something that no reader should report.
    fn damage(&mut self) {
        let (tasks, scopes) = (
            self.short.tasks.len() as u32,
            self.short.scopes.len() as u32,
        );
        let (task, other) = (self.below(tasks), self.below(tasks));
        let scope = self.below(scopes) as usize;
        let thread = self.below(3);
        match self.below(9) {
            0 => self.both(|raw| raw.tasks[task as usize].parent = other),
            1 => self.both(|raw| raw.tasks[task as usize].kind = TaskKind::Detached),
            2 if scopes > 0 => self.both(|raw| raw.tasks[0].scope = scope as u32),
            3 if scopes > 0 => self.both(|raw| raw.scopes[scope].opener = other),
            4 if scopes > 0 => self.both(|raw| raw.scopes[scope].kind = ScopeKind::Tree),
            5 => self.strand(task, thread, 3, 5, RawEnd::Create(other)),
            6 if scopes > 0 => self.strand(task, thread, 9, 9, RawEnd::WaitScope(scope as u32)),
            7 => self.both(|raw| raw.meta.steals = Steals::Continuation),
            _ => self.both(|raw| raw.tasks[task as usize].parent = NONE),
        }
    }

    /// A region and a counter at a strand, and the trace cut off after it.
    fn marks(&mut self, cut: bool) {
        let at = self.below(self.short.strands.len() as u32);
        for (raw, strand) in [
            (&mut self.short, at),
            (&mut self.long, self.place[at as usize]),
        ] {
            let (task, t) = (
                raw.strands.task[strand as usize],
                raw.strands.start[strand as usize],
            );
            raw.regions.push(RawRegion {
                label: 0,
                task,
                tree: true,
                begin: (strand, t),
                end: (NONE, 0),
            });
            raw.strands.keep(strand as usize);
            raw.counters.push(("c".into(), vec![(strand, 7)]));
        }
        if cut && self.short.scopes.iter().all(|s| s.strand <= at) {
            self.short.strands = self.short.strands.iter().take(at as usize + 1).collect();
            let whole = self.place.get(at as usize + 1).copied();
            let count = whole.unwrap_or(self.long.strands.len() as u32) as usize;
            self.long.strands = self.long.strands.iter().take(count).collect();
        }
    }
}

fn twins(seed: u64) -> Twins {
    let mut raw = RawTrace::default();
    raw.meta.ticks_per_second = 1_000_000_000;
    raw.meta.time_unit = TimeUnit::Ns;
    raw.meta.recorded = true;
    raw.meta.workers = 3;
    raw.meta.threads = 3;
    raw.labels = vec!["region".into()];
    for label in ["root", "a.rs:1", "b.rs:2"] {
        raw.places.push(Place {
            label: label.into(),
            ..Place::default()
        });
    }
    let mut twins = Twins {
        dice: Dice(seed),
        short: raw.clone(),
        long: raw,
        place: Vec::new(),
    };
    let root = twins.task(NONE, TaskKind::Root, NONE);
    let depth = twins.below(6);
    twins.run(root, 0, depth, 0);
    twins
}

fn built(twins: Twins) -> (Dag, Dag) {
    let build = |raw| build(raw, Mode::Repair).expect("a run that can be repaired");
    (build(twins.short), build(twins.long))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sound_runs_are_the_same(seed: u64, marked: bool) {
        let mut twins = twins(seed);
        if marked {
            twins.marks(false);
        }
        let (short, long) = built(twins);
        prop_assert!(short.meta.warnings.iter().all(|w| w.contains("overlapped") || w.contains("clamped")));
        prop_assert_eq!(short, long);
    }

    #[test]
    fn damaged_runs_are_the_same(seed: u64, times in 1..4, marked: bool) {
        let mut twins = twins(seed);
        for _ in 0..times {
            twins.damage();
        }
        if marked {
            twins.marks(true);
        }
        let (short, long) = built(twins);
        prop_assert_eq!(short, long);
    }
}

#[test]
fn some_joins_are_stolen_and_some_are_not() {
    let (mut stolen, mut kept) = (0, 0);
    for seed in 0..50 {
        let (dag, _) = built(twins(seed));
        for (task, &kind) in dag.tasks.kind.iter().enumerate() {
            if kind == TaskKind::Deferred && dag.tasks.scope[task] != NONE {
                let thread = |s: u32| dag.strands.thread[s as usize];
                if thread(dag.tasks.first[task]) == thread(dag.tasks.creator[task]) {
                    kept += 1;
                } else {
                    stolen += 1;
                }
            }
        }
    }
    assert!(stolen > 20 && kept > 20, "{stolen} stolen, {kept} not");
}
