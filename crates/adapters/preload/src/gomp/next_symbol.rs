//! The real functions behind our entry points: of the one libgomp that a process has as a rule, or of the caller's
//! ([`crate::runtimes`]). They are looked for without a lock that a thread could hold which runs a library's constructors, and waits for
//! its team there.

use core::ffi::CStr;
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};

use super::task_frame;
use super::{
    barrier, detach, lock, region, task, taskgroup, taskloop, taskwait, teams, worksharing,
};
use crate::loaded_files::is_ours;
use crate::runtimes::{Caller, Family, Function, Instance, Key, Resolution, now_and_then};
use workspan_recorder::adapter::KeepErrno;

/// Whatever has GNU's entry points: copies of libgomp, and of LLVM's runtime.
static GNU: Family = Family::new(c"GOMP_barrier", "GNU OpenMP", forget);

/// An entry point of ours and the function it stands in front of.
#[repr(C)]
pub(super) struct Entry {
    /// Where calls of a process with one runtime go, read by an entry point's first instructions ([`super::entry_points`]):
    /// [`UNRESOLVED`], [`OURS`], or to the real function, which is not libgomp's.
    route: AtomicUsize,
    function: Function,
    /// What tells apart the entries that one function of ours serves; that function says what it means.
    pub(super) form: u8,
}

/// [`Entry::route`]: the real function was not looked for yet, or each call has to ask whose it is.
pub(super) const UNRESOLVED: usize = 0;
/// It is libgomp's: our function serves the entry.
pub(super) const OURS: usize = 1;

/// How an entry point asks ([`resolve`]): its key is a return address, and not an outlined function.
pub(super) const KEY_IS_RETURN_ADDRESS: usize = 1;
/// It asks at each call, so what was loaded and unloaded is noticed.
pub(super) const ASK_ALWAYS: usize = 2;
/// Its call means the same in a task of another runtime: it opens a region, or waits for a lock.
pub(super) const ANY_RUNTIME: usize = 4;

// The runtime of the entry point's call that the thread is in, where there are several.
workspan_recorder::thread_word!(Called: Instance, "workspan_gomp_called");
// The file that last called on this thread, in a process with one runtime.
workspan_recorder::thread_word!(pub(super) LastCaller: Caller, "workspan_gomp_caller");

impl Entry {
    pub(super) const fn new(name: &'static CStr, form: u8) -> Self {
        Entry {
            route: AtomicUsize::new(UNRESOLVED),
            function: Function::new(name),
            form,
        }
    }

    /// The same of a name that ends with a 0.
    pub(super) const fn named(name: &'static str, form: u8) -> Self {
        match CStr::from_bytes_with_nul(name.as_bytes()) {
            Ok(name) => Entry::new(name, form),
            Err(_) => panic!("a name with a 0 at its end"),
        }
    }

    /// The real function's address, of the runtime that this thread called.
    #[inline]
    pub(super) fn next_symbol(&self) -> usize {
        match self.function.in_only() {
            0 => self.find(called()),
            found => found,
        }
    }

    /// That of this runtime; null: of the first.
    #[inline]
    pub(super) fn next_symbol_of(&self, runtime: *const Instance) -> usize {
        match self.function.in_only() {
            0 => self.find(runtime),
            found => found,
        }
    }

    #[cold]
    fn find(&self, runtime: *const Instance) -> usize {
        let _errno = KeepErrno::new();
        // SAFETY: runtimes are never freed.
        let runtime = unsafe { runtime.as_ref() }.or_else(|| GNU.first());
        let found = runtime.map_or(0, |runtime| self.function.find_in(&GNU, runtime));
        if found == 0 {
            // Without this library the program's loader would have found nothing either.
            eprintln!(
                "workspan: the program called {:?}, which no OpenMP runtime in it has",
                self.function.name
            );
            std::process::abort();
        }
        found
    }
}

