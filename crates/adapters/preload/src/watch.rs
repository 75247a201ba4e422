//! Which tasks are left out with everything inside, to stay inside the overhead budget ([`workspan_recorder::budget`]): what each thread
//! needs to decide.
//!
//! A task's class is its spawn site and level. What a budget can't be right about is not left out: sites in whose tasks something
//! happens that is more than creating and waiting are *refused* ([`refuse`]), as soon as one of them is seen to do it.

use core::cell::{Cell, RefCell};
use core::sync::atomic::{AtomicU64, Ordering};

use workspan_recorder::TABLE;
use workspan_recorder::budget::{Begun, Budget, Choice, Settings};
use workspan_recorder::front::Handle;

/// Tasks that a thread runs before it looks again whether there is a budget.
const WEIGHED: u32 = 1 << 12;
/// The same where there never is one.
const NEVER: u32 = u32::MAX;

/// A thread's budget.
struct Watch {
    settings: Settings,
    /// None before the first time that recording cost too much.
    budget: Option<Budget>,
    /// Tasks begun, as of when the cost was last looked at, and when that was.
    tasks: u64,
    since: u64,
}

thread_local! {
    /// Tasks that are begun without asking.
    static UNASKED: Cell<u32> = const { Cell::new(0) };
    static WATCH: RefCell<Option<Box<Watch>>> = const { RefCell::new(None) };
}

/// Sites that are refused, by their number's last bits.
static REFUSED: [AtomicU64; 16] = [const { AtomicU64::new(0) }; 16];

fn refused(site: u32) -> (&'static AtomicU64, u64) {
    let bit = site as usize % (REFUSED.len() * 64);
    (&REFUSED[bit / 64], 1 << (bit % 64))
}

/// No task of that site is left out from now on.
pub(crate) fn refuse(site: u32) {
    let (word, bit) = refused(site);
    word.fetch_or(bit, Ordering::Relaxed);
}

/// Whether the budget has a say in the task that begins.
#[inline]
pub(crate) fn asks() -> bool {
    UNASKED.with(|unasked| match unasked.get() {
        0 => true,
        n => {
            unasked.set(n - 1);
            false
        }
    })
}

/// What is to become of the task of that class that has begun with the thread's last record; `None`: it is recorded, and nobody wants to know
/// how long it takes.
///
/// # Safety
/// `h` is the calling thread's live handle.
#[cold]
#[inline(never)]
pub(crate) unsafe fn ask(h: *mut Handle, site: u32, level: u32) -> Option<(Choice, Begun)> {
    // SAFETY: the caller's.
    let now = unsafe { (*h).last };
    let (word, bit) = refused(site);
    let is_refused = site == 0 || word.load(Ordering::Relaxed) & bit != 0;
    with(|watch| {
        let watch = watch.get_or_insert_with(|| Box::new(Watch::new(now)));
        if watch.budget.is_none() {
            // SAFETY: the caller's.
            watch.weigh(unsafe { (*h).thread }, now);
        }
        match &mut watch.budget {
            Some(budget) if !is_refused => Some(budget.begin(site, level, now)),
            _ => None,
        }
    })
    .flatten()
}

/// The task ended with the thread's last record; its thread created so many meanwhile.
///
/// # Safety
/// `h` is the calling thread's live handle.
pub(crate) unsafe fn end(h: *mut Handle, begun: Begun, tasks: u64) {
    // SAFETY: the caller's.
    let now = unsafe { (*h).last };
    with(|watch| {
        let budget = watch.as_mut().and_then(|watch| watch.budget.as_mut());
        if let Some(budget) = budget {
            budget.end(begun, now, tasks);
        }
    });
}

/// At the very end of a thread there is no watch any more.
fn with<T>(f: impl FnOnce(&mut Option<Box<Watch>>) -> T) -> Option<T> {
    let given = WATCH.try_with(|watch| watch.try_borrow_mut().ok().map(|mut watch| f(&mut watch)));
    given.ok().flatten()
}

impl Watch {
    fn new(now: u64) -> Watch {
        let mut settings = Settings::default();
        // SAFETY: a place to write to.
        unsafe { (TABLE.budget)(&raw mut settings) };
        Watch {
            settings,
            budget: None,
            tasks: 0,
            since: now,
        }
    }

    /// Compares what the tasks since the last time have cost with the time that has passed. Where nothing is held, there is a budget at once.
    fn weigh(&mut self, thread: u32, now: u64) {
        let Settings {
            per_million, hold, ..
        } = self.settings;
        let begun = u64::from(WEIGHED) * u64::from(now > self.since);
        self.tasks += begun;
        let passed = now.saturating_sub(self.since);
        self.since = now;
        let exceeded = self.tasks >= u64::from(hold) && self.settings.exceeded(begun, passed);
        let next = if per_million == 0 {
            NEVER
        } else if hold == 0 || exceeded {
            self.budget = Some(Budget::new(self.settings, thread, now));
            0
        } else {
            WEIGHED
        };
        UNASKED.with(|unasked| unasked.set(next));
    }
}
