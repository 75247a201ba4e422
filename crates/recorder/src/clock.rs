//! The clock: the CPU's time-stamp counter if it runs at one rate on all CPUs, otherwise
//! `CLOCK_MONOTONIC_RAW`.

use core::sync::atomic::{AtomicBool, Ordering};

use crate::system::{self, Timespec};

/// Set once, before the first thread records.
static TSC: AtomicBool = AtomicBool::new(false);

/// Ticks and nanoseconds at the same moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) ticks: u64,
    pub(crate) ns: u64,
}

/// Chooses the clock.
pub(crate) fn choose() {
    system::find_clock();
    TSC.store(
        invariant_tsc() && !kernel_distrusts_tsc(),
        Ordering::Relaxed,
    );
}

/// Whether ticks are those of the time-stamp counter.
pub(crate) fn is_tsc() -> bool {
    TSC.load(Ordering::Relaxed)
}

/// The clock, in ticks.
pub(crate) fn now() -> u64 {
    #[cfg(target_arch = "x86_64")]
    if is_tsc() {
        // SAFETY: every x86-64 CPU has rdtsc.
        return unsafe { core::arch::x86_64::_rdtsc() };
    }
    raw_ns(system::CLOCK_MONOTONIC_RAW)
}

/// A kernel clock in nanoseconds.
pub(crate) fn raw_ns(clock: core::ffi::c_int) -> u64 {
    let mut t = Timespec {
        seconds: 0,
        nanoseconds: 0,
    };
    // SAFETY: `t` is a timespec to write to.
    unsafe { system::clock_gettime(clock, &mut t) };
    (t.seconds as u64)
        .wrapping_mul(1_000_000_000)
        .wrapping_add(t.nanoseconds as u64)
}

/// `CLOCK_MONOTONIC_RAW` now, in nanoseconds, as in traces.
pub fn monotonic_raw_ns() -> u64 {
    system::monotonic_raw_ns()
}

/// Ticks and nanoseconds at the same moment: of `tries` attempts, the one whose two readings of the
/// ticks are closest.
pub(crate) fn pair(tries: u32) -> Pair {
    let mut best = (u64::MAX, Pair { ticks: 0, ns: 0 });
    for _ in 0..tries.max(1) {
        let before = now();
        // A library that the program preloads may replace the C library's clocks.
        let ns = system::monotonic_raw_ns();
        let after = now();
        let width = after.saturating_sub(before);
        if width < best.0 {
            best = (
                width,
                Pair {
                    ticks: before + width / 2,
                    ns,
                },
            );
        }
    }
    best.1
}

#[cfg(target_arch = "x86_64")]
fn invariant_tsc() -> bool {
    use core::arch::x86_64::__cpuid;
    // `__cpuid` is a safe function on some compilers and an unsafe one on others.
    #[allow(unused_unsafe, reason = "unsafe before Rust 1.94")]
    // SAFETY: every x86-64 CPU has cpuid.
    unsafe {
        __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx & 1 << 8 != 0
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn invariant_tsc() -> bool {
    false
}

/// Whether the kernel uses another clock. It falls back to a slow one if the CPUs' counters differ.
fn kernel_distrusts_tsc() -> bool {
    let source = std::fs::read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    source.is_ok_and(|s| {
        [&b"hpet"[..], b"acpi_pm", b"jiffies", b"refined-jiffies"].contains(&s.trim_ascii())
    })
}
