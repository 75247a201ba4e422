//! The table of functions that front ends get.

use core::slice;

use crate::abi::{Handle, Table};
use crate::budget::Settings;
use crate::calls;
use crate::clock;
use crate::emergency_heap;
use crate::intern;
use crate::process;
use crate::thread;
use crate::wire::Kind;
use core::sync::atomic::Ordering;
use workspan_trace::entry::SitePosition;

/// The table, version 1.
pub static TABLE: Table = Table {
    version: 1,
    size: size_of::<Table>() as u32,
    thread: thread::handle,
    refill: thread::refill,
    now,
    site_location,
    site_stack,
    label,
    note,
    pool,
    site_address,
    site_label,
    record,
    root: calls::root,
    task_create: calls::task_create,
    task_begin: calls::task_begin,
    task_end: calls::task_end,
    scope_open: calls::scope_open,
    wait_children: calls::wait_children,
    wait_scope: calls::wait_scope,
    wait_tasks: calls::wait_tasks,
    wait_signals: calls::wait_signals,
    resume: calls::resume,
    yield_task: calls::yield_task,
    leave_task: calls::leave_task,
    resume_yielded: calls::resume_yielded,
    depend: calls::depend,
    signal_new: calls::signal_new,
    signal_set: calls::signal_set,
    region_begin: calls::region_begin,
    region_end: calls::region_end,
    part_begin: calls::part_begin,
    part_end: calls::part_end,
    counter: calls::counter,
    steal: calls::steal,
    steal_failed: calls::steal_failed,
    sleep: calls::sleep,
    wake: calls::wake,
    thread_number: calls::thread_number,
    pool_begin: calls::pool_begin,
    pool_end: calls::pool_end,
    worker_begin: calls::worker_begin,
    worker_end: calls::worker_end,
    budget,
    long_strand: thread::long_strand,
    starts_workers: thread::starts_workers,
    keep: crate::kept_parts::keep,
};

/// Whether names are interned, which is the case while the process records and has memory.
fn names_are_kept() -> bool {
    process::is_on() && !emergency_heap::is_touched()
}

extern "C" fn now() -> u64 {
    clock::now()
}

/// A text from a front end.
///
/// # Safety
/// `at` must hold `length` bytes, or be null.
unsafe fn text(at: *const u8, length: usize) -> String {
    if at.is_null() || length > 1 << 16 {
        return String::new();
    }
    // SAFETY: the caller guarantees that many bytes.
    String::from_utf8_lossy(unsafe { slice::from_raw_parts(at, length) }).into_owned()
}

extern "C" fn site_location(
    file: *const u8,
    length: usize,
    line: u32,
    column: u32,
    primitive: u8,
) -> u32 {
    if !names_are_kept() {
        return 0;
    }
    // SAFETY: abi.rs requires a text of that length.
    let file = unsafe { text(file, length) };
    intern::site(primitive, SitePosition::Location { file, line, column })
}

extern "C" fn site_stack(
    addresses: *const usize,
    count: usize,
    primitive: u8,
    file: *const u8,
    length: usize,
    line: u32,
) -> u32 {
    if !names_are_kept() {
        return 0;
    }
    let count = if addresses.is_null() {
        0
    } else {
        count.min(1024)
    };
    let addresses = if count == 0 {
        Vec::new()
    } else {
        // SAFETY: abi.rs requires that many addresses.
        unsafe { slice::from_raw_parts(addresses, count) }
            .iter()
            .map(|&a| a as u64)
            .collect()
    };
    // SAFETY: abi.rs requires a text of that length.
    let file = unsafe { text(file, length) };
    intern::site(
        primitive,
        SitePosition::Stack {
            addresses,
            file,
            line,
        },
    )
}

extern "C" fn site_address(address: usize, primitive: u8, is_return: u8) -> u32 {
    if !names_are_kept() {
        return 0;
    }
    intern::site(
        primitive,
        SitePosition::Address {
            address: address as u64,
            is_return: is_return != 0,
        },
    )
}

extern "C" fn site_label(at: *const u8, length: usize, primitive: u8) -> u32 {
    if !names_are_kept() {
        return 0;
    }
    // SAFETY: abi.rs requires a text of that length.
    intern::site(primitive, SitePosition::Label(unsafe { text(at, length) }))
}

extern "C" fn label(at: *const u8, length: usize) -> u32 {
    if !names_are_kept() {
        return 0;
    }
    // SAFETY: abi.rs requires a text of that length.
    intern::label(unsafe { text(at, length) })
}

extern "C" fn note(key: *const u8, key_length: usize, value: *const u8, value_length: usize) {
    if names_are_kept() {
        // SAFETY: abi.rs requires texts of those lengths.
        unsafe { intern::note(text(key, key_length), text(value, value_length)) }
    }
}

extern "C" fn pool() -> u32 {
    process::recording().map_or(0, |r| r.pools.fetch_add(1, Ordering::Relaxed))
}

unsafe extern "C" fn budget(settings: *mut Settings) {
    if !settings.is_null() {
        // SAFETY: abi.rs requires a place to write to.
        unsafe { settings.write(process::settings()) }
    }
}

unsafe extern "C" fn record(
    handle: *mut Handle,
    kind: u8,
    now: u64,
    operands: *const u8,
    length: usize,
) {
    let Some(kind) = Kind::from_code(kind) else {
        return;
    };
    if !handle.is_null() {
        // SAFETY: abi.rs requires the calling thread's handle and operands of that length.
        unsafe { thread::long_record(handle, kind, now, operands, length) }
    }
}
