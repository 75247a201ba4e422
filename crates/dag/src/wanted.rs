//! Whether work is still wanted. Reading and measuring a large run takes seconds, and whoever asked for it may think better of it.
//!
//! [`Wanted::work`] does work on threads that know whether it is wanted; their long loops look ([`check`], [`watched`]) every few
//! thousand steps, and where it no longer is they unwind to where the work was begun, giving back all they hold on the way. An error
//! handed up instead would put a `?` into every step of every analysis. Nothing is left half done: passes build something new of what they
//! only read. It is no panic: no hook runs and nothing is printed. Where nobody can end the work, looking is a load and a test.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Said by who wants work done, asked by who does it.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    over: Arc<AtomicBool>,
}

/// The work ended because it was no longer wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoLonger;

thread_local! {
    /// Whose work this thread does.
    static MINE: RefCell<Option<Wanted>> = const { RefCell::new(None) };
}

impl Wanted {
    /// The work is wanted, or no longer. What is unwinding already goes on doing so.
    pub fn want(&self, wanted: bool) {
        self.over.store(!wanted, Ordering::Relaxed);
    }

    /// True while the work is wanted.
    pub fn is_wanted(&self) -> bool {
        !self.over.load(Ordering::Relaxed)
    }

    /// Does `work` on threads of its own, as many as the machine has CPUs, or on this one where the system has no threads to give.
    ///
    /// # Errors
    /// It was no longer wanted before it was done.
    ///
    /// # Panics
    /// As `work` does.
    pub fn work<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, NoLonger> {
        let mine = self.clone();
        let threads = rayon::ThreadPoolBuilder::new()
            .thread_name(|_| "load".into())
            .start_handler(move |_| set(Some(mine.clone())))
            .build();
        let done = catch_unwind(AssertUnwindSafe(|| match threads {
            Ok(threads) => threads.install(work),
            Err(_) => self.here(work),
        }));
        done.map_err(no_longer)
    }

    /// Does `work` on this thread.
    fn here<T>(&self, work: impl FnOnce() -> T) -> T {
        /// Puts back what was, also when the work unwinds.
        struct Before(Option<Wanted>);
        impl Drop for Before {
            fn drop(&mut self) {
                set(self.0.take());
            }
        }
        let _before = Before(MINE.with(|mine| mine.borrow().clone()));
        set(Some(self.clone()));
        work()
    }
}

fn set(wanted: Option<Wanted>) {
    MINE.with(|mine| *mine.borrow_mut() = wanted);
}

/// What unwound: the end of the work, or a panic, which goes on.
fn no_longer(why: Box<dyn Any + Send>) -> NoLonger {
    match why.downcast::<NoLonger>() {
        Ok(told) => *told,
        Err(panic) => resume_unwind(panic),
    }
}

/// Looks whether the work that this thread does is still wanted; unwinds where it is not.
pub fn check() {
    let over = MINE.with(|mine| mine.borrow().as_ref().is_some_and(|w| !w.is_wanted()));
    if over {
        resume_unwind(Box::new(NoLonger));
    }
}

/// Items between two looks: a fraction of a millisecond of most passes.
const STEPS: u32 = 1 << 12;

/// Steps of a loop that is no iteration over items.
#[derive(Debug, Default)]
pub struct Steps {
    left: u32,
}

impl Steps {
    /// One more: a [`check`] at the first one and every few thousand.
    #[inline]
    pub fn step(&mut self) {
        if self.left == 0 {
            check();
            self.left = STEPS;
        }
        self.left -= 1;
    }
}

/// The same items, with a [`check`] at the first one and every few thousand.
pub fn watched<I: IntoIterator>(items: I) -> impl Iterator<Item = I::Item> {
    let mut steps = Steps::default();
    items.into_iter().inspect(move |_| steps.step())
}

/// `work`, to be done by another thread for this one: it then knows what this one does whether that is wanted.
pub fn carried<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let wanted = MINE.with(|mine| mine.borrow().clone());
    move || match wanted {
        Some(wanted) => wanted.here(work),
        None => work(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc::channel;

    /// Counts those that live.
    struct Alive<'a>(&'a AtomicUsize);

    impl<'a> Alive<'a> {
        fn new(count: &'a AtomicUsize) -> Alive<'a> {
            count.fetch_add(1, Ordering::SeqCst);
            Alive(count)
        }
    }

    impl Drop for Alive<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn work_that_is_wanted_is_done() {
        let wanted = Wanted::default();
        let done = wanted.work(|| watched(0..100_000u64).sum::<u64>());
        assert_eq!(done, Ok(4_999_950_000));
        check();
    }

    /// In the thread itself, in those it shares work with, and in those it starts.
    #[test]
    fn what_is_no_longer_wanted_ends_wherever_it_is_and_gives_back() {
        let (wanted, alive) = (Wanted::default(), AtomicUsize::new(0));
        let forever = || {
            let _held = Alive::new(&alive);
            watched(std::iter::repeat(())).for_each(|()| {});
        };
        let elsewhere = || {
            std::thread::scope(|scope| {
                let other = scope.spawn(carried(forever));
                if let Err(why) = other.join() {
                    resume_unwind(why);
                }
            });
        };
        let (begun, begins) = channel();
        let ends = wanted.clone();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                begins.recv().expect("it begins");
                ends.want(false);
            });
            let done = wanted.work(|| {
                let _held = Alive::new(&alive);
                begun.send(()).expect("somebody waits");
                rayon::join(forever, elsewhere);
            });
            assert_eq!(done, Err(NoLonger));
        });
        assert_eq!(alive.load(Ordering::SeqCst), 0);
        // Nothing of it stays with this thread, and it can be wanted again.
        check();
        wanted.want(true);
        assert_eq!(wanted.work(|| 7), Ok(7));
    }

    #[test]
    fn a_panic_stays_one() {
        let wanted = Wanted::default();
        let panic = catch_unwind(|| wanted.work(|| std::panic::panic_any("broken")));
        let what = panic.expect_err("it panics");
        assert_eq!(what.downcast_ref(), Some(&"broken"));
    }
}
