//! Explicit tasks. A create is deferred if the program says so, even if libgomp runs the child
//! within the call because it has many tasks already: that depends only on the schedule. Inline
//! children are those that must run at once: `if(0)`, children of final tasks, and tasks outside of
//! all regions.

use core::ptr;

use workspan_recorder::adapter::LiveHandle;
use workspan_recorder::wire::{create, primitive};

use super::budget::SkippedTask;
use super::entry_points::same_arguments;
use super::header::{
    self, BlockLayout, DETACH, EVENT_WORD, FINAL, Header, IN_TEAM, LevelAndFlags,
    MAX_COMPACT_ALIGN, PlainHeader, UNDEFERRED, UNRECORDED,
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

/// The header's flag of a task with these flags of libgomp, if it is final.
#[inline]
pub(super) fn final_flag(flags: u32) -> u32 {
    if flags & FLAG_FINAL != 0 { FINAL } else { 0 }
}

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
    /// Calls libgomp's function with another function and another block.
    #[inline]
    pub(super) unsafe fn give(
        &self,
        function: Function,
        block: *mut u8,
        copy: Option<CopyFunction>,
        layout: BlockLayout,
    ) {
        // SAFETY: the caller passes a block of this layout, for this function.
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
        // SAFETY: the flag says that there is a list.
        has.then(|| unsafe { dependences::read(self.depend) })
    }

    pub(super) fn header(&self, layout: BlockLayout, task: u64, in_team: bool) -> Header {
        let mut flags = final_flag(self.flags);
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

    /// Whether the call requests more than a new task.
    fn is_more(&self) -> bool {
        self.flags & (FLAG_DEPEND | FLAG_DETACH) != 0
    }

    /// Makes libgomp create the task, with this header in front of its block.
    #[inline]
    unsafe fn give_with(&self, mut header: Header, layout: BlockLayout) {
        // SAFETY: the caller passes a header for this task.
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

    /// Makes libgomp create a task of a team that has a [`PlainHeader`] in front of its block.
    /// `with_header` is the layout with a [`Header`].
    #[inline]
    unsafe fn give_plain(&self, with_header: BlockLayout, task: u64, level: u32, site: u32) {
        let size = with_header.size.wrapping_sub(with_header.offset);
        let layout = BlockLayout::new(size_of::<PlainHeader>(), size, with_header.align);
        let header = PlainHeader {
            function: self.function as usize,
            task,
            rest: LevelAndFlags::new(level, layout.offset, final_flag(self.flags) | IN_TEAM),
            site: u64::from(site),
        };
        // SAFETY: the block has the layout that libgomp is given, and a header for `plain_body`.
        unsafe {
            header::build(header, self.data, layout, |block| {
                self.give(plain_body, block, None, layout);
            });
        }
    }

    /// Makes libgomp create the task as the program requested.
    unsafe fn give_bare(&self, size: usize, align: usize) {
        let bare = BlockLayout {
            offset: 0,
            size,
            align,
        };
        // SAFETY: the arguments are the entry point's.
        unsafe { self.give(self.function, self.data, self.copy, bare) }
    }
}

same_arguments! { GOMP_task, TASK => task }

/// `GOMP_task`: `data` is the argument block of `size` bytes; `copy` copies it if it is not plain
/// bytes.
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
    // SAFETY: the current frame is this thread's; its subtree lies below on the same stack.
    let subtree = unsafe { (*parent).skip.as_ref() };
    if let Some(subtree) = subtree
        && flags & (FLAG_DEPEND | FLAG_DETACH) == 0
        && may_defer != 0
        // SAFETY: the arguments are the entry point's.
        && unsafe { budget::create(subtree, (function, copy), data, (size, align), flags, priority) }
    {
        return;
    }
    // SAFETY: the arguments are the entry point's.
    unsafe {
        create_any(
            function, data, copy, size, align, may_defer, flags, depend, priority, event,
        );
    }
}

/// [`task`] for everything except most skipped tasks. Those run on top of the stack frame of
/// [`task`], so [`task`] itself is kept small.
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
    // SAFETY: the arguments are the entry point's; the frame is this thread's.
    unsafe {
        let fits = size <= u32::MAX as usize && align.max(1).is_power_of_two();
        let Some(h) = h.filter(|_| fits) else {
            return arguments.give_bare(size, align);
        };
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

/// Creates a task in a recorded one.
#[inline]
unsafe fn recorded(h: LiveHandle, arguments: &Arguments, layout: BlockLayout, parent: &TaskFrame) {
    // SAFETY: the arguments are the entry point's; the frame is this thread's.
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
        let task = h.task_create(kind, site, 0);
        let is_plain = in_team && arguments.copy.is_none() && !arguments.is_more();
        if is_plain && layout.align <= MAX_COMPACT_ALIGN {
            return arguments.give_plain(layout, task, parent.level + 1, site);
        }
        if let Some(on) = arguments.dependences() {
            h.depends(task, &on);
        }
        let header = Header {
            level: parent.level + 1,
            site,
            ..arguments.header(layout, task, in_team)
        };
        arguments.give_with(header, layout);
        if !in_team && task_frame::last_ended() == task {
            h.wait_task_at(site, task, h.last());
            h.resume_at(h.last());
        }
    }
}

/// The function that libgomp calls as the task.
pub(super) unsafe extern "C-unwind" fn body(block: *mut u8) {
    let at = block.cast::<Header>();
    // SAFETY: libgomp passes a block that was made here; the frames are this thread's.
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
        let Some(h) = h else {
            return run(function, data);
        };
        if flags & (UNDEFERRED | UNRECORDED) != 0 {
            let inner = SkippedTask {
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
        h.task_begin(task);
        if flags & DETACH != 0 {
            run_in_frame(h, function, data, flags, below);
            let site = site_cache::at(function, primitive::DETACH, false);
            detach::body_has_run(h, words[0], site);
        } else {
            run_in_budget(h, below, function, flags, level, site, data);
        }
        task_frame::leave(below, task);
    }
}

/// The function that libgomp calls as a task with a [`PlainHeader`].
unsafe extern "C-unwind" fn plain_body(block: *mut u8) {
    // SAFETY: libgomp passes a block that was made in `give_plain`; the frames are this thread's.
    unsafe {
        let PlainHeader {
            function,
            task,
            rest,
            site,
        } = block.cast::<PlainHeader>().read();
        let data = block.add(rest.offset());
        let (h, below) = task_frame::here();
        let Some(h) = h else {
            return run(function, data);
        };
        settle(h, below);
        h.task_begin(task);
        let (flags, level) = (rest.flags(), rest.level());
        run_in_budget(h, below, function, flags, level, site as u32, data);
        task_frame::leave(below, task);
    }
}

/// Runs an outlined function as an explicit task whose subtree may be skipped.
///
/// # Safety
/// As for [`run_in_frame`].
#[inline]
unsafe fn run_in_budget(
    h: LiveHandle,
    below: *mut TaskFrame,
    function: usize,
    flags: u32,
    level: u32,
    site: u32,
    data: *mut u8,
) {
    // SAFETY: the caller passes the current frame, an outlined function and its argument.
    unsafe {
        let here = TaskFrame {
            level,
            ..TaskFrame::explicit(below, h, function, flags)
        };
        budget::run(h, here, site, data);
    }
}

/// If the thread waits in a call that may be a barrier, it is one: a task begins there.
///
/// # Safety
/// `below` is the calling thread's current frame.
#[inline]
pub(super) unsafe fn settle(h: LiveHandle, below: *mut TaskFrame) {
    // SAFETY: the frame is the thread's; its implicit task lives as long as the frame.
    unsafe {
        let implicit = (*below).implicit;
        if !implicit.is_null() && (*implicit).arrived != 0 {
            barrier::settle(h, &mut *implicit);
        }
    }
}

/// Runs an outlined function as an explicit task, in a frame of its own.
///
/// # Safety
/// As for [`run`]; `below` is the current frame.
#[inline]
pub(super) unsafe fn run_in_frame(
    h: LiveHandle,
    function: usize,
    data: *mut u8,
    flags: u32,
    below: *mut TaskFrame,
) {
    // SAFETY: the caller passes the current frame.
    let mut here = unsafe { TaskFrame::explicit(below, h, function, flags) };
    task_frame::set_current(&raw mut here);
    // SAFETY: the caller passes an outlined function and its argument.
    unsafe { run(function, data) };
}
