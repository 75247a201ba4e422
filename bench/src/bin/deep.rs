//! A task waits for a child that another worker has taken, while the child creates all of the work.
//! A worker that, in a wait, runs nothing or only its own children is lost until the child has
//! ended (Huynh's thesis, 2017: waiting without stealing at depth). `deep [STEPS] [LEAVES]
//! [ROUNDS]`.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use workspan_bench::command::{Arguments, finish, timed};
use workspan_bench::numbers::chain;

struct Step {
    leaves: usize,
    rounds: usize,
    taken: AtomicBool,
    sum: AtomicU64,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse("deep [STEPS=20] [LEAVES=100] [ROUNDS=20000]");
    let steps = arguments.number(0, 20);
    let run = || {
        let step = Step {
            leaves: arguments.number(1, 100),
            rounds: arguments.number(2, 20_000),
            taken: AtomicBool::new(false),
            sum: AtomicU64::new(0),
        };
        parent(&step);
        step.sum.into_inner()
    };
    let all = || (0..steps).fold(0u64, |sum, _| sum.wrapping_add(run()));
    let sum = timed(&arguments, || rayon::scope(|_| all()));
    finish(&format!("waited {steps} times, sum {sum}"), true)
}

fn parent(step: &Step) {
    rayon::scope(|scope| {
        scope.spawn(|_| child(step));
        // Waits for another worker to take it, but not forever: there may be no other.
        let mut waited = 0;
        for _ in 0..1_000 {
            if step.taken.load(Ordering::Relaxed) {
                break;
            }
            waited = std::hint::black_box(chain(waited, 200));
        }
    });
}

fn child(step: &Step) {
    step.taken.store(true, Ordering::Relaxed);
    rayon::scope(|scope| {
        for i in 0..step.leaves {
            scope.spawn(move |_| {
                step.sum
                    .fetch_add(chain(i as u64, step.rounds), Ordering::Relaxed);
            });
        }
    });
}
