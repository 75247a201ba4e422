//! A skipped join: the real crate's join, with b wrapped only in a test of `migrated()`. Its cost
//! is measured with this same file (`crates/calibrate`), so it does not depend on the other files.

use rayon_core_real as real;
use rayon_core_real::FnContext;
use std::mem::{ManuallyDrop, align_of};
use std::panic::Location;
use std::ptr::{self, NonNull};

/// The subtree in which joins are skipped.
pub(crate) trait SkippedIn: Sized {
    /// A marker in place of a subtree, for a thread that is not recorded. Never dereferenced.
    const NOBODYS: *const Self = align_of::<Self>() as *const Self;

    /// Runs a job of the subtree that was taken from its deque: by a thief, or by its own thread
    /// while that waits.
    ///
    /// # Safety
    /// The job's join was handed on in `this`, and has not returned.
    unsafe fn part<R>(
        this: *const Self,
        location: &'static Location<'static>,
        run: impl FnOnce() -> R,
    ) -> R;
}

/// The closure b of such a join. It is beside the join, so that b is passed on as one word, which
/// rayon usually does if there is no layer in between.
struct Job<S, B> {
    left_out_in: *const S,
    location: &'static Location<'static>,
    /// Taken out when b runs, which it does whatever happens to a. If it did not run, this would
    /// leak.
    run: ManuallyDrop<B>,
}

/// A pointer to the job for b. It is never null, so that rayon's `Option` of the closure takes no
/// additional space.
struct JobPointer<S, B>(NonNull<Job<S, B>>);

// SAFETY: it is sent to the thread that runs b, which is `Send`; the rest is constant, or is only
// accessed as `part` requires.
unsafe impl<S, B: Send> Send for JobPointer<S, B> {}

impl<S, B> JobPointer<S, B> {
    #[inline(always)]
    fn new(job: &Job<S, B>) -> Self {
        JobPointer(NonNull::from(job))
    }

    /// # Safety
    /// The join of the job must not have returned.
    #[inline(always)]
    unsafe fn get<'a>(self) -> &'a Job<S, B> {
        // SAFETY: the caller guarantees that the join, and so the job, still exists.
        unsafe { self.0.as_ref() }
    }
}

/// The real join, skipped as a part of this subtree.
#[inline(always)]
pub(crate) fn passthrough_join<S: SkippedIn, RA: Send, RB: Send>(
    left_out_in: *const S,
    location: &'static Location<'static>,
    oper_a: impl FnOnce(FnContext) -> RA + Send,
    oper_b: impl FnOnce(FnContext) -> RB + Send,
) -> (RA, RB) {
    let job = Job {
        left_out_in,
        location,
        run: ManuallyDrop::new(oper_b),
    };
    let shared = JobPointer::new(&job);
    real::join_context(oper_a, move |context| {
        // SAFETY: the join returns after b, and only b accesses the job.
        let job = unsafe { shared.get() };
        // SAFETY: b runs once, and no other code accesses it.
        let oper_b = unsafe { ptr::read(&*job.run) };
        if context.migrated() && job.left_out_in != S::NOBODYS {
            // SAFETY: the join has not returned, as above.
            unsafe { S::part(job.left_out_in, job.location, || oper_b(context)) }
        } else {
            oper_b(context)
        }
    })
}
