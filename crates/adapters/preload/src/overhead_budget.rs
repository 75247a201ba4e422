//! Decides which tasks are skipped with everything inside, to stay within the overhead budget
//! ([`workspan_recorder::budget`]). Each thread decides by itself.
//!
//! A task's class is its spawn site and level. Sites whose tasks do more than create tasks and wait
//! are *refused* ([`refuse`]), as soon as one of their tasks is seen to do so, because they cannot
//! be estimated correctly.

use core::cell::{Cell, RefCell};
use core::sync::atomic::{AtomicU64, Ordering};

use workspan_recorder::TABLE;
use workspan_recorder::adapter::LiveHandle;
use workspan_recorder::budget::{Choice, JoinTicket, Settings, Watch};

thread_local! {
    /// The number of tasks that begin without asking the budget.
    static UNASKED: Cell<u32> = const { Cell::new(0) };
    static WATCH: RefCell<Option<Box<Watch>>> = const { RefCell::new(None) };
}

/// Refused sites, by the last bits of their numbers.
static REFUSED: [AtomicU64; 16] = [const { AtomicU64::new(0) }; 16];

fn refused(site: u32) -> (&'static AtomicU64, u64) {
    let bit = site as usize % (REFUSED.len() * 64);
    (&REFUSED[bit / 64], 1 << (bit % 64))
}

/// No task of that site is skipped from now on.
pub(crate) fn refuse(site: u32) {
    let (word, bit) = refused(site);
    word.fetch_or(bit, Ordering::Relaxed);
}

/// Whether the budget decides about the task that begins.
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

/// The decision about the task of this class that has begun with the thread's last record. `None`:
/// it is recorded, and its length is not measured.
#[cold]
#[inline(never)]
pub(crate) fn ask(h: LiveHandle, site: u32, level: u32) -> Option<(Choice, JoinTicket)> {
    let now = h.last();
    let (word, bit) = refused(site);
    let is_refused = site == 0 || word.load(Ordering::Relaxed) & bit != 0;
    with(|watch| {
        let watch = watch.get_or_insert_with(|| Box::new(Watch::new(settings(), now)));
        let (budget, next) = match watch.budget(h.thread(), now, 1) {
            Ok(budget) => (Some(budget), 0),
            Err(next) => (None, next),
        };
        UNASKED.with(|unasked| unasked.set(next));
        Some(budget.filter(|_| !is_refused)?.begin(site, level, now))
    })
    .flatten()
}

/// The task ended with the thread's last record. Its thread created `tasks` tasks meanwhile.
pub(crate) fn end(h: LiveHandle, begun: JoinTicket, tasks: u64) {
    let now = h.last();
    with(|watch| {
        if let Some(watch) = watch {
            watch.end(begun, now, tasks);
        }
    });
}

/// At the very end of a thread there is no watch any more.
fn with<T>(f: impl FnOnce(&mut Option<Box<Watch>>) -> T) -> Option<T> {
    let given = WATCH.try_with(|watch| watch.try_borrow_mut().ok().map(|mut watch| f(&mut watch)));
    given.ok().flatten()
}

/// The cost of recording a task, in joins of Rayon. It has as many records, but in addition the
/// runtime makes its callbacks, or our entry points are called. Twice as much and more was measured
/// (docs/measured/overhead.md).
const JOINS_PER_TASK: u64 = 2;

fn settings() -> Settings {
    let mut settings = Settings::default();
    // SAFETY: writes to a local variable.
    unsafe { (TABLE.budget)(&raw mut settings) };
    settings.join_ticks = settings.join_ticks.saturating_mul(JOINS_PER_TASK);
    settings
}
