//! `taskloop`. Only the clauses decide into how many tasks libgomp divides a loop and which
//! iterations each gets. So all tasks are created before the call, one after the other, and each
//! finds its number from its bounds. From then on the parent waits, in the group that libgomp opens
//! inside the call, unless there is `nogroup`.

use core::ptr;

use workspan_recorder::adapter::LiveHandle;
use workspan_recorder::wire::{create, primitive};

use super::budget;
use super::entry_points::same_arguments;
use super::header::{self, BlockHeader, BlockLayout, FINAL, Header, IN_TEAM, UNDEFERRED};
use super::next_symbol::Entry;
use super::pool;
use super::region::{run, threads};
use super::task::{FLAG_FINAL, run_in_frame, settle};
use super::task_frame;
use crate::site_cache;

/// libgomp's flags of a `taskloop`.
const FLAG_UP: u32 = 1 << 8;
const FLAG_GRAINSIZE: u32 = 1 << 9;
const FLAG_IF: u32 = 1 << 10;
const FLAG_NOGROUP: u32 = 1 << 11;
const FLAG_STRICT: u32 = 1 << 14;

pub(super) static TASKLOOP: Entry = Entry::new(c"GOMP_taskloop", 0);
pub(super) static TASKLOOP_ULL: Entry = Entry::new(c"GOMP_taskloop_ull", 0);

type Function = unsafe extern "C-unwind" fn(*mut u8);
type CopyFunction = unsafe extern "C-unwind" fn(*mut u8, *mut u8);
type Taskloop = unsafe extern "C-unwind" fn(
    Function,
    *mut u8,
    Option<CopyFunction>,
    usize,
    usize,
    u32,
    u64,
    i32,
    u64,
    u64,
    u64,
);

/// How a loop is divided into tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Division {
    /// Number of iterations.
    count: u64,
    tasks: u64,
    /// The number of iterations of a task. The first `larger` tasks have one more; if strict, the
    /// last task has the rest.
    each: u64,
    larger: u64,
}

impl Division {
    /// The division of `count` iterations, at least one, by the clauses.
    fn new(count: u64, flags: u32, clause: u64, threads: impl FnOnce() -> u64) -> Division {
        let equal = |tasks: u64| Division {
            count,
            tasks,
            each: count / tasks,
            larger: count % tasks,
        };
        if flags & FLAG_GRAINSIZE == 0 {
            let tasks = if clause == 0 { threads() } else { clause };
            return equal(tasks.clamp(1, count));
        }
        let grain = clause.max(1);
        if flags & FLAG_STRICT != 0 {
            return Division {
                count,
                tasks: count.div_ceil(grain),
                each: grain,
                larger: 0,
            };
        }
        equal((count / grain).max(1))
    }

    /// The index of the task that begins with this iteration.
    fn task_of(&self, iteration: u64) -> u64 {
        let of_larger = self.larger.saturating_mul(self.each + 1);
        let task = if iteration < of_larger {
            iteration / (self.each + 1)
        } else {
            self.larger + (iteration - of_larger) / self.each.max(1)
        };
        task.min(self.tasks - 1)
    }
}

/// The number of iterations of a loop over `long` (wrapped) or over `unsigned long long`, in which
/// a flag says whether it counts up.
fn iterations(unsigned: bool, flags: u32, start: u64, end: u64, step: u64) -> u64 {
    let up = counts_up(unsigned, flags, step);
    let size = if up { step } else { step.wrapping_neg() };
    let (least, most) = if up { (start, end) } else { (end, start) };
    let empty = if unsigned {
        least >= most
    } else {
        least as i64 >= most as i64
    };
    if empty || size == 0 {
        0
    } else {
        (most.wrapping_sub(least) - 1) / size + 1
    }
}

fn counts_up(unsigned: bool, flags: u32, step: u64) -> bool {
    if unsigned {
        flags & FLAG_UP != 0
    } else {
        step as i64 > 0
    }
}

/// The header of a chunk.
#[repr(C)]
struct Chunk {
    header: Header,
    division: Division,
    start: u64,
    /// The step of one iteration, positive.
    step: u64,
    up: bool,
}

impl BlockHeader for Chunk {}

