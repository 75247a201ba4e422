//! A thread that the program starts may wait for a CPU before it begins. The trace has this as an
//! off-CPU time that ends with the thread's first record.

use crate::writer::{File, dag, lane};
use workspan_reader::text;
use workspan_trace::wire::{Kind, primitive};

/// The main thread starts two threads, at 10 and at 15. One runs from 20 to 60. The other waits for
/// its CPU meanwhile, and runs from 72 to 100.
fn run() -> File {
    let main = lane(&[
        (0, Kind::Root, &[]),
        (10, Kind::Create, &[3, 1]),
        (15, Kind::Create, &[3, 2]),
        (110, Kind::End, &[]),
    ]);
    let first = lane(&[(20, Kind::Begin, &[0, 1]), (60, Kind::End, &[])]);
    let second = lane(&[(72, Kind::Begin, &[0, 2]), (100, Kind::End, &[])]);
    let mut file = File::new([main, first, second], Some(120));
    file.primitive = primitive::THREAD;
    file.off_cpu = vec![
        lane(&[]),
        // Preempted in the task.
        lane(&[(50, Kind::Off, &[0, 10])]),
        lane(&[
            (70, Kind::Off, &[0, 52]),
            (90, Kind::Off, &[0, 5]),
            (120, Kind::Off, &[0, 15]),
        ]),
    ];
    file
}

#[test]
fn what_a_new_thread_waited_is_kept_with_its_task() {
    let file = run();
    let dag = dag(&file);
    let waits: Vec<u64> = (0..3).map(|task| dag.start_wait(task)).collect();
    assert_eq!(waits, [0, 0, 52]);
    let mut written = Vec::new();
    text::write(&dag, &mut written).unwrap();
    let again = text::read(&written).unwrap();
    assert_eq!(again.start_waits, dag.start_waits);
    // A task that is not a thread began where its thread was.
    let file = File {
        primitive: primitive::TASK,
        ..run()
    };
    assert!(crate::writer::dag(&file).start_waits.is_empty());
}
