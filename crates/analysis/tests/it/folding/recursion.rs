//! Recursions as OpenMP's runtimes run them: a task creates large and small ones before it waits,
//! and the small ones run first.

use workspan_reader::open::Grain;
use workspan_trace::wire::Kind;

use crate::folding::program::Lane;
use crate::folding::reading::through;
use crate::folding::{file, measures};

/// One thread's records of such a recursion.
struct Recursion {
    lane: Lane,
    created: u64,
    /// Smaller calls run at once, on top of the creating task, which waits for them by name when
    /// they have ended: libgomp's tasks whose `if` is false.
    undeferred: u64,
}

impl Recursion {
    fn put(&mut self, kind: Kind, operands: &[u64]) {
        let t = self.lane.now;
        self.lane.put(t + 5 + t % 7, kind, operands);
    }

    fn put_at_once(&mut self, kind: Kind, operands: &[u64]) {
        self.lane.put(self.lane.now, kind, operands);
    }

    fn create(&mut self, flags: u64) -> u64 {
        self.put(Kind::Create, &[flags, 1]);
        self.created += 1;
        self.created - 1
    }

    /// The code of the task of fib(n): it creates the larger half, and continues with the smaller
    /// one in the same way.
    fn task(&mut self, n: u64) {
        let mut waiting = Vec::new();
        for n in (2..=n).rev().step_by(2) {
            if n - 1 < self.undeferred {
                let child = self.create(2);
                self.put_at_once(Kind::Begin, &[0, child]);
                self.task(n - 1);
                self.put(Kind::End, &[]);
                self.put_at_once(Kind::Wait, &[2, 2, 1, 0, child]);
                self.put_at_once(Kind::Resume, &[]);
            } else {
                waiting.push((self.create(1), n - 1));
            }
        }
        self.put(Kind::Wait, &[3, 0]);
        for (child, n) in waiting.into_iter().rev() {
            self.put(Kind::Begin, &[0, child]);
            self.task(n);
            self.put(Kind::End, &[]);
        }
        self.put(Kind::Resume, &[]);
    }
}

#[test]
fn a_tenth_of_the_tasks_is_left_and_no_measure_changes() {
    for undeferred in [0, 9] {
        let mut recursion = Recursion {
            lane: Lane::default(),
            created: 1,
            undeferred,
        };
        recursion.lane.put(0, Kind::Root, &[]);
        recursion.task(20);
        recursion.put(Kind::End, &[]);
        let end = recursion.lane.now;
        let bytes = file::bytes(&file::plain(&[recursion.lane]), end, "child", 1);
        let plain = through(&bytes, Grain::None, false);
        // Some 100 tasks.
        let short = through(&bytes, Grain::Nanoseconds(2500), false);
        for burden in [0, 7, 1000] {
            assert_eq!(measures(&plain, burden), measures(&short, burden));
        }
        let (left, all) = (short.tasks.len(), plain.tasks.len());
        assert!(left * 12 < all, "{left} of {all}, undeferred {undeferred}");
    }
}
