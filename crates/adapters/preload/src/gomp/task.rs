//! Explicit tasks. A create is deferred as the program says it, also where libgomp, which has many tasks already, runs the child
//! within the call: that is the schedule's doing. Inline are children that must run at once: `if(0)`, those of final tasks, and
//! outside of all regions.

use core::ptr;

use workspan_recorder::adapter;
use workspan_recorder::front::{Handle, id};
use workspan_recorder::wire::{Kind, create, primitive, put_varint, wait};

use super::at_once::{at_once, body_at_once};
use super::budget::Inner;
use super::frame::{self, Frame};
use super::header::{self, AT_ONCE, DETACH, EVENT_WORD, FINAL, Header, IN_TEAM, Shape, UNRECORDED};
use super::real::Entry;
use super::region::run;
use super::shim::alike;
use super::{barrier, budget, depend, detach, pool};
use crate::sites;

/// libgomp's flags of a task.
pub(super) const FLAG_FINAL: u32 = 1 << 1;
const FLAG_DEPEND: u32 = 1 << 3;
const FLAG_DETACH: u32 = 1 << 13;

pub(super) static TASK: Entry = Entry::new(c"GOMP_task", 0);

pub(super) type Function = unsafe extern "C-unwind" fn(*mut u8);
pub(super) type CopyFunction = unsafe extern "C-unwind" fn(*mut u8, *mut u8);
pub(super) type Task = unsafe extern "C-unwind" fn(
    Function,
    *mut u8,
    Option<CopyFunction>,
    usize,
    usize,
    u8,
    u32,
    *const usize,
    i32,
    *mut usize,
);

/// The arguments of `GOMP_task`.
pub(super) struct Arguments {
    function: Function,
    pub(super) data: *mut u8,
    pub(super) copy: Option<CopyFunction>,
    may_defer: u8,
    flags: u32,
    depend: *const usize,
    priority: i32,
    event: *mut usize,
}

impl Arguments {
    /// Calls the real function with another function and block.
    #[inline]
    pub(super) unsafe fn give(
        &self,
        function: Function,
        block: *mut u8,
        copy: Option<CopyFunction>,
        shape: Shape,
    ) {
        // SAFETY: the caller's: the block is one of this shape, for this function.
        unsafe {
            let real: Task = core::mem::transmute(TASK.real());
            real(
                function,
                block,
                copy,
                shape.size,
                shape.align,
                self.may_defer,
                self.flags,
                self.depend,
                self.priority,
                self.event,
            );
        }
    }

    pub(super) fn site(&self) -> u32 {
        sites::at(self.function as usize, primitive::TASK, false)
    }

    pub(super) fn dependences(&self) -> Option<Vec<(u64, u64)>> {
        let has = self.flags & FLAG_DEPEND != 0 && !self.depend.is_null();
        // SAFETY: the flag says that it is a list.
        has.then(|| unsafe { depend::read(self.depend) })
    }

    pub(super) fn header(&self, shape: Shape, task: u64, in_team: bool) -> Header {
        let mut flags = 0;
        if self.flags & FLAG_FINAL != 0 {
            flags |= FINAL;
        }
        if in_team {
            flags |= IN_TEAM;
        }
        if self.flags & FLAG_DETACH != 0 {
            flags |= DETACH;
            if !self.data.is_null() {
                flags |= EVENT_WORD;
            }
        }
        Header {
            words: [0; 3],
            function: self.function as usize,
            task,
            data: ptr::null_mut(),
            from: self.data,
            copy: self.copy.map_or(0, |f| f as usize),
            offset: shape.offset as u32,
            flags,
            level: 0,
            site: 0,
        }
    }

    /// More than creating a task is asked for.
    fn is_more(&self) -> bool {
        self.flags & (FLAG_DEPEND | FLAG_DETACH) != 0
    }

