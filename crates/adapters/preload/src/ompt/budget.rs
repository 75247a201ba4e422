//! The overhead budget ([`crate::overhead_budget`]) in libomp's tasks: which task is left out is
//! asked when it begins, what it creates then carries the subtree's name in its word, and
//! constructs that are more than tasks and waits interrupt it.

use core::ptr;
use std::rc::Rc;

use workspan_recorder::adapter::LiveHandle;
use workspan_recorder::budget::{Begun, Choice, OF_TASKS};

use super::ffi::Data;
use super::task_word::{self, BRIEF, INLINE, NO_SUBTREE, ON_STACK};
use crate::overhead_budget;
use crate::unrecorded::Subtree;

/// A thread's subtrees.
pub(super) struct LeftOut {
    /// What [`task_word::subtree`] is for tasks of the subtree that the thread is in.
    inside: u64,
    /// That subtree; null where what runs is recorded.
    subtree: *const Subtree,
    /// Where the last task was created that was left out, and the site of that.
    last_call: usize,
    last_site: u32,
    /// The site of the task around that is recorded with everything inside to stand for others; 0
    /// for none.
    whole: u32,
    /// Parallel regions that this thread has opened.
    regions: u32,
    over: Vec<Over>,
}

/// What the end of a task, or of a region, changes.
pub(super) struct Over {
    task: *mut Data,
    /// If it is a region, how many are open with it.
    region: u32,
    /// The subtree that is set aside for it.
    below: *const Subtree,
    asked: Option<BudgetTicket>,
}

/// A task that was asked for.
struct BudgetTicket {
    begun: Begun,
    /// Creates of its thread before it.
    tasks: u64,
    is_drawn: bool,
    subtree: Option<Rc<Subtree>>,
}

impl LeftOut {
    pub(super) const fn new() -> LeftOut {
        LeftOut {
            inside: NO_SUBTREE,
            subtree: ptr::null(),
            last_call: 0,
            last_site: 0,
            whole: 0,
            regions: 0,
            over: Vec::new(),
        }
    }

    /// The subtree that the thread is in.
    #[inline]
    pub(super) fn subtree(&self) -> Option<&Subtree> {
        // SAFETY: the task that is left out has not ended, and owns it.
        unsafe { self.subtree.as_ref() }
    }

    fn set(&mut self, subtree: *const Subtree) {
        self.subtree = subtree;
        self.inside = self
            .subtree()
            .map_or(NO_SUBTREE, |subtree| task_word::inside(subtree.name()));
    }

    /// Whether the thread is in a subtree whose tasks have a place in a word.
    #[inline]
    pub(super) fn is_inside(&self) -> bool {
        self.inside != NO_SUBTREE
    }

    /// [`LeftOut::create`] for a task that is created where the one before was, by one that was
    /// created there too: what most recursions do.
    #[inline]
    pub(super) fn create_again(&self, encountering: u64, return_address: usize) -> Option<u64> {
        if return_address != self.last_call {
            return None;
        }
        task_word::same_again(encountering, self.inside, self.last_site)
    }

    /// A task was created there, with the site of that call and none of a loop around it.
    #[inline]
    pub(super) fn created(&mut self, return_address: usize, site: u32) {
        (self.last_call, self.last_site) = (return_address, site);
    }

    /// The word of a task of that level that is created in the subtree that the thread is in;
    /// `None` if it is in none, or has no place in a word.
    #[inline]
    pub(super) fn create(&self, site: u32, level: u32, at_once: bool) -> Option<u64> {
        if !self.is_inside() {
            return None;
        }
        let word = task_word::placed(self.inside, site, level);
        // One that begins at once needs no site.
        word.or_else(|| task_word::placed(self.inside, 0, level).filter(|_| at_once))
    }

    /// Whether a task with that word, which starts on this thread, is one of the subtree that the
    /// thread is in: then it is nobody's business.
    #[inline]
    pub(super) fn is_own(&self, word: u64) -> bool {
        task_word::subtree(word) == self.inside
    }

    /// Such a task starts.
    ///
    /// # Safety
    /// `task` is a task of the runtime that starts on this thread, and [`LeftOut::is_own`].
    #[inline]
    pub(super) unsafe fn enter(&self, task: *mut Data) {
        // SAFETY: the caller's; a thread that is inside of a subtree has one.
        unsafe {
            (*self.subtree).enter_with(|in_work| {
                (*task).value |= if in_work { ON_STACK | INLINE } else { ON_STACK };
            });
        }
    }

