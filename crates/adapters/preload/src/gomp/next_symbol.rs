//! The next symbol behind each of our entry points: that of the only libgomp in the process, or
//! that of the caller's libgomp ([`crate::runtimes`]).
//!
//! The search takes no lock that a thread could hold while it runs a library's constructors: that
//! thread may wait there for its team.

use core::ffi::CStr;
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};

use super::task_frame;
use super::{
    barrier, detach, lock, region, task, taskgroup, taskloop, taskwait, teams, worksharing,
};
use crate::loaded_files::is_ours;
use crate::runtimes::{Caller, Function, Instance, Key, Resolution, RuntimeCopies, now_and_then};
use workspan_recorder::adapter::KeepErrno;

/// Everything that has GNU's entry points: copies of libgomp and of LLVM's runtime.
static GNU: RuntimeCopies = RuntimeCopies::new(c"GOMP_barrier", "GNU OpenMP", forget);

/// One of our entry points, and the next symbol of the same name.
#[repr(C)]
pub(super) struct Entry {
    /// Where a call goes if the process has one runtime: [`UNRESOLVED`], [`OURS`], or the address
    /// of a next symbol that is not libgomp's. An entry point's first instructions read it
    /// ([`super::entry_points`]).
    route: AtomicUsize,
    function: Function,
    /// Distinguishes the entries that one function serves. That function defines the values.
    pub(super) form: u8,
}

/// [`Entry::route`]: the next symbol was not looked up, or each call must be resolved again.
pub(super) const UNRESOLVED: usize = 0;
/// The next symbol is libgomp's: our function serves the entry.
pub(super) const OURS: usize = 1;

/// A flag of [`resolve`]: the key is a return address, not an outlined function.
pub(super) const KEY_IS_RETURN_ADDRESS: usize = 1;
/// The entry resolves each of its calls, so that loaded and unloaded files are noticed.
pub(super) const ASK_ALWAYS: usize = 2;
/// The call means the same inside a task of another runtime: it opens a region, or waits for a
/// lock.
pub(super) const ANY_RUNTIME: usize = 4;

// With several runtimes: the one that the current call of an entry point goes to.
workspan_recorder::tls_slot!(Called: Instance, "workspan_gomp_called");
// With one runtime: the file that made the thread's last call.
workspan_recorder::tls_slot!(pub(super) LastCaller: Caller, "workspan_gomp_caller");

impl Entry {
    pub(super) const fn new(name: &'static CStr, form: u8) -> Self {
        Entry {
            route: AtomicUsize::new(UNRESOLVED),
            function: Function::new(name),
            form,
        }
    }

    /// [`Entry::new`] for a zero-terminated name.
    pub(super) const fn named(name: &'static str, form: u8) -> Self {
        match CStr::from_bytes_with_nul(name.as_bytes()) {
            Ok(name) => Entry::new(name, form),
            Err(_) => panic!("a name with a 0 at its end"),
        }
    }

    /// The next symbol in the runtime that this thread called.
    #[inline]
    pub(super) fn next_symbol(&self) -> usize {
        match self.function.in_only() {
            0 => self.find(called()),
            found => found,
        }
    }

    /// The next symbol in this runtime; null stands for the first.
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
        // SAFETY: null or an instance, and instances are never freed.
        let runtime = unsafe { runtime.as_ref() }.or_else(|| GNU.first());
        let found = runtime.map_or(0, |runtime| self.function.find_in(&GNU, runtime));
        if found == 0 {
            // Without this library, the program's loader would not have found it either.
            eprintln!(
                "workspan: the program called {:?}, which no OpenMP runtime in it has",
                self.function.name
            );
            std::process::abort();
        }
        found
    }
}

/// The runtime of the call that this thread is in; null stands for the first one.
#[inline]
pub(super) fn called() -> *const Instance {
    let only = GNU.only();
    if only.is_null() { Called::get() } else { only }
}

/// The runtime behind the pointer; `None` if none is loaded any more.
pub(super) fn instance(runtime: *const Instance) -> Option<&'static Instance> {
    // SAFETY: null or an instance, and instances are never freed.
    unsafe { runtime.as_ref() }.or_else(|| GNU.first())
}

/// Whether both are the same runtime.
fn are_same(one: *const Instance, other: &'static Instance) -> bool {
    instance(one).is_some_and(|one| ptr::eq(one, other))
}

/// Decides where a call of an entry point goes: [`OURS`], or the next symbol's address. The entry
/// point asks if it does not know. `flags` are some of [`KEY_IS_RETURN_ADDRESS`], [`ASK_ALWAYS`]
/// and [`ANY_RUNTIME`].
pub(super) extern "C" fn resolve(entry: &Entry, key: usize, flags: usize) -> usize {
    let _errno = KeepErrno::new();
    if flags & ASK_ALWAYS != 0 {
        now_and_then(&GNU);
    }
    let inside = task_frame::runtime();
    let key = if flags & KEY_IS_RETURN_ADDRESS == 0 {
        Key::Code(key)
    } else {
        Key::Return(key)
    };
    let callee = match (key, inside) {
        // An outlined function made the call by a jump.
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
        let is_at_home = flags & ANY_RUNTIME != 0 || inside.is_none_or(|at| are_same(at, runtime));
        return if is_clear && is_at_home && !runtime.is_llvm {
            OURS
        } else {
            next
        };
    }
    let route = if runtime.is_llvm { next } else { OURS };
    entry.route.store(route, Ordering::Release);
    if GNU.has_several() {
        // A second runtime came in the meantime: from now on every call is resolved.
        entry.route.store(UNRESOLVED, Ordering::Release);
    }
    route
}

/// Discards the cached addresses of the only runtime, for all entry points.
fn forget() {
    let tables: [&[Entry]; 15] = [
        &barrier::barriers::TABLE,
        &barrier::single_copies::TABLE,
        &worksharing::starts::TABLE,
        &worksharing::nexts::TABLE,
        &worksharing::ends::TABLE,
        &detach::events::TABLE,
        &lock::locks::TABLE,
        &lock::inits::TABLE,
        &lock::unlocks::TABLE,
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
