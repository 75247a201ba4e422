//! Recorded traces of tasks that stop on one thread and go on on another.

use workspan_dag::{EndKind, StartKind};
use workspan_trace::wire::Kind;

use crate::writer::{File, dag, installed, lane, strands};

use EndKind as E;
use StartKind as S;

#[test]
fn an_installed_task_goes_on_on_a_worker_and_comes_back() {
    let dag = dag(&File::new(installed(), Some(100)));
    assert_eq!((dag.meta.workers, dag.meta.threads), (2, 3));
    assert_eq!(
        strands(&dag),
        [
            (0, 2, 0, 10, S::Begin, E::Yield),
            (0, 0, 12, 20, S::AfterYield, E::Wait),
            (2, 0, 20, 40, S::Begin, E::End),
            (1, 1, 30, 65, S::Begin, E::End),
            (0, 0, 70, 80, S::AfterWait, E::Yield),
            (0, 2, 90, 100, S::AfterYield, E::End),
        ]
    );
    assert_eq!(
        (
            dag.steals[0].thief,
            dag.steals[0].victim,
            dag.steals[0].task
        ),
        (1, 0, 1)
    );
    assert!(dag.meta.warnings.is_empty(), "{:?}", dag.meta.warnings);
}

#[test]
fn the_order_of_threads_in_the_file_does_not_matter() {
    let expected = strands(&dag(&File::new(installed(), Some(100))));
    // The main thread comes last: its number is 2 now, and the workers have 0 and 1.
    let main = lane(&[
        (0, Kind::Root, &[]),
        (5, Kind::Pool, &[0, 2]),
        (10, Kind::Yield, &[0]),
        (90, Kind::Resume, &[]),
        (95, Kind::PoolEnd, &[0]),
        (100, Kind::End, &[]),
    ]);
    let [_, _, _] = installed();
    let first = lane(&[
        (6, Kind::Worker, &[0, 0]),
        (12, Kind::ResumeYielded, &[2, 0]),
        (20, Kind::Join, &[2]),
        (40, Kind::End, &[]),
        (70, Kind::Resume, &[]),
        (80, Kind::Leave, &[0]),
        (94, Kind::WorkerEnd, &[]),
    ]);
    let thief = lane(&[
        (7, Kind::Worker, &[0, 1]),
        (30, Kind::Begin, &[0, 0]),
        (65, Kind::End, &[]),
        (93, Kind::WorkerEnd, &[]),
    ]);
    let dag = dag(&File::new([first, thief, main], Some(100)));
    assert_eq!(strands(&dag), expected);
}

#[test]
fn chunks_of_any_size_tell_the_same() {
    let whole = dag(&File::new(installed(), Some(100)));
    for pieces in 2..8 {
        let cut = dag(&File {
            pieces,
            ..File::new(installed(), Some(100))
        });
        assert_eq!(strands(&cut), strands(&whole), "{pieces} pieces");
        assert_eq!(cut.meta.warnings, whole.meta.warnings);
    }
}

/// A task waits on one thread, above another waiting task, and both go on elsewhere because the
/// runtime moved the stack.
#[test]
fn tasks_go_on_where_their_stack_went_without_a_record() {
    let main = lane(&[
        (0, Kind::Root, &[]),
        (5, Kind::Create, &[1, 1]),
        (10, Kind::Wait, &[0, 0]),
        // The root's stack comes back: it is not the top of this thread's.
        (90, Kind::ResumeStopped, &[1, 80]),
        (100, Kind::End, &[]),
    ]);
    let one = lane(&[
        (6, Kind::Worker, &[0, 0]),
        (12, Kind::Begin, &[0, 1]),
        (20, Kind::Create, &[1, 2]),
        (25, Kind::Wait, &[0, 0]),
        (30, Kind::Begin, &[1, 0]),
        (35, Kind::Wait, &[0, 3, 1, 7]),
        // An unrelated record.
        (60, Kind::ResumeStopped, &[0, 8]),
        (65, Kind::End, &[]),
    ]);
    let two = lane(&[
        (7, Kind::Worker, &[0, 1]),
        (40, Kind::ResumeStopped, &[0, 7]),
        (45, Kind::End, &[]),
        (50, Kind::ResumeStopped, &[2, 25]),
        (70, Kind::Wait, &[0, 0]),
        (75, Kind::Resume, &[]),
        (80, Kind::End, &[]),
    ]);
    let other = lane(&[
        (1, Kind::Root, &[]),
        (36, Kind::Signal, &[0, 7]),
        (37, Kind::Wait, &[0, 3, 1, 8]),
    ]);
    let lanes = [main, one, two, other];
    let dag_of = |lanes| dag(&File::new(lanes, Some(100)));
    let found = dag_of(lanes);
    let of = |task: u32| -> Vec<_> {
        let all = strands(&found).into_iter();
        all.filter(|s| s.0 == task)
            .map(|s| (s.1, s.2, s.3))
            .collect()
    };
    // The main thread is number 2, the one outside the pool 3. Tasks are in the order of their
    // creation.
    assert_eq!(of(0), [(2, 0, 5), (2, 5, 10), (2, 90, 100)]);
    assert_eq!(of(1), [(3, 1, 36), (3, 36, 37), (0, 60, 65)]);
    assert_eq!(of(2), [(0, 12, 20), (0, 20, 25), (1, 50, 70), (1, 75, 80)]);
    assert_eq!(of(3), [(0, 30, 35), (1, 40, 45)]);
}

#[test]
fn stops_that_nobody_made_come_to_an_end() {
    let a = lane(&[
        (0, Kind::Root, &[]),
        (3, Kind::ResumeStopped, &[2, 1]),
        (5, Kind::ResumeStopped, &[9, 1]),
        (9, Kind::End, &[]),
    ]);
    let b = lane(&[
        (0, Kind::Root, &[]),
        (1, Kind::ResumeStopped, &[0, 5]),
        (2, Kind::Wait, &[0, 0]),
        (9, Kind::Resume, &[]),
        (10, Kind::End, &[]),
    ]);
    let dag = dag(&File::new([a, b], Some(12)));
    let said = |start: &str| dag.meta.warnings.iter().any(|w| w.starts_with(start));
    assert!(said("Tasks that went on before they had stopped elsewhere"));
    assert!(said("Tasks that nobody in the trace created"));
}

#[test]
fn a_circle_of_threads_that_wait_for_each_other_comes_to_an_end() {
    let a = lane(&[
        (0, Kind::Root, &[]),
        (1, Kind::ResumeYielded, &[1, 0]),
        (2, Kind::Yield, &[0]),
        (9, Kind::End, &[]),
    ]);
    let b = lane(&[
        (0, Kind::Root, &[]),
        (1, Kind::ResumeYielded, &[0, 0]),
        (2, Kind::Yield, &[0]),
        (9, Kind::End, &[]),
    ]);
    let dag = dag(&File::new([a, b], Some(9)));
    assert!(
        dag.meta
            .warnings
            .iter()
            .any(|w| w.starts_with("Tasks that went on before they had stopped elsewhere"))
    );
}