    /// A task with that word ends, which is one of a subtree ([`task_word::is_unrecorded`]).
    #[inline]
    pub(super) fn end(&self, word: u64) {
        if let Some(subtree) = self.subtree().filter(|_| word & ON_STACK != 0) {
            subtree.leave(word & INLINE != 0);
        }
    }

    /// True when the task that ends was one of a subtree.
    ///
    /// # Safety
    /// `task` is a task of the runtime that ends on this thread.
    pub(super) unsafe fn leave(&self, task: *mut Data) -> bool {
        // SAFETY: the caller's.
        let word = unsafe { (*task).value };
        let is_left_out = task_word::is_unrecorded(word);
        if is_left_out {
            self.end(word);
        }
        is_left_out
    }

    /// A recorded task has begun on top of what the thread does, with the last record; `word` is
    /// what it had before.
    #[inline]
    pub(super) fn begun(&mut self, h: LiveHandle, task: *mut Data, word: u64, may: bool) {
        let may =
            may && word & (BRIEF | INLINE) == BRIEF && self.whole == 0 && overhead_budget::asks();
        if may || !self.subtree.is_null() {
            self.open(h, task, word, may);
        }
    }

    #[cold]
    #[inline(never)]
    fn open(&mut self, h: LiveHandle, task: *mut Data, word: u64, may: bool) {
        let below = self.subtree;
        self.set(ptr::null());
        let asked = {
            if may && task_word::has_room(h.thread(), h.counted_yields()) {
                self.ask(h, task_word::site(word), task_word::level(word))
            } else {
                None
            }
        };
        if asked.is_some() || !below.is_null() {
            self.over.push(Over {
                task,
                region: 0,
                below,
                asked,
            });
        }
    }

    fn ask(&mut self, h: LiveHandle, site: u32, level: u32) -> Option<BudgetTicket> {
        let (choice, begun) = overhead_budget::ask(h, site, level)?;
        let mut asked = BudgetTicket {
            begun,
            tasks: h.created_tasks(),
            is_drawn: false,
            subtree: None,
        };
        match choice {
            Choice::Enter => {}
            Choice::Skip => {
                let subtree = Rc::new(Subtree::begin(h, site, level));
                self.set(Rc::as_ptr(&subtree));
                asked.subtree = Some(subtree);
            }
            Choice::Learn | Choice::Sample => {
                h.sampled(site, OF_TASKS + begun.recorded_level());
                self.whole = site;
                asked.is_drawn = true;
            }
        }
        Some(asked)
    }

    /// The recorded task is about to end: its subtree, if it is left out, is over. To be given to
    /// [`LeftOut::closed`] when the end is written.
    #[inline]
    pub(super) fn close(&mut self, task: *mut Data) -> Option<Over> {
        let over = self
            .over
            .pop_if(|over| over.task == task && over.region == 0)?;
        if let Some(subtree) = over.asked.as_ref().and_then(|a| a.subtree.as_ref()) {
            self.set(ptr::null());
            subtree.stop();
        }
        Some(over)
    }

    #[cold]
    pub(super) fn closed(&mut self, h: LiveHandle, over: Over) {
        if let Some(asked) = over.asked {
            if asked.is_drawn {
                self.whole = 0;
            }
            overhead_budget::end(h, asked.begun, h.created_tasks() - asked.tasks);
        }
        self.set(over.below);
    }

    /// Something that is more than tasks and waits happens in the current task: the tasks of the
    /// site it is in are recorded from now on.
    pub(super) fn is_more(&self) {
        if self.whole != 0 {
            overhead_budget::refuse(self.whole);
        }
        if let Some(subtree) = self.subtree() {
            overhead_budget::refuse(subtree.site());
        }
    }

    /// Runs what writes records of that kind.
    pub(super) fn paused(&mut self, write: impl FnOnce()) {
        self.is_more();
        let Some(subtree) = self.subtree() else {
            return write();
        };
        subtree.stop();
        write();
        subtree.go_on();
        self.set(self.subtree);
    }

    /// A parallel region is about to be opened.
    pub(super) fn open_region(&mut self) {
        self.is_more();
        self.regions += 1;
        let below = self.subtree;
        if let Some(subtree) = self.subtree() {
            subtree.stop();
            self.over.push(Over {
                task: ptr::null_mut(),
                region: self.regions,
                below,
                asked: None,
            });
            self.set(ptr::null());
        }
    }

    /// It is over.
    pub(super) fn close_region(&mut self) {
        let regions = self.regions;
        self.regions = regions.saturating_sub(1);
        let over = self
            .over
            .pop_if(|over| over.region == regions && regions > 0);
        let Some(over) = over else { return };
        self.set(over.below);
        if let Some(subtree) = self.subtree() {
            subtree.go_on();
        }
        self.set(over.below);
    }
}
