//! Subtrees that may not be folded are not (MODEL.md §7): each condition is broken on purpose, and
//! no folded strand contains that place.

use workspan_dag::Dag;
use workspan_fold::{FoldOptions, StealKind};
use workspan_trace::wire::Kind;

use crate::folding::program::Lane;
use crate::folding::{file, measures};
use crate::random::dice::Dice;

/// A thread that writes a record per tick.
struct Writer {
    lanes: Vec<Lane>,
    t: u64,
    tasks: u64,
}

impl Writer {
    fn put(&mut self, kind: Kind, operands: &[u64]) {
        self.t += 1;
        self.on(0, kind, operands);
    }

    fn on(&mut self, lane: usize, kind: Kind, operands: &[u64]) {
        let t = self.t;
        self.lanes[lane].put(t, kind, operands);
    }

    /// A join of two leaves.
    fn join(&mut self) {
        self.put(Kind::Join, &[1]);
        self.put(Kind::End, &[]);
        self.lanes[0].put(self.t, Kind::Next, &[]);
        self.put(Kind::EndResume, &[]);
        self.tasks += 2;
    }

    fn joins(&mut self) {
        (0..30).for_each(|_| self.join());
    }

    /// The next create count.
    fn create(&mut self, flags: u64, site: u64, scope: &[u64]) -> u64 {
        let operands = [&[flags, site], scope].concat();
        self.put(Kind::Create, &operands);
        self.tasks += 1;
        self.tasks - 1
    }
}

/// The root joins a with b; both are many joins of leaves. `breaks` is in the middle of a, between
/// two joins: it returns the time that no fold may be around. `late` comes after the join of a and
/// b.
fn run(
    breaks: impl Fn(&mut Writer) -> u64,
    late: impl Fn(&mut Writer),
    kept: Vec<u32>,
) -> (Dag, Dag, u64) {
    let mut w = Writer {
        lanes: vec![Lane::default(), Lane::default()],
        t: 0,
        tasks: 0,
    };
    w.put(Kind::Root, &[]);
    w.on(1, Kind::Worker, &[0, 0]);
    w.tasks += 1;
    w.put(Kind::Join, &[2]);
    w.tasks += 2;
    w.joins();
    let at = breaks(&mut w);
    w.joins();
    w.put(Kind::End, &[]);
    w.lanes[0].put(w.t, Kind::Next, &[]);
    w.joins();
    w.put(Kind::EndResume, &[]);
    late(&mut w);
    w.put(Kind::End, &[]);
    let end = w.t;
    let options = FoldOptions {
        grain: 1 << 40,
        max_tasks: u64::MAX,
        thieves: StealKind::TakeChildren,
        unfolded_sites: kept,
        memory: 1 << 30,
    };
    let (chunks, _) = file::folded(&w.lanes, &options, &mut Dice::new(1));
    (
        file::dag(&file::plain(&w.lanes), end, "child"),
        file::dag(&chunks, end, "child"),
        at,
    )
}

/// Whether a folded strand contains a moment (only the main thread has enough to fold). The first
/// moment is 0.
fn is_folded(dag: &Dag, t: u64) -> bool {
    let t = t - 1;
    dag.folded.strands().iter().any(|&s| {
        let s = s as usize;
        dag.strands.start[s] < t && t < dag.strands.end[s]
    })
}

fn refuses(name: &str, breaks: impl Fn(&mut Writer) -> u64) {
    refuses_with(name, breaks, |_| {}, vec![]);
}

fn refuses_with(
    name: &str,
    breaks: impl Fn(&mut Writer) -> u64,
    late: impl Fn(&mut Writer),
    kept: Vec<u32>,
) {
    let (plain, short, at) = run(breaks, late, kept);
    assert!(!is_folded(&short, at), "{name}: {:?}", short.folded);
    assert!(
        short.folded.len() >= 2,
        "{name}: what is beside it is folded"
    );
    for burden in [0, 3, 100] {
        assert_eq!(measures(&plain, burden), measures(&short, burden), "{name}");
    }
}

#[test]
fn without_a_reason_all_is_one_strand() {
    let now = |w: &mut Writer| {
        w.join();
        w.t - 1
    };
    let (plain, short, at) = run(now, |_| {}, vec![]);
    assert!(is_folded(&short, at));
    assert_eq!((short.tasks.len(), short.folded.len()), (1, 1));
    assert_eq!(plain.tasks.len(), 1 + 2 + 2 * 91);
    assert_eq!(measures(&plain, 5), measures(&short, 5));
    // The same check with creates, scopes and waits.
    let scope = |w: &mut Writer| {
        w.put(Kind::Scope, &[1]);
        let first = w.create(1 | 4, 2, &[0, 0]);
        let second = w.create(1, 3, &[]);
        w.put(Kind::Wait, &[1, 1, 0, 0]);
        w.put(Kind::Begin, &[0, second]);
        w.joins();
        w.put(Kind::End, &[]);
        w.put(Kind::Begin, &[0, first]);
        let at = w.t;
        w.put(Kind::EndResume, &[]);
        at
    };
    let (plain, short, at) = run(scope, |_| {}, vec![]);
    assert!(is_folded(&short, at));
    assert_eq!(short.tasks.len(), 1);
    assert_eq!(measures(&plain, 5), measures(&short, 5));
}

