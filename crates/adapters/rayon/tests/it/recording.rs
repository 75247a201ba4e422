//! Programs with a known number of tasks are recorded and counted, under rayon-core 1.13 and 1.12,
//! and behave as without recording.

use crate::fixture::{Fixture, PROGRAMS, PROGRAMS_1_12};
use crate::replay::{Made, Replay};

/// The number of joins of `fib(n)` down to 1 and 0.
fn joins(n: u32) -> usize {
    if n < 2 {
        0
    } else {
        1 + joins(n - 1) + joins(n - 2)
    }
}

#[track_caller]
fn tasks(replay: &Replay) -> [usize; 4] {
    [Made::Root, Made::Deferred, Made::Inline, Made::Detached].map(|made| replay.count(made))
}

#[test]
fn a_join_is_two_tasks_on_any_number_of_threads() {
    for fixture in [&PROGRAMS, &PROGRAMS_1_12] {
        for threads in ["1", "2", "3"] {
            let (output, replay) = fixture.record(&["fib", threads]);
            assert_eq!(output, "6765\n");
            assert_eq!(replay.joins, joins(20));
            assert_eq!(tasks(&replay), [1, joins(20), joins(20), 0]);
            assert_eq!(replay.next, replay.resumed_with_end);
            if threads == "1" {
                assert_eq!(replay.next, joins(20), "unstolen joins are four records");
                let bytes = replay.event_bytes as f64 / (2 * joins(20)) as f64;
                assert!(bytes <= 12.0, "{bytes} bytes a task");
            }
            // The upper half has the site that created the pool.
            let sizes: Vec<u64> = replay.pools.iter().map(|pool| pool & 0xffff_ffff).collect();
            assert_eq!(sizes, [threads.parse::<u64>().unwrap()]);
            assert_eq!(replay.by_position().len(), 1);
            assert_eq!(
                replay.notes["runtime"],
                format!("Rayon (rayon-core {})", fixture.version)
            );
        }
    }
}

#[test]
fn a_call_from_outside_is_the_same_task_on_a_worker() {
    let (output, replay) = PROGRAMS.record(&["fib_outside"]);
    assert_eq!(output, "55\n");
    assert_eq!(tasks(&replay), [1, joins(10), joins(10), 0]);
    assert_eq!((replay.hops, replay.leaves), (1, 1));
    let root = replay
        .tasks
        .iter()
        .find(|(_, task)| task.made == Made::Root)
        .unwrap()
        .0;
    assert_eq!(
        replay
            .tasks
            .values()
            .filter(|task| task.parent == Some(*root))
            .count(),
        2,
        "the first join's"
    );
}

#[test]
fn panics_leave_a_recording_without_holes() {
    for threads in ["1", "2"] {
        let (output, replay) = PROGRAMS.record(&["panics", threads]);
        assert_eq!(output, "in a\nin b 7\nfirst\ndeep\nin a scope 2\n5\n");
        assert_eq!(replay.joins, 5 + joins(5));
        assert_eq!(tasks(&replay), [1, 5 + joins(5) + 3, 5 + joins(5), 0]);
    }
}

#[test]
fn scopes_hold_what_is_spawned_into_them() {
    for threads in ["1", "2"] {
        let (output, replay) = PROGRAMS.record(&["scopes", threads]);
        assert_eq!(output, "13\n");
        assert_eq!(tasks(&replay), [1, 13, 0, 0]);
        assert_eq!(replay.scopes_waited, 2);
        let mut members: Vec<usize> = Vec::new();
        for scope in replay
            .tasks
            .values()
            .filter_map(|task| task.scope)
            .collect::<std::collections::BTreeSet<_>>()
        {
            members.push(
                replay
                    .tasks
                    .values()
                    .filter(|task| task.scope == Some(scope))
                    .count(),
            );
        }
        members.sort();
        assert_eq!(members, [4, 9], "nested spawns are the outer scope's");
        let root = replay
            .tasks
            .iter()
            .find(|(_, task)| task.made == Made::Root)
            .unwrap()
            .0;
        let by_root = replay
            .tasks
            .values()
            .filter(|task| task.parent == Some(*root))
            .count();
        assert_eq!(
            by_root, 7,
            "nested spawns are created by the tasks that spawn them"
        );
    }
}

