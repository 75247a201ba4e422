//! Loops and sections that a team shares. Each chunk, or section, that a thread gets is an inline
//! task of the loop's site. These tasks are in a group scope of the implicit task, which waits for
//! them when the thread leaves the loop. So chunks are logically parallel even on one thread.
//!
//! Most loops begin with `..._start`, whose return address is the loop's site. In a combined
//! construct (`parallel for`) the outlined function's first call is `..._next`, and the site is
//! that function.

use workspan_recorder::adapter::LiveHandle;
use workspan_recorder::wire::{create, primitive};

use super::entry_points::{Call, entries};
use super::next_symbol::Entry;
use super::task_frame::{self, ImplicitTask};
use super::{barrier, lock};
use crate::site_cache;

/// Forms of `..._start` entries: a loop or sections.
const LOOP: u8 = 0xff;
const SECTIONS: u8 = 0xfe;
/// Other forms: the index of the argument that is null if no chunk is requested, because the
/// compiler divides the loop by itself.
const IF_FIFTH: u8 = 4;
const IF_SIXTH: u8 = 5;
const IF_SEVENTH: u8 = 6;
/// A form of `..._next` entries: the call may wait for its turn.
const ORDERED: u8 = 1;
/// Forms of `..._end` entries: with a barrier (or [`barrier::CANCEL`]), or without.
const BARRIER: u8 = 0;
const NO_WAIT: u8 = 1;

entries! { starts, start:
    GOMP_loop_static_start = LOOP,
    GOMP_loop_dynamic_start = LOOP,
    GOMP_loop_guided_start = LOOP,
    GOMP_loop_runtime_start = LOOP,
    GOMP_loop_nonmonotonic_dynamic_start = LOOP,
    GOMP_loop_nonmonotonic_guided_start = LOOP,
    GOMP_loop_nonmonotonic_runtime_start = LOOP,
    GOMP_loop_maybe_nonmonotonic_runtime_start = LOOP,
    GOMP_loop_ordered_static_start = LOOP,
    GOMP_loop_ordered_dynamic_start = LOOP,
    GOMP_loop_ordered_guided_start = LOOP,
    GOMP_loop_ordered_runtime_start = LOOP,
    GOMP_loop_doacross_static_start = LOOP,
    GOMP_loop_doacross_dynamic_start = LOOP,
    GOMP_loop_doacross_guided_start = LOOP,
    GOMP_loop_doacross_runtime_start = LOOP,
    GOMP_loop_ull_static_start = LOOP,
    GOMP_loop_ull_dynamic_start = LOOP,
    GOMP_loop_ull_guided_start = LOOP,
    GOMP_loop_ull_runtime_start = LOOP,
    GOMP_loop_ull_nonmonotonic_dynamic_start = LOOP,
    GOMP_loop_ull_nonmonotonic_guided_start = LOOP,
    GOMP_loop_ull_nonmonotonic_runtime_start = LOOP,
    GOMP_loop_ull_maybe_nonmonotonic_runtime_start = LOOP,
    GOMP_loop_ull_ordered_static_start = LOOP,
    GOMP_loop_ull_ordered_dynamic_start = LOOP,
    GOMP_loop_ull_ordered_guided_start = LOOP,
    GOMP_loop_ull_ordered_runtime_start = LOOP,
    GOMP_loop_ull_doacross_static_start = LOOP,
    GOMP_loop_ull_doacross_dynamic_start = LOOP,
    GOMP_loop_ull_doacross_guided_start = LOOP,
    GOMP_loop_ull_doacross_runtime_start = LOOP,
    GOMP_loop_start = IF_SIXTH,
    GOMP_loop_ordered_start = IF_SIXTH,
    GOMP_loop_doacross_start = IF_FIFTH,
    GOMP_loop_ull_start = IF_SEVENTH,
    GOMP_loop_ull_ordered_start = IF_SEVENTH,
    GOMP_loop_ull_doacross_start = IF_FIFTH,
    GOMP_sections_start = SECTIONS,
    GOMP_sections2_start = SECTIONS,
}

entries! { nexts, next:
    GOMP_loop_static_next = 0,
    GOMP_loop_dynamic_next = 0,
    GOMP_loop_guided_next = 0,
    GOMP_loop_runtime_next = 0,
    GOMP_loop_nonmonotonic_dynamic_next = 0,
    GOMP_loop_nonmonotonic_guided_next = 0,
    GOMP_loop_nonmonotonic_runtime_next = 0,
    GOMP_loop_maybe_nonmonotonic_runtime_next = 0,
    GOMP_loop_ordered_static_next = ORDERED,
    GOMP_loop_ordered_dynamic_next = ORDERED,
    GOMP_loop_ordered_guided_next = ORDERED,
    GOMP_loop_ordered_runtime_next = ORDERED,
    GOMP_loop_ull_static_next = 0,
    GOMP_loop_ull_dynamic_next = 0,
    GOMP_loop_ull_guided_next = 0,
    GOMP_loop_ull_runtime_next = 0,
    GOMP_loop_ull_nonmonotonic_dynamic_next = 0,
    GOMP_loop_ull_nonmonotonic_guided_next = 0,
    GOMP_loop_ull_nonmonotonic_runtime_next = 0,
    GOMP_loop_ull_maybe_nonmonotonic_runtime_next = 0,
    GOMP_loop_ull_ordered_static_next = ORDERED,
    GOMP_loop_ull_ordered_dynamic_next = ORDERED,
    GOMP_loop_ull_ordered_guided_next = ORDERED,
    GOMP_loop_ull_ordered_runtime_next = ORDERED,
    GOMP_sections_next = SECTIONS,
}

