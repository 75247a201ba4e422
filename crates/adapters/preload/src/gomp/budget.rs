//! The overhead budget ([`crate::overhead_budget`]) for libgomp's tasks. The budget decides whether
//! a task is skipped when the task begins. Tasks created in it carry the subtree's name in their
//! headers, and constructs other than tasks and waits interrupt the subtree.

use core::mem::MaybeUninit;
use core::ptr;

use workspan_recorder::adapter::LiveHandle;
use workspan_recorder::budget::{Choice, TASK_CLASS};
use workspan_recorder::wire::primitive;

use super::header::{
    self, BlockHeader, BlockLayout, Header, IN_TEAM, LevelAndFlags, MAX_COMPACT_ALIGN, UNRECORDED,
    write_words,
};
use super::region;
use super::task::{CopyFunction, Function, TASK, Task, final_flag, settle};
use super::task_frame::{self, TaskFrame};
use crate::skipped_subtree::{Subtree, part};
use crate::{overhead_budget, site_cache};

/// Runs the deferred task of a header, which has begun, to its end.
///
/// # Safety
/// `h` is the calling thread's live handle, `here` a frame for the task, `data` its block.
#[inline]
pub(super) unsafe fn run(h: LiveHandle, mut here: TaskFrame, site: u32, data: *mut u8) {
    let is_asked = here.in_team && here.whole == 0 && overhead_budget::asks();
    let here = &raw mut here;
    // SAFETY: the caller's arguments; the frame lives until the task has ended.
    unsafe {
        task_frame::set_current(here);
        if is_asked {
            ask(h, here, site, data);
        } else {
            region::run((*here).function, data);
            h.task_end();
        }
    }
}

/// # Safety
/// The same as for [`run`].
#[cold]
#[inline(never)]
unsafe fn ask(h: LiveHandle, here: *mut TaskFrame, site: u32, data: *mut u8) {
    // SAFETY: the caller's arguments; a subtree outlives the tasks in it.
    unsafe {
        let level = (*here).level;
        let Some((choice, begun)) = overhead_budget::ask(h, site, level) else {
            region::run((*here).function, data);
            h.task_end();
            return;
        };
        let tasks = h.created_tasks();
        if choice == Choice::Skip {
            let subtree = Subtree::begin(h, site, level);
            (*here).skip = &raw const subtree;
            region::run((*here).function, data);
            subtree.stop();
            h.task_end_at(h.last());
        } else {
            if choice != Choice::Enter {
                h.sample_begin(site, TASK_CLASS + begun.recorded_level());
                (*here).whole = site;
            }
            region::run((*here).function, data);
            h.task_end();
        }
        overhead_budget::end(h, begun, h.created_tasks() - tasks);
    }
}

/// A task that was created in a skipped subtree.
#[derive(Clone, Copy)]
pub(super) struct SkippedTask {
    pub(super) function: usize,
    /// The subtree's name.
    pub(super) name: u64,
    pub(super) level: u32,
    /// The task's [`Header::flags`].
    pub(super) flags: u32,
}

impl SkippedTask {
    /// Runs the task.
    ///
    /// # Safety
    /// libgomp runs it on the calling thread, whose current frame is `below`; `data` is its block.
    #[inline(always)]
    pub(super) unsafe fn run(self, below: *mut TaskFrame, data: *mut u8) {
        // SAFETY: the caller's arguments; a subtree is below on this thread's stack.
        unsafe {
            match (*below).skip.as_ref() {
                Some(subtree) if subtree.name() == self.name => {
                    subtree.task(self.level, || region::run(self.function, data));
                }
                _ => self.run_as_part(below, data),
            }
        }
    }

    /// Runs the task if the thread is not inside of its subtree.
    #[cold]
    #[inline(never)]
    unsafe fn run_as_part(self, below: *mut TaskFrame, data: *mut u8) {
        // SAFETY: as in `run`; the handle and the frame are the thread's.
        unsafe {
            let (h, _) = task_frame::here();
            let Some(h) = h else {
                return region::run(self.function, data);
            };
            let site = site_cache::at(self.function, primitive::TASK, false);
            settle(h, below);
            part(h, self.name, site);
            let here = TaskFrame {
                level: self.level,
                ..TaskFrame::explicit(below, h, self.function, self.flags | IN_TEAM)
            };
            run(h, here, site, data);
            // It has no number that a creator could use.
            task_frame::leave(below, 0);
        }
    }
}

/// The data in front of the block of such a task. It is smaller than a [`Header`], because every
/// byte is copied, and twice if there is no copy function. It consists of whole words, each written
/// and read as a unit ([`write_words`]).
#[repr(C)]
struct CompactHeader {
    function: usize,
    name: u64,
    rest: LevelAndFlags,
}

impl BlockHeader for CompactHeader {
    #[inline(always)]
    unsafe fn write_to(self, to: *mut CompactHeader) {
        let words = [self.function as u64, self.name, self.rest.word()];
        // SAFETY: the caller's guarantee; the header consists of these words.
        unsafe { write_words(to.cast(), words) }
    }
}

/// The data that libgomp gets in place of a block for which the program has a copy function.
/// [`copy_slim`] builds the task's block from it.
#[repr(C)]
struct CopyArgument {
    slim: CompactHeader,
    copy: CopyFunction,
    /// The program's block.
    from: *mut u8,
}

