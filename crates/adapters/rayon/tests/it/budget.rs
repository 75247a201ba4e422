//! Programs of very short tasks, recorded within a budget: which subtrees are skipped, which are
//! not, and that the programs behave as before.

use std::collections::{BTreeMap, BTreeSet};

use crate::fixture::{Fixture, PROGRAMS, PROGRAMS_1_12};
use workspan_trace::event::{Event, Events, WaitFor};
use workspan_trace::{ChunkKind, Tolerance, Trace};

/// The numbers of joins, and of skipped subtrees, in a file.
#[derive(Debug, Default)]
struct Seen {
    joins: u64,
    subtrees: BTreeSet<(u32, u64)>,
    parts: Vec<(u32, u64)>,
    sampled: u64,
    waits: u64,
}

/// Reads a run within this budget; fails if a thread's records are inconsistent.
fn seen(fixture: &Fixture, arguments: &[&str], budget: &str) -> (String, Seen) {
    let variables = [("WORKSPAN_MAX_OVERHEAD", budget)];
    let (output, bytes) = fixture.spool(arguments, &variables);
    let trace = Trace::open(&bytes).unwrap();
    let mut threads: BTreeMap<u32, Vec<_>> = BTreeMap::new();
    for chunk in trace.chunks(Tolerance::Tolerant) {
        let chunk = chunk.unwrap();
        if chunk.kind == ChunkKind::Events {
            threads.entry(chunk.thread).or_default().push(chunk);
        }
    }
    let mut seen = Seen::default();
    for (thread, mut chunks) in threads {
        chunks.sort_by_key(|chunk| chunk.seq);
        let (mut yields, mut open) = (0, 0i64);
        for chunk in chunks {
            for (_, event) in Events::new(chunk.payload, chunk.base_ticks) {
                match event {
                    Event::Join { .. } => seen.joins += 1,
                    Event::Yield { .. } | Event::Leave { .. } => yields += 1,
                    Event::SkipBegin { .. } => {
                        seen.subtrees.insert((thread, yields));
                        yields += 1;
                        open += 1;
                    }
                    Event::SkipEnd => {
                        open -= 1;
                        assert!(open >= 0, "thread {thread} ends what it has not begun");
                    }
                    Event::StolenPart { of, .. } => seen.parts.push(of),
                    Event::SampleBegin { .. } => seen.sampled += 1,
                    Event::Wait {
                        what: WaitFor::Parts,
                        ..
                    } => {
                        assert!(open > 0, "thread {thread} waits for parts of nothing");
                        seen.waits += 1;
                    }
                    _ => {}
                }
            }
        }
        assert_eq!(open, 0, "thread {thread} is still in an unrecorded subtree");
    }
    for part in &seen.parts {
        assert!(seen.subtrees.contains(part), "{part:?} is no subtree");
    }
    (output, seen)
}

/// The number of joins of `fib(27)`.
const JOINS: u64 = 317_810;

#[test]
fn most_of_what_is_too_short_is_left_out() {
    for fixture in [&PROGRAMS, &PROGRAMS_1_12] {
        for threads in ["1", "2"] {
            let (output, seen) = seen(fixture, &["fib_large", threads], "50000");
            assert_eq!(output, "196418\n");
            assert!(seen.joins < JOINS / 2, "{} joins recorded", seen.joins);
            assert!(seen.subtrees.len() > 20, "{}", seen.subtrees.len());
            if threads == "1" {
                assert_eq!((seen.parts.len(), seen.waits), (0, 0));
            }
        }
    }
}

/// Parallel iterators are joins with the iterator's site.
#[test]
fn iterators_have_a_budget_too() {
    for threads in ["1", "2"] {
        let (output, seen) = seen(&PROGRAMS, &["iterate_large", threads], "50000");
        assert_eq!(output, "131072\n");
        assert!(seen.joins < 1 << 17, "{} joins recorded", seen.joins);
        assert!(!seen.subtrees.is_empty());
    }
}

/// A budget that applies only from a thread's millionth task on.
#[test]
fn small_runs_are_whole() {
    let (output, seen) = seen(&PROGRAMS, &["fib_large", "1"], "50000:1048576");
    assert_eq!(output, "196418\n");
    assert_eq!((seen.joins, seen.subtrees.len()), (JOINS, 0));
}

#[test]
fn without_a_budget_everything_is_recorded() {
    let (output, seen) = seen(&PROGRAMS, &["fib_large", "1"], "0");
    assert_eq!(output, "196418\n");
    assert_eq!(
        (seen.joins, seen.subtrees.len(), seen.sampled),
        (JOINS, 0, 0)
    );
}

#[test]
fn scopes_and_panics_inside_leave_no_holes() {
    let bare = Fixture::bare(&PROGRAMS);
    for threads in ["1", "2", "3"] {
        let expected = bare.run(&["mixed", threads]);
        let (output, seen) = seen(&PROGRAMS, &["mixed", threads], "50000");
        assert_eq!(output, expected);
        assert!(!seen.subtrees.is_empty());
    }
}