    /// Has libgomp make the task, whose block gets that header.
    #[inline]
    unsafe fn give_with(&self, mut header: Header, shape: Shape) {
        // SAFETY: the caller's: the header is one for this task.
        unsafe {
            if self.copy.is_some() {
                let copy: CopyFunction = header::copy::<{ size_of::<Header>() }>;
                self.give(body, (&raw mut header).cast(), Some(copy), shape);
            } else {
                header::build(header, self.data, shape, |block| {
                    self.give(body, block, None, shape);
                });
            }
        }
    }

    /// Has libgomp make the task as the program says it.
    unsafe fn give_bare(&self, size: usize, align: usize) {
        let bare = Shape {
            offset: 0,
            size,
            align,
        };
        // SAFETY: the caller's: the arguments are the entry point's.
        unsafe { self.give(self.function, self.data, self.copy, bare) }
    }
}

alike! { GOMP_task, TASK => task }

/// `task`: `data` is the argument block of `size` bytes, `copy` what copies it if not plain bytes.
unsafe extern "C-unwind" fn task(
    function: Function,
    data: *mut u8,
    copy: Option<CopyFunction>,
    size: usize,
    align: usize,
    may_defer: u8,
    flags: u32,
    depend: *const usize,
    priority: i32,
    event: *mut usize,
) {
    let parent = frame::current();
    // SAFETY: the current frame is this thread's, and what it is in lies below on its stack.
    let subtree = unsafe { (*parent).skip.as_ref() };
    if let Some(subtree) = subtree
        && flags & (FLAG_DEPEND | FLAG_DETACH) == 0
        && may_defer != 0
        // SAFETY: the arguments are the entry point's.
        && unsafe { budget::create(subtree, (function, copy), data, (size, align), flags, priority) }
    {
        return;
    }
    // SAFETY: as above.
    unsafe {
        create_any(
            function, data, copy, size, align, may_defer, flags, depend, priority, event,
        );
    }
}

/// The same for all but most that are left out: those run on top of what [`task`] has on its stack, which is little.
#[inline(never)]
unsafe extern "C-unwind" fn create_any(
    function: Function,
    data: *mut u8,
    copy: Option<CopyFunction>,
    size: usize,
    align: usize,
    may_defer: u8,
    flags: u32,
    depend: *const usize,
    priority: i32,
    event: *mut usize,
) {
    let arguments = Arguments {
        function,
        data,
        copy,
        may_defer,
        flags,
        depend,
        priority,
        event,
    };
    let (h, parent) = frame::here();
    // SAFETY: as in `task`.
    let subtree = unsafe { (*parent).skip.as_ref() };
    let shape = Shape::new(size_of::<Header>(), size, align);
    // SAFETY: the arguments are the entry point's; the handle and the frame are this thread's.
    unsafe {
        if h.is_null() || size > u32::MAX as usize || !align.max(1).is_power_of_two() {
            return arguments.give_bare(size, align);
        }
        if arguments.is_more() {
            let paused = budget::pause(parent);
            recorded(h, &arguments, shape, &*parent);
            return budget::go_on(paused);
        }
        let Some(subtree) = subtree else {
            return recorded(h, &arguments, shape, &*parent);
        };
        if may_defer == 0 {
            subtree.count();
            return arguments.give_bare(size, align);
        }
        let mut header = arguments.header(shape, 0, true);
        budget::mark(&mut header, subtree);
        arguments.give_with(header, shape);
    }
}

/// A task that is created in a recorded one.
#[inline]
unsafe fn recorded(h: *mut Handle, arguments: &Arguments, shape: Shape, parent: &Frame) {
    // SAFETY: the arguments are the entry point's; the handle and the frame are this thread's.
    unsafe {
        if arguments.may_defer == 0 || parent.is_final {
            return at_once(h, arguments, shape, parent);
        }
        let in_team = parent.in_team;
        let kind = if in_team {
            create::DEFERRED
        } else {
            pool::tell_runtime();
            create::INLINE
        };
        let site = arguments.site();
        let task = adapter::task_create(h, kind, site, 0);
        if let Some(on) = arguments.dependences() {
            adapter::depends(h, task, &on);
        }
        let header = Header {
            level: parent.level + 1,
            site,
            ..arguments.header(shape, task, in_team)
        };
        arguments.give_with(header, shape);
        if !in_team && frame::last_ended() == task {
            wait_for(h, site, task, (*h).last);
            resume_at(h, (*h).last);
        }
    }
}