/// The corresponding copy function.
unsafe extern "C-unwind" fn copy_slim(to: *mut u8, from: *mut u8) {
    // SAFETY: libgomp allocated a block of the size passed in `create`, and passes the data that it
    // got there.
    unsafe {
        let (to_slim, from) = (to.cast::<CompactHeader>(), from.cast::<CopyArgument>());
        // Copied one by one, as they were stored.
        (&raw mut (*to_slim).function).write_volatile((*from).slim.function);
        (&raw mut (*to_slim).name).write_volatile((*from).slim.name);
        let rest = (*from).slim.rest;
        (*to_slim).rest = rest;
        ((*from).copy)(to.add(rest.offset()), (*from).from);
    }
}

/// Creates a task of that subtree for `GOMP_task` without dependences and event, if it may be
/// deferred. Returns false if that is not possible.
///
/// # Safety
/// The arguments are the entry point's, called in a task of the subtree.
#[inline]
pub(super) unsafe fn create(
    subtree: &Subtree,
    (function, copy): (Function, Option<CopyFunction>),
    data: *mut u8,
    (size, align): (usize, usize),
    flags: u32,
    priority: i32,
) -> bool {
    if align > MAX_COMPACT_ALIGN || !align.max(1).is_power_of_two() || size > u32::MAX as usize {
        return false;
    }
    let layout = BlockLayout::new(size_of::<CompactHeader>(), size, align);
    let slim = CompactHeader {
        function: function as usize,
        name: subtree.name(),
        rest: LevelAndFlags::new(subtree.level() + 1, layout.offset, final_flag(flags)),
    };
    // SAFETY: the caller's arguments; the block is one for `slim_body`, with room for the program's
    // block.
    unsafe {
        match copy {
            Some(copy) => {
                let from = data;
                let mut to_copy = CopyArgument { slim, copy, from };
                let to_copy = (&raw mut to_copy).cast();
                give(to_copy, Some(copy_slim), layout, (flags, priority));
            }
            None if layout.size <= MAX_SMALL_BLOCK_BYTES && layout.align <= 16 => {
                let mut few = SmallBlock([const { MaybeUninit::uninit() }; MAX_SMALL_BLOCK_BYTES]);
                let block = (&raw mut few).cast::<u8>();
                header::fill(block, slim, data, layout);
                give(block, None, layout, (flags, priority));
            }
            None => build(slim, data, layout, (flags, priority)),
        }
    }
    true
}

/// The largest size in bytes of a block that is built on the stack, on which the task may run too.
/// Most blocks are smaller.
const MAX_SMALL_BLOCK_BYTES: usize = 96;

#[repr(C, align(16))]
struct SmallBlock([MaybeUninit<u8>; MAX_SMALL_BLOCK_BYTES]);

/// Passes a large block to libgomp for a new task.
///
/// # Safety
/// The same as for [`header::build`] and [`give`].
#[inline(never)]
unsafe fn build(slim: CompactHeader, data: *mut u8, layout: BlockLayout, say: (u32, i32)) {
    // SAFETY: the caller's arguments.
    unsafe { header::build(slim, data, layout, |block| give(block, None, layout, say)) }
}

/// Makes libgomp create the task.
///
/// # Safety
/// The block has this layout, for [`slim_body`], once it is copied.
#[inline]
unsafe fn give(
    block: *mut u8,
    copy: Option<CopyFunction>,
    BlockLayout { size, align, .. }: BlockLayout,
    (flags, priority): (u32, i32),
) {
    let none = ptr::null_mut();
    // SAFETY: the caller's arguments.
    unsafe {
        let next: Task = core::mem::transmute(TASK.next_symbol());
        next(
            slim_body, block, copy, size, align, 1, flags, none, priority, none,
        );
    }
}

/// The function that libgomp calls as a task with such a block.
unsafe extern "C-unwind" fn slim_body(block: *mut u8) {
    // SAFETY: libgomp passes a block made in `create`.
    unsafe {
        let slim = block.cast::<CompactHeader>();
        let rest = (*slim).rest;
        let inner = SkippedTask {
            function: (*slim).function,
            name: (*slim).name,
            level: rest.level(),
            flags: rest.flags(),
        };
        inner.run(task_frame::current(), block.add(rest.offset()));
    }
}

/// Marks the header of a task that is created in that subtree.
#[inline]
pub(super) fn mark(header: &mut Header, subtree: &Subtree) {
    header.task = subtree.name();
    header.flags |= UNRECORDED | IN_TEAM;
    header.level = subtree.level() + 1;
}

/// Exists while a construct other than tasks and waits is recorded.
pub(super) struct PausedSkip {
    frame: *mut TaskFrame,
    skip: *const Subtree,
}

/// Begins such a construct in the current task: the subtree around it is interrupted, and the
/// site's tasks are recorded from now on.
///
/// # Safety
/// `frame` is the calling thread's current frame.
pub(super) unsafe fn pause(frame: *mut TaskFrame) -> PausedSkip {
    // SAFETY: the caller's frame; a subtree is below on this thread's stack.
    unsafe {
        let skip = (*frame).skip;
        if (*frame).whole != 0 {
            overhead_budget::refuse((*frame).whole);
        }
        if let Some(subtree) = skip.as_ref() {
            overhead_budget::refuse(subtree.site());
            subtree.stop();
            (*frame).skip = ptr::null();
        }
        PausedSkip { frame, skip }
    }
}

/// Ends the construct.
///
/// # Safety
/// Called on the thread that paused, in the same task.
pub(super) unsafe fn go_on(paused: PausedSkip) {
    // SAFETY: the caller guarantees the thread and the task.
    unsafe {
        if let Some(subtree) = paused.skip.as_ref() {
            subtree.go_on();
            (*paused.frame).skip = paused.skip;
        }
    }
}
