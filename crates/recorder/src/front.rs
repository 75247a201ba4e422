//! The contract between the recorder (in the preloaded library) and its front ends (the Rayon stand-in, the Rust API,
//! `workspan.h`): one versioned table of functions, and the per-thread [`Handle`] that front ends write through.
//!
//! This file is compiled into every front end as it stands; it uses `core` alone, and `crate::wire`.
//!
//! A front end asks once for `workspan_table_v1` with `dlsym` on the global scope. Null, or no such symbol: nobody
//! records. With the table it gets the calling thread's handle ([`Table::thread`]), keeps it in a thread-local of its
//! own, and writes records with [`Handle::head`] and friends: a bounds test, a clock read, a few stores.

use crate::wire::{self, Kind};
use core::sync::atomic::{AtomicU64, Ordering};

/// Name of the exported function `extern "C" fn() -> *const Table` of this version.
pub const TABLE_SYMBOL: &core::ffi::CStr = c"workspan_table_v1";

/// [`Handle::flags`]: times are the CPU's time-stamp counter, read in place; else [`Table::now`] is called.
pub const CLOCK_TSC: u32 = 1;
/// [`Handle::flags`]: a root task has begun on this thread.
pub const HAS_ROOT: u32 = 2;
/// [`Handle::flags`]: this thread is a pool's worker (set by the front end together with [`Kind::Worker`]).
pub const IS_WORKER: u32 = 4;

/// What marks the last entry of a call stack ([`Table::site_stack`]) as the calling task's site: no code lies there.
pub const INHERITED: usize = 0xffff_ffff_0000_0000_u64 as usize;

/// A thread's place in its current chunk. Only its own thread touches it.
#[repr(C)]
pub struct Handle {
    /// Where the next record goes.
    pub cursor: *mut u8,
    /// Beyond this, [`Table::refill`] first: at least [`wire::SLACK`] bytes are left after it.
    pub limit: *mut u8,
    /// First byte of the chunk's payload.
    pub base: *mut u8,
    /// In the chunk's header: bytes of whole records. A reader of a killed process's trace trusts these.
    pub committed: *const AtomicU64,
    /// Time of the last record, in ticks.
    pub last: u64,
    /// Count of tasks this thread created: the next one's seq.
    pub next_task: u64,
    /// Count of scopes it opened.
    pub next_scope: u64,
    /// Count of its yields.
    pub next_yield: u64,
    /// Its number in the trace.
    pub thread: u32,
    /// `CLOCK_TSC`, `HAS_ROOT`, `IS_WORKER`.
    pub flags: u32,
    /// The table, for refill and clock.
    pub table: *const Table,
    /// The recorder's own.
    pub owner: *mut core::ffi::c_void,
}

/// The recorder's functions, version 1. New ones are only ever appended; [`Table::size`] tells how far it goes.
/// All may be called from any thread; none unwinds.
#[repr(C)]
pub struct Table {
    /// 1.
    pub version: u32,
    /// Size of this struct in bytes as the recorder knows it.
    pub size: u32,
    /// The calling thread's handle, made on first use; null when recording is off for this thread (out of memory, a forked child, shutdown).
    pub thread: extern "C" fn() -> *mut Handle,
    /// Seals the handle's chunk and gives it a new one. Never fails: when there is no room left, the handle points to
    /// scratch memory, and what is written there is counted as dropped.
    pub refill: extern "C" fn(*mut Handle),
    /// The clock, in ticks.
    pub now: extern "C" fn() -> u64,
    /// Interns a source position as a site: file (UTF-8, not ended by 0), its length, line, column, primitive code.
    pub site_location: extern "C" fn(*const u8, usize, u32, u32, u8) -> u32,
    /// Interns a call stack as a site: return addresses, innermost first, their number, primitive code, and the file, length and
    /// line of the library's own call, for when no frame is the user's. A last address from [`INHERITED`] up is none: its
    /// low 32 bits are the site of the task that made the call, to be used instead when no frame is the user's.
    pub site_stack: extern "C" fn(*const usize, usize, u8, *const u8, usize, u32) -> u32,
    /// Interns a text (a region's name, a counter's, a site's label).
    pub label: extern "C" fn(*const u8, usize) -> u32,
    /// A fact about the run: key and value (`runtime` = `Rayon 1.13.0`); the first one told of a key stays.
    pub note: extern "C" fn(*const u8, usize, *const u8, usize),
    /// The number of a new pool.
    pub pool: extern "C" fn() -> u32,
    /// Interns a code address as a site: address, primitive code, 1 if it is a return address (0: a function's own).
    pub site_address: extern "C" fn(usize, u8, u8) -> u32,
}

impl Handle {
    /// The clock, in ticks.
    ///
    /// # Safety
    /// `h` must be the calling thread's live handle.
    #[inline(always)]
    pub unsafe fn now(h: *mut Handle) -> u64 {
        // SAFETY: the caller's handle is live, and so is its table.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            if (*h).flags & CLOCK_TSC != 0 {
                return core::arch::x86_64::_rdtsc();
            }
            ((*(*h).table).now)()
        }
    }

    /// Starts a record at time `now` and returns where its operands go; finish it with [`Handle::commit`]. A clock that
    /// went backwards counts as standing still.
    ///
    /// # Safety
    /// `h` must be the calling thread's live handle; operands must stay below [`wire::SLACK`] − 8 bytes.
    #[inline(always)]
    pub unsafe fn head(h: *mut Handle, kind: Kind, now: u64) -> *mut u8 {
        // SAFETY: the handle is this thread's; after the refill there are SLACK bytes from the cursor.
        unsafe {
            if (*h).cursor > (*h).limit {
                ((*(*h).table).refill)(h);
            }
            let last = (*h).last;
            let now = if now > last { now } else { last };
            (*h).last = now;
            wire::put_head((*h).cursor, kind, now - last)
        }
    }

    /// Ends a record at `end`: from now on a reader sees it.
    ///
    /// # Safety
    /// `h` as in [`Handle::head`], `end` what the last put returned.
    #[inline(always)]
    pub unsafe fn commit(h: *mut Handle, end: *mut u8) {
        // SAFETY: `committed` points into the chunk's header for as long as the handle has the chunk.
        unsafe {
            (*h).cursor = end;
            let length = end as usize - (*h).base as usize;
            (*(*h).committed).store(length as u64, Ordering::Release);
        }
    }

    /// A record without operands, now; returns its time.
    ///
    /// # Safety
    /// As [`Handle::head`].
    #[inline(always)]
    pub unsafe fn event(h: *mut Handle, kind: Kind) -> u64 {
        // SAFETY: passed on.
        unsafe {
            let now = Self::now(h);
            let p = Self::head(h, kind, now);
            Self::commit(h, p);
            now
        }
    }

    /// A record with operands, now; returns its time.
    ///
    /// # Safety
    /// As [`Handle::head`]; at most 5 operands below 2^56.
    #[inline(always)]
    pub unsafe fn event_with<const N: usize>(h: *mut Handle, kind: Kind, operands: [u64; N]) -> u64 {
        // SAFETY: passed on.
        unsafe {
            let now = Self::now(h);
            let mut p = Self::head(h, kind, now);
            for v in operands {
                p = wire::put_varint(p, v);
            }
            Self::commit(h, p);
            now
        }
    }
}
