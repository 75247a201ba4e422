//! The overhead budget in libgomp's tasks ([`crate::watch`]): which task is left out is asked when it begins, what it creates then carries the
//! subtree's name in its header, and constructs that are more than tasks and waits interrupt it.

use core::ptr;

use workspan_recorder::adapter;
use workspan_recorder::budget::{Choice, OF_TASKS};
use workspan_recorder::front::Handle;
use workspan_recorder::wire::primitive;

use super::frame::{self, Frame};
use super::header::{self, FINAL, Header, IN_TEAM, Shape, UNRECORDED};
use super::region;
use super::task::{FLAG_FINAL, Function, TASK, Task, settle};
use crate::unrecorded::{Subtree, part};
use crate::{sites, watch};

/// Runs the deferred task of a header, which has begun, to its end.
///
/// # Safety
/// `h` is the calling thread's live handle, `here` a frame for the task, `data` its block.
#[inline]
pub(super) unsafe fn run(h: *mut Handle, mut here: Frame, site: u32, data: *mut u8) {
    let is_asked = here.in_team && here.whole == 0 && watch::asks();
    let here = &raw mut here;
    // SAFETY: the caller's; the frame lives until the task has ended.
    unsafe {
        frame::set_current(here);
        if is_asked {
            ask(h, here, site, data);
        } else {
            region::run((*here).function, data);
            adapter::task_end(h);
        }
    }
}

/// # Safety
/// As [`run`].
#[cold]
#[inline(never)]
unsafe fn ask(h: *mut Handle, here: *mut Frame, site: u32, data: *mut u8) {
    // SAFETY: the caller's; a subtree outlives what runs in it.
    unsafe {
        let level = (*here).level;
        let Some((choice, begun)) = watch::ask(h, site, level) else {
            region::run((*here).function, data);
            adapter::task_end(h);
            return;
        };
        let tasks = (*h).next_task;
        if choice == Choice::Skip {
            let subtree = Subtree::begin(h, site, level);
            (*here).skip = &raw const subtree;
            region::run((*here).function, data);
            subtree.stop();
            adapter::task_end_at(h, (*h).last);
        } else {
            if choice != Choice::Enter {
                adapter::sampled(h, site, OF_TASKS + begun.recorded_level());
                (*here).whole = site;
            }
            region::run((*here).function, data);
            adapter::task_end(h);
        }
        watch::end(h, begun, (*h).next_task - tasks);
    }
}

/// A task that was created in an unrecorded subtree.
#[derive(Clone, Copy)]
pub(super) struct Inner {
    pub(super) function: usize,
    /// The subtree's.
    pub(super) name: u64,
    pub(super) level: u32,
    /// Of [`Header::flags`].
    pub(super) flags: u32,
}

impl Inner {
    /// Runs it.
    ///
    /// # Safety
    /// libgomp runs it on the calling thread, whose current frame is `below`; `data` is its block.
    #[inline]
    pub(super) unsafe fn run(self, below: *mut Frame, data: *mut u8) {
        // SAFETY: the caller's; a subtree is below on this thread's stack.
        unsafe {
            match (*below).skip.as_ref() {
                Some(subtree) if subtree.name() == self.name => {
                    subtree.task(self.level, || region::run(self.function, data));
                }
                _ => self.run_as_part(below, data),
            }
        }
    }

    /// Runs it where its subtree is not what the thread is in.
    #[cold]
    #[inline(never)]
    unsafe fn run_as_part(self, below: *mut Frame, data: *mut u8) {
        // SAFETY: as in `run`; the handle and the frame are the thread's.
        unsafe {
            let (h, _) = frame::here();
            if h.is_null() {
                return region::run(self.function, data);
            }
            let site = sites::at(self.function, primitive::TASK, false);
            settle(h, below);
            part(h, self.name, site);
            let here = Frame {
                level: self.level,
                ..Frame::explicit(below, h, self.function, self.flags | IN_TEAM)
            };
            run(h, here, site, data);
            // It has no number that a creator could know.
            frame::leave(below, 0);
        }
    }
}

/// What lies in front of the block of such a task where there is no copy function: less than a [`Header`], as every byte is copied twice.
#[repr(C, align(8))]
struct Slim {
    function: usize,
    name: u64,
    level: u32,
    /// From here to the program's block.
    offset: u16,
    flags: u16,
}

/// Alignments up to this are stored in [`Slim`].
const MOST_ALIGN: usize = 1 << 12;

/// `GOMP_task` without dependences, event and copy function, of a task that may be deferred, in that subtree; false where it can't be made so.
///
/// # Safety
/// The arguments are the entry point's, called in a task of the subtree.
#[inline]
pub(super) unsafe fn create(
    subtree: &Subtree,
    function: Function,
    data: *mut u8,
    (size, align): (usize, usize),
    flags: u32,
    priority: i32,
) -> bool {
    if align > MOST_ALIGN || !align.max(1).is_power_of_two() || size > u32::MAX as usize {
        return false;
    }
    let shape = Shape::new(size_of::<Slim>(), size, align);
    let slim = Slim {
        function: function as usize,
        name: subtree.name(),
        level: subtree.level() + 1,
        offset: shape.offset as u16,
        flags: if flags & FLAG_FINAL != 0 {
            FINAL as u16
        } else {
            0
        },
    };
    // SAFETY: the caller's: the block is one for `slim_body`, with room for the program's.
    unsafe {
        header::build(slim, data, shape, |block| {
            let real: Task = core::mem::transmute(TASK.real());
            let (size, align) = (shape.size, shape.align);
            let none = ptr::null_mut();
            real(
                slim_body, block, None, size, align, 1, flags, none, priority, none,
            );
        });
    }
    true
}

/// What libgomp calls as a task with such a block.
unsafe extern "C-unwind" fn slim_body(block: *mut u8) {
    // SAFETY: libgomp hands over a block made in `create`.
    unsafe {
        let slim = block.cast::<Slim>();
        let inner = Inner {
            function: (*slim).function,
            name: (*slim).name,
            level: (*slim).level,
            flags: u32::from((*slim).flags),
        };
        inner.run(frame::current(), block.add(usize::from((*slim).offset)));
    }
}

/// What a header says of a task that is created in that subtree.
#[inline]
pub(super) fn mark(header: &mut Header, subtree: &Subtree) {
    header.task = subtree.name();
    header.flags |= UNRECORDED | IN_TEAM;
    header.level = subtree.level() + 1;
}

/// While something that is more than tasks and waits is recorded.
pub(super) struct Paused {
    frame: *mut Frame,
    skip: *const Subtree,
}

/// Something of that kind begins in the current task: what it is in is recorded meanwhile, and its site's tasks are from now on.
///
/// # Safety
/// `frame` is the calling thread's current frame.
pub(super) unsafe fn pause(frame: *mut Frame) -> Paused {
    // SAFETY: the caller's; a subtree is below on this thread's stack.
    unsafe {
        let skip = (*frame).skip;
        if (*frame).whole != 0 {
            watch::refuse((*frame).whole);
        }
        if let Some(subtree) = skip.as_ref() {
            watch::refuse(subtree.site());
            subtree.stop();
            (*frame).skip = ptr::null();
        }
        Paused { frame, skip }
    }
}

/// It is over.
///
/// # Safety
/// On the thread that paused, in the same task.
pub(super) unsafe fn go_on(paused: Paused) {
    // SAFETY: the caller's.
    unsafe {
        if let Some(subtree) = paused.skip.as_ref() {
            subtree.go_on();
            (*paused.frame).skip = paused.skip;
        }
    }
}
