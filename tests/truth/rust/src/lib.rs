//! What every Rust program of the corpus uses: CPU time of a known amount, and the line that says what is true of the run.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

unsafe extern "C" {
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
    fn getrusage(who: i32, used: *mut [i64; 18]) -> i32;
}

const MONOTONIC: i32 = 1;
const PROCESS: i32 = 2;
const THREAD: i32 = 3;

fn clock(which: i32) -> Duration {
    let mut time = Timespec {
        seconds: 0,
        nanoseconds: 0,
    };
    // SAFETY: the C library's function, with a pointer to the structure it fills.
    assert_eq!(unsafe { clock_gettime(which, &mut time) }, 0);
    Duration::new(time.seconds as u64, time.nanoseconds as u32)
}

/// What all calls of [`spin`] took together, in nanoseconds of CPU time.
static SPUN: AtomicU64 = AtomicU64::new(0);

/// For how long a hypervisor took the CPU away meanwhile, which neither the kernel's records of the thread nor its CPU time show.
static STOLEN: AtomicU64 = AtomicU64::new(0);

/// How often the calling thread has left its CPU.
fn switches() -> i64 {
    const THIS_THREAD: i32 = 1;
    // `struct rusage`: two times of two numbers each, and fourteen counts, of which the last two are switches.
    let mut used = [0; 18];
    // SAFETY: the C library's function, with a pointer to the structure it fills.
    assert_eq!(unsafe { getrusage(THIS_THREAD, &mut used) }, 0);
    used[16] + used[17]
}

/// Uses the CPU for this many microseconds of the calling thread's own CPU time, however busy the machine is.
#[inline(never)]
pub fn spin(us: u64) {
    let mut left = switches();
    let (mut wall, start) = (clock(MONOTONIC), clock(THREAD));
    let end = start + Duration::from_micros(us);
    let mut now = start;
    while now < end {
        let (wall_before, before) = (wall, now);
        (wall, now) = (clock(MONOTONIC), clock(THREAD));
        let lost = (wall - wall_before).saturating_sub(now - before);
        if lost > Duration::from_micros(50) {
            // Time is gone that the thread did not use: stolen, if it has not left the CPU.
            let left_before = std::mem::replace(&mut left, switches());
            if left == left_before {
                STOLEN.fetch_add(lost.as_nanos() as u64, Relaxed);
            }
        }
    }
    SPUN.fetch_add((now - start).as_nanos() as u64, Relaxed);
}

/// The number of threads that the harness asked for.
pub fn threads() -> u64 {
    let asked = std::env::var("RAYON_NUM_THREADS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(2)
}

/// Prints the truth: `work_us=96000 span_us=3000 tasks=62`; and what was used, which differs from run to run.
pub fn truth(what: &str) {
    println!("truth {what}");
    println!(
        "used cpu_us={} spun_us={} stolen_us={}",
        clock(PROCESS).as_micros(),
        SPUN.load(Relaxed) / 1000,
        STOLEN.load(Relaxed) / 1000
    );
}
