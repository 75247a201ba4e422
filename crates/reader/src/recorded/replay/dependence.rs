//! OpenMP's dependences (5.2, §15.9): turns the lists of siblings, in order of their creation, into
//! edges among them.
//!
//! The accesses of one address form *generations*. A task joins the current generation if it may
//! run beside its members (both `in`, both `mutexinoutset`, or both `inoutset`); otherwise it
//! begins the next one. All members of a generation depend on all of the one before; earlier
//! dependences are implied. `omp_all_memory` is a generation of all addresses.

use std::collections::BTreeMap;

use workspan_trace::event::References;
use workspan_trace::wire::{TaskRef, dependence};

use super::Replay;
use workspan_dag::NONE;

/// The accesses of one address.
#[derive(Debug)]
struct Accesses {
    /// The kind of access of the current generation.
    kind: u64,
    now: Vec<u32>,
    /// The generation before.
    before: Vec<u32>,
}

/// The dependences among one task's children so far.
#[derive(Debug, Default)]
pub(super) struct Siblings {
    at: BTreeMap<u64, Accesses>,
    /// The last task that depends on all addresses.
    all: Option<u32>,
}

/// A list's accesses by address, without duplicates: an address with several kinds counts as `out`,
/// and so do unknown kinds. `None` if the list names all addresses.
fn accesses(list: impl Iterator<Item = TaskRef>) -> Option<BTreeMap<u64, u64>> {
    let mut of_address = BTreeMap::new();
    for (kind, address) in list {
        let kind = u64::from(kind);
        if kind == dependence::ALL {
            return None;
        }
        of_address
            .entry(address)
            .and_modify(|known| {
                if *known != kind {
                    *known = dependence::OUT;
                }
            })
            .or_insert(kind);
    }
    Some(of_address)
}

/// Whether tasks of this kind may run beside each other.
fn is_shared(kind: u64) -> bool {
    matches!(
        kind,
        dependence::IN | dependence::MUTEX | dependence::INOUT_SET
    )
}

impl Accesses {
    /// The tasks that another access of this kind has to follow.
    fn before(&self, kind: u64) -> &[u32] {
        if is_shared(kind) && kind == self.kind {
            &self.before
        } else {
            &self.now
        }
    }

    fn add(&mut self, kind: u64, task: u32) {
        if !(is_shared(kind) && kind == self.kind) {
            self.kind = kind;
            self.before = std::mem::take(&mut self.now);
        }
        self.now.push(task);
    }
}

impl Siblings {
    /// The tasks that a task with these dependences, created now, directly depends on; ascending.
    pub(super) fn before(&self, list: impl Iterator<Item = TaskRef>) -> Vec<u32> {
        let mut before: Vec<u32> = Vec::new();
        match accesses(list) {
            Some(of_address) => {
                for (address, kind) in of_address {
                    match self.at.get(&address) {
                        Some(known) => before.extend(known.before(kind)),
                        None => before.extend(self.all),
                    }
                }
            }
            None if self.at.is_empty() => before.extend(self.all),
            None => before.extend(self.at.values().flat_map(|known| &known.now)),
        }
        before.sort_unstable();
        before.dedup();
        before
    }

    /// Adds a new task with these dependences.
    pub(super) fn add(&mut self, list: impl Iterator<Item = TaskRef>, task: u32) {
        let Some(of_address) = accesses(list) else {
            self.at.clear();
            self.all = Some(task);
            return;
        };
        for (address, kind) in of_address {
            let all = self.all;
            self.at
                .entry(address)
                .or_insert_with(|| Accesses {
                    kind: dependence::ALL,
                    now: all.into_iter().collect(),
                    before: Vec::new(),
                })
                .add(kind, task);
        }
    }
}

impl<'a> Replay<'a, '_> {
    /// Adds the dependences of a task that was just created.
    pub(super) fn depends(&mut self, name: TaskRef, on: References<'a>) {
        let task = self.counts.task(&self.chunks.threads, name);
        let known = task.map(|task| (task, self.raw.tasks[task as usize].parent));
        let Some((task, parent)) = known.filter(|&(_, parent)| parent != NONE) else {
            self.log
                .names_earlier("Dependences of tasks that are not in the trace, left out");
            return;
        };
        let siblings = self.siblings.entry(self.owner(parent)).or_default();
        let before = siblings.before(on.iter());
        siblings.add(on.iter(), task);
        let fitting = before.len().min(self.room);
        self.room -= fitting;
        if fitting < before.len() {
            self.log
                .repair("Tasks with more dependences than are kept of one trace");
        }
        let edges = before[..fitting].iter().filter(|&&on| on != task);
        self.raw.depends.extend(edges.map(|&on| (task, on)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random numbers (xorshift).
    struct Dice(u64);

    impl Dice {
        fn next(&mut self, below: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0 % below
        }
    }

    /// Whether, according to OpenMP, the second of two siblings comes after the first: if both name
    /// an address, or all addresses, unless both only read it, or both are in the same kind of set.
    fn conflict(first: &[TaskRef], second: &[TaskRef]) -> bool {
        let all = |list: &[TaskRef]| list.iter().any(|&(kind, _)| u64::from(kind) == 5);
        if (all(first) && !second.is_empty()) || (all(second) && !first.is_empty()) {
            return true;
        }
        first.iter().any(|&(a, x)| {
            let apart = |&(b, y): &TaskRef| x == y && (a != b || a == 2);
            second.iter().any(apart)
        })
    }

    #[test]
    fn the_edges_order_just_what_the_standard_orders() {
        let mut dice = Dice(0x1234_5678_9abc_def1);
        for case in 0..3000 {
            let addresses = 1 + dice.next(4);
            let kinds = if case % 3 == 0 { 5 } else { 4 };
            let tasks = 2 + dice.next(14) as usize;
            let lists: Vec<Vec<TaskRef>> = (0..tasks)
                .map(|_| {
                    (0..dice.next(4))
                        .map(|_| (1 + dice.next(kinds) as u32, dice.next(addresses)))
                        .collect()
                })
                .collect();
            let mut siblings = Siblings::default();
            // For each task, the tasks that it follows, by edges and by conflicts.
            let mut reached: Vec<u64> = Vec::new();
            let mut implied: Vec<u64> = Vec::new();
            for (i, list) in lists.iter().enumerate() {
                let (mut by_edges, mut by_conflicts) = (0u64, 0u64);
                for on in siblings.before(list.iter().copied()) {
                    assert!((on as usize) < i, "case {case}");
                    by_edges |= 1 << on | reached[on as usize];
                }
                for on in (0..i).filter(|&on| conflict(&lists[on], list)) {
                    by_conflicts |= 1 << on | implied[on];
                }
                assert_eq!(by_edges, by_conflicts, "case {case}, task {i}: {lists:?}");
                reached.push(by_edges);
                implied.push(by_conflicts);
                siblings.add(list.iter().copied(), i as u32);
            }
        }
    }

    #[test]
    fn edges_that_others_imply_are_left_out() {
        let mut siblings = Siblings::default();
        for task in 0..4 {
            siblings.add([(2, 7)].into_iter(), task);
        }
        assert_eq!(siblings.before([(1, 7)].into_iter()), [3]);
        siblings.add([(1, 7)].into_iter(), 4);
        siblings.add([(1, 7)].into_iter(), 5);
        assert_eq!(siblings.before([(2, 7)].into_iter()), [4, 5]);
        assert_eq!(siblings.before([(5, 0)].into_iter()), [4, 5]);
        assert!(siblings.before([(1, 8)].into_iter()).is_empty());
    }
}