/// The runtime of the call that this thread is in; null: the first.
#[inline]
pub(super) fn called() -> *const Instance {
    let only = GNU.only();
    if only.is_null() { Called::get() } else { only }
}

/// The runtime itself; `None` where none is loaded any more.
pub(super) fn instance(runtime: *const Instance) -> Option<&'static Instance> {
    // SAFETY: runtimes are never freed.
    unsafe { runtime.as_ref() }.or_else(|| GNU.first())
}

/// Whether these are the same runtime.
fn are_same(one: *const Instance, other: &'static Instance) -> bool {
    instance(one).is_some_and(|one| ptr::eq(one, other))
}

/// What an entry point calls while it does not know where the call goes: [`OURS`], or the real function's address. `how` is some of
/// [`KEY_IS_RETURN_ADDRESS`], [`ASK_ALWAYS`] and [`ANY_RUNTIME`].
pub(super) extern "C" fn resolve(entry: &Entry, key: usize, how: usize) -> usize {
    let _errno = KeepErrno::new();
    if how & ASK_ALWAYS != 0 {
        now_and_then(&GNU);
    }
    let inside = task_frame::runtime();
    let key = if how & KEY_IS_RETURN_ADDRESS == 0 {
        Key::Code(key)
    } else {
        Key::Return(key)
    };
    let callee = match (key, inside) {
        // Called by a jump from an outlined function.
        (Key::Return(address), Some(inside)) if GNU.has_several() && is_ours(address) => {
            instance(inside).map_or(Resolution::Missing, |runtime| {
                Resolution::Runtime(runtime, None)
            })
        }
        _ => GNU.resolve(key),
    };
    let (runtime, is_clear) = match callee {
        Resolution::Runtime(runtime, caller) => {
            if let Some(caller) = caller {
                LastCaller::set(ptr::from_ref(caller).cast_mut());
            }
            (runtime, true)
        }
        Resolution::Ambiguous | Resolution::Missing => {
            match inside.map_or_else(|| GNU.first(), instance) {
                Some(runtime) => (runtime, false),
                None => return entry.find(ptr::null()),
            }
        }
    };
    let next = entry.find(runtime);
    if GNU.has_several() {
        Called::set(ptr::from_ref(runtime).cast_mut());
        let is_at_home = how & ANY_RUNTIME != 0 || inside.is_none_or(|at| are_same(at, runtime));
        return if is_clear && is_at_home && !runtime.is_llvm {
            OURS
        } else {
            next
        };
    }
    let route = if runtime.is_llvm { next } else { OURS };
    entry.route.store(route, Ordering::Release);
    if GNU.has_several() {
        // Another one came meanwhile: every call asks from now on.
        entry.route.store(UNRESOLVED, Ordering::Release);
    }
    route
}

/// Forgets what is known of the one runtime, for all entry points.
fn forget() {
    let tables: [&[Entry]; 14] = [
        &barrier::barriers::TABLE,
        &barrier::single_copies::TABLE,
        &worksharing::starts::TABLE,
        &worksharing::nexts::TABLE,
        &worksharing::ends::TABLE,
        &detach::events::TABLE,
        &lock::locks::TABLE,
        &lock::inits::TABLE,
        &region::regions::TABLE,
        &region::starts::TABLE,
        &region::ends::TABLE,
        &taskgroup::starts::TABLE,
        &taskgroup::ends::TABLE,
        &teams::leagues::TABLE,
    ];
    let alone = [
        &region::THREAD_NUMBER,
        &region::THREADS,
        &task::TASK,
        &taskloop::TASKLOOP,
        &taskloop::TASKLOOP_ULL,
        &taskwait::TASKWAIT,
        &taskwait::TASKWAIT_DEPEND,
    ];
    for entry in tables.into_iter().flatten().chain(alone) {
        entry.route.store(UNRESOLVED, Ordering::Release);
        entry.function.forget();
    }
}
