//! Explicit tasks. A create is deferred as the program says it, also where libgomp, which has many tasks already, runs the child
//! within the call: that is the schedule's doing. Inline are children that must run at once: `if(0)`, those of final tasks, and
//! outside of all regions.

use core::ptr;

use workspan_recorder::adapter;
use workspan_recorder::front::{Handle, id};
use workspan_recorder::wire::{Kind, create, primitive, put_varint, wait};

use super::budget::Inner;
use super::entry_points::same_arguments;
use super::header::{
    self, BlockLayout, DETACH, EVENT_WORD, FINAL, Header, IN_TEAM, UNDEFERRED, UNRECORDED,
};
use super::next_symbol::Entry;
use super::region::run;
use super::task_frame::{self, TaskFrame};
use super::undeferred::{run_undeferred, undeferred_body};
use super::{barrier, budget, dependences, detach, pool};
use crate::site_cache;

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
        layout: BlockLayout,
    ) {
        // SAFETY: the caller's: the block is one of this shape, for this function.
        unsafe {
            let next: Task = core::mem::transmute(TASK.next_symbol());
            next(
                function,
                block,
                copy,
                layout.size,
                layout.align,
                self.may_defer,
                self.flags,
                self.depend,
                self.priority,
                self.event,
            );
        }
    }

    pub(super) fn site(&self) -> u32 {
        site_cache::at(self.function as usize, primitive::TASK, false)
    }

    pub(super) fn dependences(&self) -> Option<Vec<(u64, u64)>> {
        let has = self.flags & FLAG_DEPEND != 0 && !self.depend.is_null();
        // SAFETY: the flag says that it is a list.
        has.then(|| unsafe { dependences::read(self.depend) })
    }

    pub(super) fn header(&self, layout: BlockLayout, task: u64, in_team: bool) -> Header {
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
            offset: layout.offset as u32,
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
    unsafe fn give_with(&self, mut header: Header, layout: BlockLayout) {
        // SAFETY: the caller's: the header is one for this task.
        unsafe {
            if self.copy.is_some() {
                let copy: CopyFunction = header::copy::<{ size_of::<Header>() }>;
                self.give(body, (&raw mut header).cast(), Some(copy), layout);
            } else {
                header::build(header, self.data, layout, |block| {
                    self.give(body, block, None, layout);
                });
            }
        }
    }

    /// Has libgomp make the task as the program says it.
    unsafe fn give_bare(&self, size: usize, align: usize) {
        let bare = BlockLayout {
            offset: 0,
            size,
            align,
        };
        // SAFETY: the caller's: the arguments are the entry point's.
        unsafe { self.give(self.function, self.data, self.copy, bare) }
    }
}

same_arguments! { GOMP_task, TASK => task }

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
    let parent = task_frame::current();
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
    let (h, parent) = task_frame::here();
    // SAFETY: as in `task`.
    let subtree = unsafe { (*parent).skip.as_ref() };
    let layout = BlockLayout::new(size_of::<Header>(), size, align);
    // SAFETY: the arguments are the entry point's; the handle and the frame are this thread's.
    unsafe {
        if h.is_null() || size > u32::MAX as usize || !align.max(1).is_power_of_two() {
            return arguments.give_bare(size, align);
        }
        if arguments.is_more() {
            let paused = budget::pause(parent);
            recorded(h, &arguments, layout, &*parent);
            return budget::go_on(paused);
        }
        let Some(subtree) = subtree else {
            return recorded(h, &arguments, layout, &*parent);
        };
        if may_defer == 0 {
            subtree.count();
            return arguments.give_bare(size, align);
        }
        let mut header = arguments.header(layout, 0, true);
        budget::mark(&mut header, subtree);
        arguments.give_with(header, layout);
    }
}

/// A task that is created in a recorded one.
#[inline]
unsafe fn recorded(h: *mut Handle, arguments: &Arguments, layout: BlockLayout, parent: &TaskFrame) {
    // SAFETY: the arguments are the entry point's; the handle and the frame are this thread's.
    unsafe {
        if arguments.may_defer == 0 || parent.is_final {
            return run_undeferred(h, arguments, layout, parent);
        }
        let in_team = parent.in_team;
        let kind = if in_team {
            create::DEFERRED
        } else {
            pool::note_runtime();
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
            ..arguments.header(layout, task, in_team)
        };
        arguments.give_with(header, layout);
        if !in_team && task_frame::last_ended() == task {
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
        let (h, below) = task_frame::here();
        if h.is_null() {
            return run(function, data);
        }
        if flags & (UNDEFERRED | UNRECORDED) != 0 {
            let inner = Inner {
                function,
                name: task,
                level,
                flags,
            };
            return match flags & UNRECORDED {
                0 => undeferred_body(h, at, data),
                _ => inner.run(below, data),
            };
        }
        settle(h, below);
        adapter::task_begin(h, task);
        if flags & DETACH != 0 {
            run_in_frame(h, function, data, flags, below);
            let site = site_cache::at(function, primitive::DETACH, false);
            detach::body_has_run(h, words[0], site);
        } else {
            let here = TaskFrame {
                level,
                ..TaskFrame::explicit(below, h, function, flags)
            };
            budget::run(h, here, site, data);
        }
        task_frame::leave(below, task);
    }
}

/// The thread was at what may be a barrier: with a task that begins there, it is one.
///
/// # Safety
/// `h` is the calling thread's live handle, `below` its current frame.
#[inline]
pub(super) unsafe fn settle(h: *mut Handle, below: *mut TaskFrame) {
    // SAFETY: the caller's; a share lives as long as its frame.
    unsafe {
        let implicit = (*below).implicit;
        if !implicit.is_null() && (*implicit).arrived != 0 {
            barrier::settle(h, &mut *implicit);
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
    below: *mut TaskFrame,
) {
    // SAFETY: the caller's.
    let mut here = unsafe { TaskFrame::explicit(below, h, function, flags) };
    task_frame::set_current(&raw mut here);
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