#[test]
fn a_dependence_crosses_it() {
    refuses("depends", |w| {
        let first = w.create(1, 2, &[]);
        w.put(Kind::Depends, &[0, first, 1, 2, 77]);
        let second = w.create(1, 2, &[]);
        w.put(Kind::Depends, &[0, second, 1, 1, 77]);
        let at = w.t;
        w.put(Kind::Wait, &[0, 0]);
        for task in [first, second] {
            w.put(Kind::Begin, &[0, task]);
            w.put(Kind::End, &[]);
        }
        w.put(Kind::Resume, &[]);
        at
    });
}

#[test]
fn a_task_escapes_a_shallow_wait() {
    let escape = |w: &mut Writer| {
        let child = w.create(1, 2, &[]);
        w.put(Kind::Wait, &[0, 0]);
        w.put(Kind::Begin, &[0, child]);
        w.create(1, 3, &[]);
        w.put(Kind::EndResume, &[]);
        w.t
    };
    // The task that escaped runs when all others are gone.
    let late = |w: &mut Writer| {
        w.put(Kind::Yield, &[0]);
        w.put(Kind::Begin, &[0, 64]);
        w.put(Kind::End, &[]);
        w.put(Kind::Resume, &[]);
    };
    refuses_with("escape", escape, late, vec![]);
}

#[test]
fn a_foreign_task_runs_between() {
    refuses("foreign", |w| {
        w.put(Kind::Join, &[1]);
        let own = w.tasks;
        w.tasks += 2;
        w.put(Kind::End, &[]);
        // Its deferred child is stolen, and meanwhile it runs the thief's.
        w.on(1, Kind::Begin, &[0, own]);
        w.on(1, Kind::Create, &[1, 2]);
        w.put(Kind::Begin, &[1, 0]);
        w.joins();
        w.put(Kind::End, &[]);
        let at = w.t;
        w.on(1, Kind::Wait, &[0, 0]);
        w.on(1, Kind::Resume, &[]);
        w.on(1, Kind::End, &[]);
        w.put(Kind::Resume, &[]);
        at
    });
}

#[test]
fn a_thief_takes_a_task_of_it() {
    refuses("thief", |w| {
        w.put(Kind::Join, &[1]);
        let own = w.tasks;
        w.tasks += 2;
        w.on(1, Kind::Begin, &[0, own]);
        w.put(Kind::End, &[]);
        w.on(1, Kind::End, &[]);
        let at = w.t;
        w.put(Kind::Resume, &[]);
        at
    });
}

#[test]
fn a_region_or_part_begins_or_ends_in_it() {
    for (begin, end, more) in [
        (Kind::RegionBegin, Kind::RegionEnd, &[1][..]),
        (Kind::PartBegin, Kind::PartEnd, &[]),
    ] {
        refuses("region", |w| {
            w.put(begin, &[&[0], more].concat());
            let at = w.t;
            w.join();
            w.put(end, &[0]);
            at
        });
    }
}

#[test]
fn a_signal_leaves_it() {
    refuses("signal", |w| {
        w.put(Kind::Signal, &[1, 9]);
        w.t
    });
    refuses("wait for a signal", |w| {
        w.on(1, Kind::Begin, &[0, 99_999]);
        w.on(1, Kind::Signal, &[1, 9]);
        w.on(1, Kind::End, &[]);
        w.put(Kind::Wait, &[0, 3, 1, 9]);
        w.put(Kind::Resume, &[]);
        w.t
    });
}

#[test]
fn nobody_waits_for_a_task_of_it() {
    refuses("detached", |w| {
        let task = w.create(3, 2, &[]);
        let at = w.t;
        w.put(Kind::Begin, &[0, task]);
        w.put(Kind::End, &[]);
        at
    });
}

#[test]
fn a_kept_site_stays() {
    refuses_with(
        "kept",
        |w| {
            let task = w.create(1, 4, &[]);
            w.put(Kind::Wait, &[0, 0]);
            w.put(Kind::Begin, &[0, task]);
            let at = w.t + 1;
            w.t += 2;
            w.put(Kind::EndResume, &[]);
            at
        },
        |_| {},
        vec![4],
    );
}

#[test]
fn it_yields() {
    refuses("yield", |w| {
        w.put(Kind::Yield, &[0]);
        let at = w.t;
        w.put(Kind::Resume, &[]);
        at
    });
}