entries! { ends, end:
    GOMP_loop_end = BARRIER,
    GOMP_loop_end_cancel = barrier::CANCEL,
    GOMP_loop_end_nowait = NO_WAIT,
    GOMP_sections_end = BARRIER,
    GOMP_sections_end_cancel = barrier::CANCEL,
    GOMP_sections_end_nowait = NO_WAIT,
}

/// Whether an entry point returned a chunk. The result is a `bool`, which is one byte, or the
/// number of a section, from 1.
fn got_one(result: usize, form: u8) -> bool {
    if form == SECTIONS {
        result as u32 != 0
    } else {
        result as u8 != 0
    }
}

fn primitive_of(form: u8) -> u8 {
    if form == SECTIONS {
        primitive::SECTION
    } else {
        primitive::LOOP
    }
}

unsafe extern "C-unwind" fn start(call: &mut Call, entry: &Entry) -> usize {
    let implicit = task_frame::current_implicit_task();
    // SAFETY: the arguments are the entry point's; the implicit task lies in a frame below on this
    // thread; only this call uses the handle.
    unsafe {
        let asks = match entry.form {
            LOOP | SECTIONS => true,
            IF_SEVENTH => call.seventh() != 0,
            i => call.argument(usize::from(i)) != 0,
        };
        let Some(h) = LiveHandle::current().filter(|_| !implicit.is_null() && asks) else {
            return call.forward(entry.next_symbol());
        };
        let implicit = &mut *implicit;
        close(h, implicit);
        open(
            h,
            implicit,
            site_cache::at(call.return_address(), primitive_of(entry.form), true),
        );
        let result = call.forward(entry.next_symbol());
        if got_one(result, entry.form) {
            begin(h, implicit);
        }
        result
    }
}

unsafe extern "C-unwind" fn next(call: &mut Call, entry: &Entry) -> usize {
    let implicit = task_frame::current_implicit_task();
    // SAFETY: as in `start`.
    unsafe {
        let Some(h) = LiveHandle::current().filter(|_| !implicit.is_null()) else {
            return call.forward(entry.next_symbol());
        };
        let implicit = &mut *implicit;
        end_chunk(h, implicit);
        if implicit.scope == 0 {
            let function = (*task_frame::current()).function;
            open(
                h,
                implicit,
                site_cache::at(function, primitive_of(entry.form), false),
            );
        }
        let result = if entry.form == ORDERED {
            lock::wait(h, || call.forward(entry.next_symbol()))
        } else {
            call.forward(entry.next_symbol())
        };
        if got_one(result, entry.form) {
            begin(h, implicit);
        }
        result
    }
}

unsafe extern "C-unwind" fn end(call: &mut Call, entry: &Entry) -> usize {
    let implicit = task_frame::current_implicit_task();
    // SAFETY: as in `start`.
    unsafe {
        let Some(h) = LiveHandle::current().filter(|_| !implicit.is_null()) else {
            return call.forward(entry.next_symbol());
        };
        close(h, &mut *implicit);
        if entry.form == NO_WAIT {
            call.forward(entry.next_symbol())
        } else {
            barrier::pass(h, call, entry)
        }
    }
}

fn open(h: LiveHandle, implicit: &mut ImplicitTask, site: u32) {
    implicit.scope = h.scope_open(false);
    implicit.chunk_site = site;
}

fn begin(h: LiveHandle, implicit: &mut ImplicitTask) {
    let task = h.task_create(create::INLINE, implicit.chunk_site, implicit.scope);
    h.task_begin(task);
    implicit.in_chunk = true;
}

fn end_chunk(h: LiveHandle, implicit: &mut ImplicitTask) {
    if implicit.in_chunk {
        implicit.in_chunk = false;
        h.task_end();
    }
}

/// The thread leaves its current loop, if it is in one. A thread leaves a cancelled loop from
/// inside a chunk.
pub(super) fn close(h: LiveHandle, implicit: &mut ImplicitTask) {
    end_chunk(h, implicit);
    if implicit.scope != 0 {
        h.wait_scope(implicit.chunk_site, implicit.scope);
        h.resume();
        implicit.scope = 0;
    }
}