/// What libgomp calls as the task.
pub(super) unsafe extern "C-unwind" fn body(block: *mut u8) {
    let at = block.cast::<Header>();
    // SAFETY: libgomp hands over a block made here; the handle and the frames are this thread's.
    unsafe {
        let data = header::data(at);
        let Header {
            words,
            function,
            task,
            flags,
            level,
            site,
            ..
        } = *at;
        if flags & EVENT_WORD != 0 {
            *data.cast::<usize>() = words[0];
        }
        let (h, below) = frame::here();
        if h.is_null() {
            return run(function, data);
        }
        if flags & (AT_ONCE | UNRECORDED) != 0 {
            let inner = Inner {
                function,
                name: task,
                level,
                flags,
            };
            return match flags & UNRECORDED {
                0 => body_at_once(h, at, data),
                _ => inner.run(below, data),
            };
        }
        settle(h, below);
        adapter::task_begin(h, task);
        if flags & DETACH != 0 {
            run_in_frame(h, function, data, flags, below);
            let site = sites::at(function, primitive::DETACH, false);
            detach::body_has_run(h, words[0], site);
        } else {
            let here = Frame {
                level,
                ..Frame::explicit(below, h, function, flags)
            };
            budget::run(h, here, site, data);
        }
        frame::leave(below, task);
    }
}

/// The thread was at what may be a barrier: with a task that begins there, it is one.
///
/// # Safety
/// `h` is the calling thread's live handle, `below` its current frame.
#[inline]
pub(super) unsafe fn settle(h: *mut Handle, below: *mut Frame) {
    // SAFETY: the caller's; a share lives as long as its frame.
    unsafe {
        let share = (*below).share;
        if !share.is_null() && (*share).arrived != 0 {
            barrier::settle(h, &mut *share);
        }
    }
}

/// Runs an outlined function as an explicit task in a frame of its own.
///
/// # Safety
/// As [`run`]; `h` is the calling thread's live handle, `below` the current frame.
#[inline]
pub(super) unsafe fn run_in_frame(
    h: *mut Handle,
    function: usize,
    data: *mut u8,
    flags: u32,
    below: *mut Frame,
) {
    // SAFETY: the caller's.
    let mut here = unsafe { Frame::explicit(below, h, function, flags) };
    frame::set_current(&raw mut here);
    // SAFETY: the caller's.
    unsafe { run(function, data) };
}

/// The current task waits for one that has run on top of it, from `now` on.
///
/// # Safety
/// `h` is the calling thread's live handle.
pub(super) unsafe fn wait_for(h: *mut Handle, site: u32, task: u64, now: u64) {
    let (thread, count) = id::split(task).unwrap_or((u32::MAX, 0));
    // SAFETY: the caller's; five operands.
    unsafe {
        let mut p = Handle::head(h, Kind::Wait, now);
        for v in [
            u64::from(site) + 1,
            wait::TASKS,
            1,
            u64::from(thread),
            count,
        ] {
            p = put_varint(p, v);
        }
        Handle::commit(h, p);
    }
}

/// The current task goes on at `now`.
///
/// # Safety
/// `h` is the calling thread's live handle.
pub(super) unsafe fn resume_at(h: *mut Handle, now: u64) {
    // SAFETY: the caller's.
    unsafe {
        let p = Handle::head(h, Kind::Resume, now);
        Handle::commit(h, p);
    }
}
