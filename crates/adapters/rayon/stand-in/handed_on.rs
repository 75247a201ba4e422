//! A join that is left out: the real crate's, with b wrapped in a test of `migrated()` alone. What
//! that costs is measured with this file as it stands (`crates/calibrate`), so it knows nothing of
//! the others.

use rayon_core_real as real;
use rayon_core_real::FnContext;
use std::mem::{ManuallyDrop, align_of};
use std::panic::Location;
use std::ptr::{self, NonNull};

/// What joins are left out in.
pub(crate) trait LeftOut: Sized {
    /// In place of one: nobody records this thread. Never looked at.
    const NOBODYS: *const Self = align_of::<Self>() as *const Self;

    /// Runs a job of it that was taken from its deque: by a thief, or by its own thread while that
    /// waits.
    ///
    /// # Safety
    /// The job's join was handed on in `this`, and has not returned.
    unsafe fn part<R>(
        this: *const Self,
        location: &'static Location<'static>,
        run: impl FnOnce() -> R,
    ) -> R;
}

/// b of such a join: it stands beside the join, so that what is handed on is one word, as it mostly
/// is where nobody stands between.
struct Job<S, B> {
    left_out_in: *const S,
    location: &'static Location<'static>,
    /// Taken out when b runs, which it does whatever becomes of a; were it not to run, this would
    /// be leaked.
    run: ManuallyDrop<B>,
}

/// A pointer to it for b; never null, so that rayon's `Option` of the closure takes no more room.
struct Lent<S, B>(NonNull<Job<S, B>>);

// SAFETY: it goes to whoever runs b, which is `Send`; the rest is constant, or looked at as `part`
// says.
unsafe impl<S, B: Send> Send for Lent<S, B> {}

impl<S, B> Lent<S, B> {
    #[inline(always)]
    fn new(job: &Job<S, B>) -> Self {
        Lent(NonNull::from(job))
    }

    /// # Safety
    /// The join that the job is of must not have returned.
    #[inline(always)]
    unsafe fn get<'a>(self) -> &'a Job<S, B> {
        // SAFETY: passed on.
        unsafe { self.0.as_ref() }
    }
}

/// The real join, left out in that.
#[inline(always)]
pub(crate) fn handed_on<S: LeftOut, RA: Send, RB: Send>(
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
    let shared = Lent::new(&job);
    real::join_context(oper_a, move |context| {
        // SAFETY: the join returns after b, which alone looks at this.
        let job = unsafe { shared.get() };
        // SAFETY: b runs once, and nobody else looks at it.
        let oper_b = unsafe { ptr::read(&*job.run) };
        if context.migrated() && job.left_out_in != S::NOBODYS {
            // SAFETY: as above.
            unsafe { S::part(job.left_out_in, job.location, || oper_b(context)) }
        } else {
            oper_b(context)
        }
    })
}
