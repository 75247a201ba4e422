//! The overhead budget ([`crate::overhead_budget`]) for libomp's tasks. The budget decides whether
//! a task is skipped when the task begins. Tasks created in it carry the subtree's name in their
//! words, and constructs other than tasks and waits interrupt the subtree.

use core::ptr;
use std::rc::Rc;

use workspan_recorder::adapter::LiveHandle;
use workspan_recorder::budget::{Choice, JoinTicket, TASK_CLASS};

use super::ffi::Data;
use super::task_word::{self, BRIEF, INLINE, NO_SUBTREE, ON_STACK};
use crate::overhead_budget;
use crate::skipped_subtree::Subtree;

/// A thread's skipped subtrees.
pub(super) struct SkipState {
    /// The [`task_word::subtree`] of tasks in the subtree that the thread is in.
    inside: u64,
    /// That subtree; null if the current task is recorded.
    subtree: *const Subtree,
    /// The return address of the call that created the last skipped task, and the site of that
    /// call.
    last_call: usize,
    last_site: u32,
    /// The site of the task around that is recorded in full as a sample; 0 if there is none.
    whole: u32,
    /// The number of parallel regions that this thread has opened.
    regions: u32,
    over: Vec<SkipEndEffect>,
}

/// The effect of the end of a task, or of a region.
pub(super) struct SkipEndEffect {
    task: *mut Data,
    /// For a region: the number of open regions, including it.
    region: u32,
    /// The subtree that was suspended for it.
    below: *const Subtree,
    asked: Option<BudgetTicket>,
}

/// A task that the budget decided about.
struct BudgetTicket {
    begun: JoinTicket,
    /// The number of tasks that its thread had created before.
    tasks: u64,
    is_drawn: bool,
    subtree: Option<Rc<Subtree>>,
}

impl SkipState {
    pub(super) const fn new() -> SkipState {
        SkipState {
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
        // SAFETY: the skipped task has not ended, and owns the subtree.
        unsafe { self.subtree.as_ref() }
    }

    fn set(&mut self, subtree: *const Subtree) {
        self.subtree = subtree;
        self.inside = self
            .subtree()
            .map_or(NO_SUBTREE, |subtree| task_word::inside(subtree.name()));
    }

    /// Whether the thread is in a subtree whose tasks' names fit in a word.
    #[inline]
    pub(super) fn is_inside(&self) -> bool {
        self.inside != NO_SUBTREE
    }

    /// [`SkipState::create`] for a task that is created at the same place as the one before, by a
    /// task that was created there too, as in most recursions.
    #[inline]
    pub(super) fn create_again(&self, encountering: u64, return_address: usize) -> Option<u64> {
        if return_address != self.last_call {
            return None;
        }
        task_word::same_again(encountering, self.inside, self.last_site)
    }

    /// A task was created there, with the site of that call and without a loop around it.
    #[inline]
    pub(super) fn created(&mut self, return_address: usize, site: u32) {
        (self.last_call, self.last_site) = (return_address, site);
    }

    /// The word of a task with this level that is created in the thread's current subtree; `None`
    /// if there is no current subtree, or if the data do not fit in a word.
    #[inline]
    pub(super) fn create(&self, site: u32, level: u32, at_once: bool) -> Option<u64> {
        if !self.is_inside() {
            return None;
        }
        let word = task_word::placed(self.inside, site, level);
        // A task that begins at once needs no site.
        word.or_else(|| task_word::placed(self.inside, 0, level).filter(|_| at_once))
    }

    /// Whether a task with this word, which starts on this thread, belongs to the thread's current
    /// subtree. Then nothing is recorded.
    #[inline]
    pub(super) fn is_own(&self, word: u64) -> bool {
        task_word::subtree(word) == self.inside
    }

    /// Such a task starts.
    ///
    /// # Safety
    /// `task` is a task of the runtime that starts on this thread, and [`SkipState::is_own`].
    #[inline]
    pub(super) unsafe fn enter(&self, task: *mut Data) {
        // SAFETY: the caller guarantees the task; a thread inside of a subtree has one.
        unsafe {
            (*self.subtree).enter_with(|in_work| {
                (*task).value |= if in_work { ON_STACK | INLINE } else { ON_STACK };
            });
        }
    }

    /// A task with this word ends, which belongs to a subtree ([`task_word::is_unrecorded`]).
    #[inline]
    pub(super) fn end(&self, word: u64) {
        if let Some(subtree) = self.subtree().filter(|_| word & ON_STACK != 0) {
            subtree.leave(word & INLINE != 0);
        }
    }

    /// Returns true if the task that ends belonged to a subtree.
    ///
    /// # Safety
    /// `task` is a task of the runtime that ends on this thread.
    pub(super) unsafe fn leave(&self, task: *mut Data) -> bool {
        // SAFETY: the caller guarantees the task.
        let word = unsafe { (*task).value };
        let is_left_out = task_word::is_unrecorded(word);
        if is_left_out {
            self.end(word);
        }
        is_left_out
    }

    /// A recorded task has begun on top of the thread's other work, with the last record. `word` is
    /// its word before that.
    #[inline]
    pub(super) fn task_begin(&mut self, h: LiveHandle, task: *mut Data, word: u64, may: bool) {
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
            self.over.push(SkipEndEffect {
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
                h.sample_begin(site, TASK_CLASS + begun.recorded_level());
                self.whole = site;
                asked.is_drawn = true;
            }
        }
        Some(asked)
    }

    /// The recorded task is about to end. If it was skipped, its subtree is over. The result is to
    /// be passed to [`SkipState::closed`] once the end is written.
    #[inline]
    pub(super) fn close(&mut self, task: *mut Data) -> Option<SkipEndEffect> {
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
    pub(super) fn closed(&mut self, h: LiveHandle, over: SkipEndEffect) {
        if let Some(asked) = over.asked {
            if asked.is_drawn {
                self.whole = 0;
            }
            overhead_budget::end(h, asked.begun, h.created_tasks() - asked.tasks);
        }
        self.set(over.below);
    }

    /// A construct other than tasks and waits occurs in the current task: the tasks of that task's
    /// site are recorded from now on.
    pub(super) fn is_more(&self) {
        if self.whole != 0 {
            overhead_budget::refuse(self.whole);
        }
        if let Some(subtree) = self.subtree() {
            overhead_budget::refuse(subtree.site());
        }
    }

    /// Runs a function that writes records of such a construct.
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
            self.over.push(SkipEndEffect {
                task: ptr::null_mut(),
                region: self.regions,
                below,
                asked: None,
            });
            self.set(ptr::null());
        }
    }

    /// The region is over.
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