#[test]
fn an_in_place_scope_stays_on_its_thread() {
    let (output, replay) = PROGRAMS.record(&["in_place"]);
    assert_eq!(output, "10\n");
    assert_eq!(tasks(&replay), [1, 10, 0, 0]);
    assert_eq!(
        (replay.hops, replay.scopes_waited, replay.pools_ended),
        (0, 3, 1)
    );
}

#[test]
fn install_takes_the_task_along() {
    let (output, replay) = PROGRAMS.record(&["pools"]);
    assert_eq!(output, "31\n");
    assert_eq!(tasks(&replay), [1, 4, 3, 0]);
    // Outside → one → two → one, outside → two → one, outside → two; a call of one into itself is
    // no hop.
    assert_eq!((replay.hops, replay.leaves), (6, 6));
    assert_eq!((replay.pools.len(), replay.pools_ended), (3, 2));
}

#[test]
fn spawned_tasks_are_detached() {
    let (output, replay) = PROGRAMS.record(&["detached"]);
    assert_eq!(output, "[\"detached\", \"global\", \"nested\", \"pool\"]\n");
    // The panic handler's join is done by a root of its own; the broadcast has one task per worker.
    assert_eq!(tasks(&replay), [2, 1, 1 + 2, 4]);
}

#[test]
fn a_broadcast_is_a_task_a_worker() {
    let (_, replay) = PROGRAMS.record(&["broadcasts", "3"]);
    assert_eq!(tasks(&replay), [1, 0, 9, 3]);
    for task in replay
        .tasks
        .values()
        .filter(|task| task.made == Made::Inline)
    {
        assert!(task.scope.is_some());
    }
}

#[test]
fn a_yield_ends_a_strand_only_if_something_runs() {
    let (output, replay) = PROGRAMS.record(&["yields"]);
    assert_eq!(output.matches("Executed").count(), 4, "{output}");
    assert_eq!(tasks(&replay), [1, 4, 0, 0]);
    // Two yields of the install, and one for each task that ran something.
    assert_eq!(replay.yields, 2 + 4);
}

#[test]
fn threads_that_enter_by_themselves_are_roots() {
    let (output, replay) = PROGRAMS.record(&["roots"]);
    assert_eq!(output, "[5, 5, 5]\n");
    assert_eq!(tasks(&replay), [4, 3 * joins(5), 3 * joins(5), 0]);
    assert_eq!(replay.hops, 3);
}

#[test]
fn a_stolen_task_begins_on_the_thief() {
    let (output, replay) = PROGRAMS.record(&["stolen"]);
    assert_eq!(output, "false true\n");
    assert_eq!(tasks(&replay), [1, 1 + joins(4), 1 + joins(4), 0]);
    let stolen = replay
        .tasks
        .iter()
        .filter(|(name, task)| task.made == Made::Deferred && task.begun != [name.0])
        .count();
    assert!(stolen >= 1);
    let reported = replay.steals.len();
    assert_eq!(
        reported, stolen,
        "every task that began elsewhere was stolen"
    );
}

