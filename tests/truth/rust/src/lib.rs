//! Functions for all Rust programs of the corpus: using a known amount of CPU time, and printing
//! the truth about the run.

use std::fs::File;
use std::os::unix::fs::FileExt;
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

/// Total CPU time of all calls of [`spin`], in nanoseconds.
static SPUN: AtomicU64 = AtomicU64::new(0);

/// Total time for which the host of a virtual machine took the CPU away during these calls.
static STOLEN: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static STATISTICS: Option<File> = File::open("/proc/thread-self/schedstat").ok();
}

/// How long the calling thread has waited for a CPU; zero if the kernel does not count it.
fn waited() -> Duration {
    let mut text = [0; 128];
    let length = STATISTICS.with(|file| file.as_ref()?.read_at(&mut text, 0).ok());
    let text = std::str::from_utf8(&text[..length.unwrap_or(0)]).unwrap_or_default();
    let waited = text.split_whitespace().nth(1);
    Duration::from_nanos(waited.and_then(|text| text.parse().ok()).unwrap_or(0))
}

/// Uses the CPU for this many microseconds of the calling thread's own CPU time, however busy the
/// machine is. It waits for nothing but a CPU, so time that was neither used nor waited was stolen.
#[inline(never)]
pub fn spin(us: u64) {
    let begin = clock(THREAD);
    let (waited_before, wall, start) = (waited(), clock(MONOTONIC), clock(THREAD));
    let end = begin + Duration::from_micros(us);
    let mut now = start;
    while now < end {
        now = clock(THREAD);
    }
    let elapsed = clock(MONOTONIC) - wall;
    let stolen = elapsed.saturating_sub(now - start + (waited() - waited_before));
    if stolen > Duration::from_micros(20) {
        STOLEN.fetch_add(stolen.as_nanos() as u64, Relaxed);
    }
    SPUN.fetch_add((clock(THREAD) - begin).as_nanos() as u64, Relaxed);
}

/// The number of threads that the harness requests.
pub fn threads() -> u64 {
    let asked = std::env::var("RAYON_NUM_THREADS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(2)
}

/// Prints the truth, for instance `work_us=96000 span_us=3000 tasks=62`, and the CPU time used,
/// which differs from run to run.
pub fn truth(what: &str) {
    println!("truth {what}");
    println!(
        "used cpu_us={} spun_us={} stolen_us={}",
        clock(PROCESS).as_micros(),
        SPUN.load(Relaxed) / 1000,
        STOLEN.load(Relaxed) / 1000
    );
}
