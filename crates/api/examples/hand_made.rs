//! A tiny scheduler that reports its tasks to workspan, call by call.
//!
//!     workspan record -o hand.wspan -- target/debug/examples/hand_made

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use workspan_api::{Label, Pool, Scope, Signal, Task};

static SUM: Label = Label::new("sum");
static ITEMS: Label = Label::new("items");

/// A job for a worker: the task, its input, and where the result goes.
type Job = (Task, u64, std::sync::mpsc::Sender<u64>);

fn serve(jobs: &Mutex<Receiver<Job>>) {
    loop {
        let job = workspan_api::sleep(|| jobs.lock().map(|jobs| jobs.recv()));
        let Ok(Ok((task, upto, result))) = job else {
            return;
        };
        let sum = {
            let _running = task.begin();
            let _region = workspan_api::region(&SUM);
            workspan_api::counter(&ITEMS, upto);
            (0..upto).fold(0u64, |a, b| std::hint::black_box(a ^ b))
        };
        // The task has ended. A task that waits for it goes on when the result arrives.
        let _ = result.send(sum);
    }
}

fn main() {
    let _all = workspan_api::part("all");
    let pool = Arc::new(Pool::new(2));
    let (send, receive) = channel::<Job>();
    let jobs = Arc::new(Mutex::new(receive));
    let workers: Vec<_> = (0..2)
        .map(|index| {
            let (pool, jobs) = (Arc::clone(&pool), Arc::clone(&jobs));
            thread::spawn(move || {
                let _worker = pool.worker(index);
                serve(&jobs);
            })
        })
        .collect();

    let scope = Scope::group();
    let (answer, answers) = channel();
    for i in 0..50 {
        let job = (scope.create(), 1000 * i, answer.clone());
        assert!(send.send(job).is_ok());
    }
    let sum: u64 = scope.wait(|| answers.iter().take(50).sum());

    // A task that stops on one thread and goes on on another, where it sets a signal.
    let signal = Signal::new();
    let first = Task::create_inline();
    let stopped = first.begin().leave();
    let (done, finished) = channel();
    let mover = thread::spawn(move || {
        let _running = stopped.resume();
        signal.set();
        let _ = done.send(());
    });
    let _ = workspan_api::wait_signals(&[signal], || finished.recv());
    assert!(mover.join().is_ok());
    let second = Task::create();
    second.depends_on(first);
    drop(second.begin());
    workspan_api::wait_tasks(&[first, second], || ());
    workspan_api::wait_children(|| ());
    workspan_api::yield_while(|| ());

    drop(send);
    for worker in workers {
        assert!(worker.join().is_ok());
    }
    println!("{sum} {}", workspan_api::is_recorded());
}