/// A barrier in both halves of the only join forces one steal, and prevents any other.
#[test]
fn one_forced_steal_is_one_steal_with_its_thief_and_victim() {
    for fixture in [&PROGRAMS, &PROGRAMS_1_12] {
        let (output, replay) = fixture.record(&["one_steal"]);
        assert_eq!(output, "stolen\n");
        assert!(!replay.notes.contains_key("warning"), "{:?}", replay.notes);
        let [(thief, Some(victim), stolen, leap)] = replay.steals[..] else {
            panic!("{:?}", replay.steals)
        };
        assert!(thief != victim && !leap, "{:?}", replay.steals);
        let task = &replay.tasks[&stolen];
        assert_eq!((task.made, &task.begun[..]), (Made::Deferred, &[thief][..]));
        assert_eq!(stolen.0, victim, "the victim made it");
        // Both look at each other's deque, and fall asleep at some time.
        assert!(
            replay
                .missed
                .iter()
                .all(|(by, of)| of.is_none() || *of == Some(thief + victim - by))
        );
    }
}

#[test]
fn idle_workers_sleep_and_write_little() {
    for fixture in [&PROGRAMS, &PROGRAMS_1_12] {
        let (_, replay) = fixture.record(&["asleep", "3"]);
        assert!(replay.sleeps >= 2, "{}", replay.sleeps);
        assert!(replay.steals.is_empty());
        // Each of them gives up after 33 rounds with two victims, which is at most 7 doublings each
        // time.
        assert!(!replay.missed.is_empty());
        assert!(
            replay.missed.len() <= 7 * (replay.sleeps + 6),
            "{} for {} sleeps",
            replay.missed.len(),
            replay.sleeps
        );
    }
}

#[test]
fn a_thread_that_is_a_worker_stays_the_root_it_was() {
    let (output, replay) = PROGRAMS.record(&["current"]);
    assert_eq!(output, "caught\nSome(Executed) Some(Idle)\n(1, 2)\n");
    assert_eq!(tasks(&replay), [2, 1, 1, 1]);
    assert_eq!((replay.hops, replay.yields), (0, 1));
}

#[test]
fn the_global_pool_is_known_when_nobody_builds_it() {
    let (output, replay) = PROGRAMS.record(&["implicit"]);
    assert_eq!(output, "499500\n");
    assert_eq!(replay.pools.len(), 1);
    assert_eq!(replay.workers as u64, replay.pools[0] & 0xffff_ffff);
}

#[test]
fn iterators_have_one_site_for_each_call() {
    for threads in ["1", "2"] {
        let (_, replay) = PROGRAMS.record(&["iterators", threads]);
        assert!(replay.joins > 100);
        let sites = replay.by_position();
        assert!(
            sites
                .keys()
                .all(|position| position.starts_with("stack of")),
            "{sites:?}"
        );
    }
}

/// The stack is walked with a table of previous unwinding results: the walk must find the same each
/// time, and distinguish the stacks that unwinding distinguishes.
#[test]
fn a_call_stack_is_one_site_however_often_it_is_seen() {
    let (output, replay) = PROGRAMS.record(&["again", "1"]);
    assert_eq!(output, format!("{}\n", 500 * (28 + 5 * 56)));
    let used: std::collections::BTreeSet<u32> = replay
        .tasks
        .values()
        .filter(|task| task.made == Made::Deferred)
        .map(|task| task.site)
        .collect();
    assert_eq!(used.len(), 6, "{:?}", replay.by_position());
}

#[test]
fn a_program_that_never_calls_rayon_says_nothing_of_it() {
    let (output, replay) = PROGRAMS.record(&["untouched"]);
    assert_eq!(output, "nothing\n");
    assert!(replay.workers == 0 && !replay.notes.contains_key("runtime"));
}

#[test]
fn a_program_sees_the_same_rayon() {
    // Both versions print the same.
    let bare = Fixture::bare(&PROGRAMS).run(&["behaviour"]);
    assert!(bare.contains("outside the pool (true, true)"), "{bare}");
    for fixture in [&PROGRAMS, &PROGRAMS_1_12] {
        assert_eq!(
            bare,
            fixture.run(&["behaviour"]),
            "not recorded, {}",
            fixture.version
        );
        assert_eq!(
            bare,
            fixture.record(&["behaviour"]).0,
            "recorded, {}",
            fixture.version
        );
    }
}