struct Arguments {
    unsigned: bool,
    function: Function,
    data: *mut u8,
    copy: Option<CopyFunction>,
    size: usize,
    align: usize,
    flags: u32,
    clause: u64,
    priority: i32,
    start: u64,
    end: u64,
    step: u64,
}

impl Arguments {
    fn entry(&self) -> &'static Entry {
        if self.unsigned {
            &TASKLOOP_ULL
        } else {
            &TASKLOOP
        }
    }

    /// Calls libgomp's function with another function and another block.
    unsafe fn give(
        &self,
        function: Function,
        block: *mut u8,
        copy: Option<CopyFunction>,
        layout: BlockLayout,
    ) {
        // SAFETY: the caller passes a block of this layout, for this function.
        unsafe {
            let next: Taskloop = core::mem::transmute(self.entry().next_symbol());
            next(
                function,
                block,
                copy,
                layout.size,
                layout.align,
                self.flags,
                self.clause,
                self.priority,
                self.start,
                self.end,
                self.step,
            );
        }
    }
}

/// Defines one of the two entry points.
macro_rules! taskloop {
    ($name:ident, $entry:ident, $serve:ident, $unsigned:expr) => {
        same_arguments! { $name, $entry => $serve }

        unsafe extern "C-unwind" fn $serve(
            function: Function,
            data: *mut u8,
            copy: Option<CopyFunction>,
            size: usize,
            align: usize,
            flags: u32,
            clause: u64,
            priority: i32,
            start: u64,
            end: u64,
            step: u64,
        ) {
            let arguments = Arguments {
                unsigned: $unsigned,
                function,
                data,
                copy,
                size,
                align,
                flags,
                clause,
                priority,
                start,
                end,
                step,
            };
            // SAFETY: the arguments are the entry point's.
            unsafe { taskloop(&arguments) }
        }
    };
}

taskloop!(GOMP_taskloop, TASKLOOP, of_long, false);
taskloop!(GOMP_taskloop_ull, TASKLOOP_ULL, of_unsigned, true);

unsafe fn taskloop(a: &Arguments) {
    let count = iterations(a.unsigned, a.flags, a.start, a.end, a.step);
    let layout = BlockLayout::new(size_of::<Chunk>(), a.size, a.align);
    let fits = a.size <= u32::MAX as usize && a.align.max(1).is_power_of_two();
    let has_work = count > 0 && !a.data.is_null();
    // SAFETY: the arguments are the entry point's; the frame is this thread's; only this call uses
    // the handle.
    unsafe {
        let Some(h) = LiveHandle::current().filter(|_| has_work && fits) else {
            let bare = BlockLayout {
                offset: 0,
                size: a.size,
                align: a.align,
            };
            return a.give(a.function, a.data, a.copy, bare);
        };
        pool::note_runtime();
        let parent = task_frame::current();
        let paused = budget::pause(parent);
        let in_team = (*parent).in_team;
        let undeferred = a.flags & FLAG_IF == 0 || (*parent).is_final;
        let up = counts_up(a.unsigned, a.flags, a.step);
        let site = site_cache::at(a.function as usize, primitive::TASKLOOP, false);
        let division = Division::new(count, a.flags, a.clause, || {
            if in_team { threads() } else { 1 }
        });
        let group = if a.flags & FLAG_NOGROUP == 0 {
            h.scope_open(true)
        } else {
            0
        };
        let mut flags = 0;
        if a.flags & FLAG_FINAL != 0 || (*parent).is_final {
            flags |= FINAL;
        }
        if in_team {
            flags |= IN_TEAM;
        }
        let mut first = 0;
        if undeferred {
            flags |= UNDEFERRED;
        } else {
            let kind = if in_team {
                create::DEFERRED
            } else {
                create::INLINE
            };
            first = h.task_create(kind, site, 0);
            for _ in 1..division.tasks {
                h.task_create(kind, site, 0);
            }
            if group != 0 {
                h.wait_scope(site, group);
            }
        }
        let words = a.data.cast::<usize>();
        let third = if a.size >= 24 { *words.add(2) } else { 0 };
        let mut chunk = Chunk {
            header: Header {
                words: [0, 0, third],
                function: a.function as usize,
                task: first,
                data: ptr::null_mut(),
                from: a.data,
                copy: a.copy.map_or(0, |f| f as usize),
                offset: layout.offset as u32,
                flags,
                level: (*parent).level + 1,
                site,
            },
            division,
            start: a.start,
            step: if up { a.step } else { a.step.wrapping_neg() },
            up,
        };
        if a.copy.is_some() {
            let copy: CopyFunction = header::copy::<{ size_of::<Chunk>() }>;
            a.give(body, (&raw mut chunk).cast(), Some(copy), layout);
        } else {
            header::build(chunk, a.data, layout, |block| {
                a.give(body, block, None, layout);
            });
        }
        if group != 0 {
            if undeferred {
                h.wait_scope(site, group);
            }
            h.resume();
        }
        budget::go_on(paused);
    }
}

