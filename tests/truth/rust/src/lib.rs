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
}

const PROCESS: i32 = 2;
const THREAD: i32 = 3;

fn cpu_time(clock: i32) -> Duration {
    let mut time = Timespec {
        seconds: 0,
        nanoseconds: 0,
    };
    // SAFETY: the C library's function, with a pointer to the structure it fills.
    assert_eq!(unsafe { clock_gettime(clock, &mut time) }, 0);
    Duration::new(time.seconds as u64, time.nanoseconds as u32)
}

/// What all calls of [`spin`] took together, in nanoseconds of CPU time.
static SPUN: AtomicU64 = AtomicU64::new(0);

/// Uses the CPU for this many microseconds of the calling thread's own CPU time, however busy the machine is.
#[inline(never)]
pub fn spin(us: u64) {
    let start = cpu_time(THREAD);
    let end = start + Duration::from_micros(us);
    let mut now = start;
    while now < end {
        now = cpu_time(THREAD);
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
        "used cpu_us={} spun_us={}",
        cpu_time(PROCESS).as_micros(),
        SPUN.load(Relaxed) / 1000
    );
}
