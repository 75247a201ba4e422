//! Cancels a computation from another thread.
//!
//! Reading and measuring a large run takes seconds, and the user may move on before it is done.
//! [`CancelToken::run`] runs a computation on threads that carry the token. Long loops check it
//! every few thousand steps ([`check`], [`checked`]). Once the token is cancelled they unwind to
//! [`CancelToken::run`] and free what they hold on the way.
//!
//! Unwinding instead of returning an error keeps a `?` out of every step of every analysis. It
//! leaves nothing half done, because passes only read their input and build something new. It is
//! not a panic: no hook runs and nothing is printed. A thread without a token pays one load and one
//! test for a check.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that cancels the computations that run under it. Clones share the flag.
#[derive(Debug, Clone, Default)]
pub struct CancelToken {
    cancelled: Arc<AtomicBool>,
}

/// The computation was cancelled before it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

thread_local! {
    /// The token of the computation that this thread works for.
    static TOKEN: RefCell<Option<CancelToken>> = const { RefCell::new(None) };
}

impl CancelToken {
    /// Cancels the computations under this token.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Lets new computations run under this token again. Those that already unwind go on unwinding.
    pub fn reset(&self) {
        self.cancelled.store(false, Ordering::Relaxed);
    }

    /// True after [`CancelToken::cancel`].
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Runs `work` on a thread pool of its own, one thread per CPU. Runs it on the calling thread
    /// if the system can't start threads.
    ///
    /// # Errors
    /// The token was cancelled before `work` was done.
    ///
    /// # Panics
    /// If `work` panics.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, Cancelled> {
        let token = self.clone();
        let pool = rayon::ThreadPoolBuilder::new()
            .thread_name(|_| "load".into())
            .start_handler(move |_| set(Some(token.clone())))
            .build();
        let result = catch_unwind(AssertUnwindSafe(|| match pool {
            Ok(pool) => pool.install(work),
            Err(_) => self.run_here(work),
        }));
        result.map_err(cancelled_or_panic)
    }

    /// Runs `work` on the calling thread.
    fn run_here<T>(&self, work: impl FnOnce() -> T) -> T {
        /// Restores the thread's previous token, also when `work` unwinds.
        struct Previous(Option<CancelToken>);
        impl Drop for Previous {
            fn drop(&mut self) {
                set(self.0.take());
            }
        }
        let _previous = Previous(TOKEN.with(|token| token.borrow().clone()));
        set(Some(self.clone()));
        work()
    }
}

fn set(token: Option<CancelToken>) {
    TOKEN.with(|own| *own.borrow_mut() = token);
}

/// Turns the payload of an unwind into [`Cancelled`]. A panic continues to unwind.
fn cancelled_or_panic(payload: Box<dyn Any + Send>) -> Cancelled {
    match payload.downcast::<Cancelled>() {
        Ok(cancelled) => *cancelled,
        Err(panic) => resume_unwind(panic),
    }
}

/// Unwinds if this thread's token is cancelled.
pub fn check() {
    let cancelled = TOKEN.with(|token| {
        token
            .borrow()
            .as_ref()
            .is_some_and(CancelToken::is_cancelled)
    });
    if cancelled {
        resume_unwind(Box::new(Cancelled));
    }
}

/// Steps between two checks: a fraction of a millisecond in most passes.
const STEPS_PER_CHECK: u32 = 1 << 12;

/// Counts the steps of a loop that [`checked`] can't wrap.
#[derive(Debug, Default)]
pub struct Checkpoint {
    steps_left: u32,
}

impl Checkpoint {
    /// Counts a step. Calls [`check`] at the first step and then every few thousand.
    #[inline]
    pub fn step(&mut self) {
        if self.steps_left == 0 {
            check();
            self.steps_left = STEPS_PER_CHECK;
        }
        self.steps_left -= 1;
    }
}

/// Yields `items`, and calls [`check`] at the first item and then every few thousand.
pub fn checked<I: IntoIterator>(items: I) -> impl Iterator<Item = I::Item> {
    let mut checkpoint = Checkpoint::default();
    items.into_iter().inspect(move |_| checkpoint.step())
}

/// Wraps `work` for another thread, so that it runs there under the calling thread's token.
pub fn inherit<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let token = TOKEN.with(|token| token.borrow().clone());
    move || match token {
        Some(token) => token.run_here(work),
        None => work(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc::channel;

    /// Counts the values that are alive.
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
    fn work_that_is_not_cancelled_is_done() {
        let token = CancelToken::default();
        let result = token.run(|| checked(0..100_000u64).sum::<u64>());
        assert_eq!(result, Ok(4_999_950_000));
        check();
    }

    /// Loops run in the pool's thread, in a thread that Rayon shares the work with, and in a
    /// started thread.
    #[test]
    fn cancelled_work_ends_on_every_thread_and_frees_what_it_holds() {
        let (token, alive) = (CancelToken::default(), AtomicUsize::new(0));
        let forever = || {
            let _held = Alive::new(&alive);
            checked(std::iter::repeat(())).for_each(|()| {});
        };
        let elsewhere = || {
            std::thread::scope(|scope| {
                let other = scope.spawn(inherit(forever));
                if let Err(payload) = other.join() {
                    resume_unwind(payload);
                }
            });
        };
        let (started, starts) = channel();
        let canceller = token.clone();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                starts.recv().expect("the work starts");
                canceller.cancel();
            });
            let result = token.run(|| {
                let _held = Alive::new(&alive);
                started.send(()).expect("the canceller waits");
                rayon::join(forever, elsewhere);
            });
            assert_eq!(result, Err(Cancelled));
        });
        assert_eq!(alive.load(Ordering::SeqCst), 0);
        // The calling thread keeps no token, and the token can be used again.
        check();
        token.reset();
        assert_eq!(token.run(|| 7), Ok(7));
    }

    #[test]
    fn a_panic_is_passed_on() {
        let token = CancelToken::default();
        let result = catch_unwind(|| token.run(|| std::panic::panic_any("broken")));
        let payload = result.expect_err("it panics");
        assert_eq!(payload.downcast_ref(), Some(&"broken"));
    }
}