/// The function that libgomp calls for each chunk. libgomp has written the bounds to the block's
/// first two words.
unsafe extern "C-unwind" fn body(block: *mut u8) {
    let at = block.cast::<Chunk>();
    // SAFETY: libgomp passes a block that was made here. The program's block begins with the bounds
    // as well. The frames are this thread's.
    unsafe {
        let data = header::data(block.cast());
        let [begin, end, _] = (*at).header.words;
        *data.cast::<[usize; 2]>() = [begin, end];
        let Header {
            function,
            task: first,
            flags,
            ..
        } = (*at).header;
        let (h, below) = task_frame::here();
        let Some(h) = h else {
            return run(function, data);
        };
        settle(h, below);
        let task = if flags & UNDEFERRED != 0 {
            h.task_create(create::INLINE, (*at).header.site, 0)
        } else {
            let (start, begin) = ((*at).start, begin as u64);
            let distance = if (*at).up {
                begin.wrapping_sub(start)
            } else {
                start.wrapping_sub(begin)
            };
            first + (*at).division.task_of(distance / (*at).step)
        };
        h.task_begin(task);
        // Read before the chunk runs: the block may be reused for the thread's next chunk.
        let site = (*at).header.site;
        run_in_frame(h, function, data, flags, below);
        h.task_end();
        task_frame::leave(below, task);
        if flags & UNDEFERRED != 0 {
            h.wait_task_at(site, task, h.last());
            h.resume_at(h.last());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_are_counted_in_both_directions_and_types() {
        let down = |start: i64, end: i64, step: i64| {
            iterations(false, 0, start as u64, end as u64, step as u64)
        };
        assert_eq!(down(0, 10, 3), 4);
        assert_eq!(down(10, 0, -3), 4);
        assert_eq!(down(-5, 5, 5), 2);
        assert_eq!(down(5, 5, 1), 0);
        assert_eq!(down(6, 5, 1), 0);
        assert_eq!(down(i64::MIN, i64::MAX, 1), u64::MAX);
        assert_eq!(iterations(true, FLAG_UP, 0, u64::MAX, 2), 1 << 63);
        assert_eq!(
            iterations(true, 0, u64::MAX, 1, 2_u64.wrapping_neg()),
            (1 << 63) - 1
        );
    }

    /// Compares with libgomp: `sizes` are those of its tasks, in order.
    fn check(division: Division, sizes: &[u64]) {
        assert_eq!(division.tasks, sizes.len() as u64);
        let mut begin = 0;
        for (i, size) in sizes.iter().enumerate() {
            assert_eq!(division.task_of(begin), i as u64, "{division:?}");
            begin += size;
        }
        assert_eq!(begin, division.count);
    }

    #[test]
    fn a_loop_is_divided_as_libgomp_does() {
        let none = || 4;
        check(Division::new(10, 0, 0, none), &[3, 3, 2, 2]);
        check(Division::new(3, 0, 0, none), &[1, 1, 1]);
        check(Division::new(10, 0, 3, none), &[4, 3, 3]);
        check(Division::new(10, FLAG_GRAINSIZE, 4, none), &[5, 5]);
        check(Division::new(11, FLAG_GRAINSIZE, 3, none), &[4, 4, 3]);
        check(Division::new(3, FLAG_GRAINSIZE, 100, none), &[3]);
        let strict = FLAG_GRAINSIZE | FLAG_STRICT;
        check(Division::new(10, strict, 4, none), &[4, 4, 2]);
        check(Division::new(8, strict, 4, none), &[4, 4]);
        check(Division::new(3, strict, 4, none), &[3]);
    }
}
