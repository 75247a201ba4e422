//! The cost of recording an unstolen join (four records, three clock reads) into fresh chunks of a
//! real file.
//!
//!     cargo run --release -p workspan-recorder --example cost [JOINS] [FOLDER]
//!
//! Prints ns per join beside ns of three clock reads (the minimum of several batches, and the
//! mean), and bytes per task.

use std::path::PathBuf;
use std::time::Instant;

use workspan_recorder::TABLE;
use workspan_recorder::abi::Handle;
use workspan_recorder::wire::Kind;

const BATCH: u32 = 1000;

/// An unstolen join of two empty tasks.
///
/// # Safety
/// `h` is the calling thread's handle.
#[inline(never)]
unsafe fn join(h: *mut Handle) {
    // SAFETY: `h` is the calling thread's handle, as the caller guarantees.
    unsafe {
        (*h).next_task += 2;
        Handle::event_with(h, Kind::Join, [1]);
        let ended = Handle::event(h, Kind::End);
        let p = Handle::head(h, Kind::Next, ended);
        Handle::commit(h, p);
        Handle::event(h, Kind::EndResume);
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let joins: u32 = arguments
        .next()
        .and_then(|a| a.parse().ok())
        .unwrap_or(5_000_000);
    let folder = arguments
        .next()
        .map_or_else(std::env::temp_dir, PathBuf::from);
    if !workspan_recorder::start(
        &folder,
        "cost",
        &[],
        workspan_recorder::OffCpuTimes::Elsewhere,
        &[],
    ) {
        eprintln!("{}: no spool file can be made there", folder.display());
        std::process::exit(1);
    }
    let h = (TABLE.thread)();
    let (mut least, mut least_clock, mut clock) = (u128::MAX, u128::MAX, 0);
    let begin = Instant::now();
    for _ in 0..joins / BATCH {
        let before = Instant::now();
        for _ in 0..BATCH {
            // SAFETY: the calling thread's handle.
            unsafe { join(h) };
        }
        least = least.min(before.elapsed().as_nanos());
    }
    let all = begin.elapsed().as_nanos();
    for _ in 0..1000 {
        let before = Instant::now();
        for _ in 0..3 * BATCH {
            // SAFETY: the calling thread's handle.
            std::hint::black_box(unsafe { Handle::now(h) });
        }
        let took = before.elapsed().as_nanos();
        least_clock = least_clock.min(took);
        clock += took;
    }
    workspan_recorder::finish();
    let pid = std::process::id();
    let spool = folder.join(format!("cost.{pid}.0.spool"));
    let size = std::fs::metadata(&spool).map_or(0, |m| m.len());
    let ns = |nanoseconds: u128, count: u32| nanoseconds as f64 / f64::from(count);
    println!(
        "join: least {:.1} ns, mean {:.1} ns",
        ns(least, BATCH),
        ns(all, joins)
    );
    println!(
        "three clock reads: least {:.1} ns, mean {:.1} ns",
        ns(least_clock, BATCH),
        ns(clock, 1000 * BATCH)
    );
    println!("{:.1} bytes a task", size as f64 / (2.0 * f64::from(joins)));
    println!("{}", spool.display());
}
