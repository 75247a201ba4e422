//! Finds the runtime to which a call of one of our entry points has to go.
//!
//! A process may contain several copies of one runtime: each Python wheel has its own libgomp. Each
//! copy has its own threads and teams and is independent of the others. This library is first in
//! the global scope, so every caller's `GOMP_parallel` is *our* `GOMP_parallel`, and it must call
//! the function that the caller would have reached without us.
//!
//! * While a process has *one* runtime of a [`RuntimeCopies`], every call goes there, and only a
//!   second one has to be detected. A call goes on only after the caller's file is known, and
//!   looking up a file includes a check of the current list of loaded files.
//! * With *several*, the caller's file decides ([`choice`]).
//! * If no file decides, the call goes to the runtime whose region the thread is in, else to the
//!   first one. The call is then not recorded, and a warning in the trace says so.
//!
//! `README.md` beside this file has the rules and an example. The submodules: [`discovery`] finds
//! the copies, [`choice`] picks one for a caller, [`instance`] is one copy, [`function`] remembers
//! the address of a function in each copy.
//!
//! No lock is taken except the loader's, for its list, so a fork can't leave one locked. A family's
//! state changes only under that lock. Entries of the lists are never freed, because other threads
//! may still read them.

mod choice;
mod discovery;
mod function;
mod instance;

use core::ffi::CStr;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use workspan_trace::fnv::fnv1a;

use crate::loaded_files;

pub(crate) use function::Function;
pub(crate) use instance::Instance;

/// A range of memory whose code calls the only runtime of a family.
#[repr(C)]
pub(crate) struct Caller {
    next: AtomicPtr<Caller>,
    pub(crate) start: AtomicUsize,
    /// The size in bytes; 0 once the range may contain other code.
    pub(crate) size: AtomicUsize,
}

impl Caller {
    /// Whether the address is in the range.
    #[inline(always)]
    pub(crate) fn contains(&self, address: usize) -> bool {
        address.wrapping_sub(self.start.load(Ordering::Relaxed)) < self.size.load(Ordering::Relaxed)
    }
}

const CACHE_ENTRIES: usize = 1024;
const NUMBER_BITS: u32 = 16;
/// An entry of [`RuntimeCopies::cache`] with this number: the search found no runtime.
const AMBIGUOUS: u64 = (1 << NUMBER_BITS) - 1;

/// All copies of one kind of runtime in the process.
pub(crate) struct RuntimeCopies {
    /// The function that identifies such a runtime.
    symbol: &'static CStr,
    /// The family's name in the warning.
    name: &'static str,
    /// Discards the cached addresses of the only runtime's functions.
    forget: fn(),
    /// The only runtime; null while none is known, and for ever once there are several.
    only: AtomicPtr<Instance>,
    has_several: AtomicBool,
    /// A list of all copies, newest first.
    instances: AtomicPtr<Instance>,
    /// A list of the files that call the only runtime.
    callers: AtomicPtr<Caller>,
    /// Counts of loaded and unloaded files at the last look at the loader's list.
    loads: AtomicU64,
    unloads: AtomicU64,
    /// The copy that was made global after the program's start, if it was looked for.
    global: AtomicPtr<Instance>,
    /// Set when the list has changed: the global copy must be looked for, and new copies pinned.
    needs_loader: AtomicBool,
    /// For several copies: caller addresses (upper bits) and [`Instance::number`]s.
    cache: [AtomicU64; CACHE_ENTRIES],
    has_warned: AtomicBool,
    /// When [`now_and_then`] last looked for changes, in ticks.
    last_look: AtomicU64,
}

/// The address that decides where a call goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Key {
    /// An address in the caller's code.
    Code(usize),
    /// The call's return address. It is in another file if the caller made the call by a jump.
    Return(usize),
}

impl Key {
    /// The address itself.
    pub(crate) fn address(self) -> usize {
        match self {
            Key::Code(address) | Key::Return(address) => address,
        }
    }
}

/// Where a call goes.
#[derive(Clone, Copy)]
pub(crate) enum Resolution {
    /// To this runtime. If it is the only one, the caller's file is known from now on.
    Runtime(&'static Instance, Option<&'static Caller>),
    /// Several runtimes are possible.
    Ambiguous,
    /// No loaded file has the family's functions.
    Missing,
}

impl RuntimeCopies {
    pub(crate) const fn new(
        symbol: &'static CStr,
        name: &'static str,
        forget: fn(),
    ) -> RuntimeCopies {
        RuntimeCopies {
            symbol,
            name,
            forget,
            only: AtomicPtr::new(ptr::null_mut()),
            has_several: AtomicBool::new(false),
            instances: AtomicPtr::new(ptr::null_mut()),
            callers: AtomicPtr::new(ptr::null_mut()),
            loads: AtomicU64::new(u64::MAX),
            unloads: AtomicU64::new(u64::MAX),
            global: AtomicPtr::new(ptr::null_mut()),
            needs_loader: AtomicBool::new(false),
            cache: [const { AtomicU64::new(0) }; CACHE_ENTRIES],
            has_warned: AtomicBool::new(false),
            last_look: AtomicU64::new(0),
        }
    }

    /// Whether the process has, or once had, several copies.
    #[inline]
    pub(crate) fn has_several(&self) -> bool {
        self.has_several.load(Ordering::Acquire)
    }

    /// The only copy, or the oldest one.
    pub(crate) fn first(&self) -> Option<&'static Instance> {
        self.only_instance()
            .or_else(|| self.loaded_instances().find(|i| i.number == 1))
            .or_else(|| self.loaded_instances().last())
    }

    /// The only copy; null if there are several or none.
    #[inline]
    pub(crate) fn only(&self) -> *const Instance {
        self.only.load(Ordering::Acquire)
    }

    fn only_instance(&self) -> Option<&'static Instance> {
        // SAFETY: null or an instance, and instances are never freed.
        unsafe { self.only.load(Ordering::Acquire).as_ref() }
    }

    /// The copies that are still loaded, newest first.
    fn loaded_instances(&self) -> impl Iterator<Item = &'static Instance> {
        // SAFETY: null or an instance, and instances are never freed.
        let mut next = unsafe { self.instances.load(Ordering::Acquire).as_ref() };
        core::iter::from_fn(move || {
            let found = next?;
            // SAFETY: the list holds instances alone, and instances are never freed.
            next = unsafe { found.next.load(Ordering::Acquire).as_ref() };
            Some(found)
        })
        .filter(|instance| !instance.is_unloaded.load(Ordering::Relaxed))
    }

    fn callers(&self) -> impl Iterator<Item = &'static Caller> {
        // SAFETY: null or a caller, and callers are never freed.
        let mut next = unsafe { self.callers.load(Ordering::Acquire).as_ref() };
        core::iter::from_fn(move || {
            let found = next?;
            // SAFETY: the list holds callers alone, and callers are never freed.
            next = unsafe { found.next.load(Ordering::Acquire).as_ref() };
            Some(found)
        })
    }

    /// Notices files that were loaded or unloaded, without waiting for the loader.
    pub(crate) fn look(&self) {
        self.refresh(false);
    }

    /// Resolves a call. The address must not be in this library.
    #[cold]
    #[inline(never)]
    pub(crate) fn resolve(&'static self, key: Key) -> Resolution {
        if let Some(known) = self.cached(key) {
            return known;
        }
        self.refresh(false);
        if let Some(known) = self.cached(key) {
            return known;
        }
        match self.only_instance() {
            Some(only) => Resolution::Runtime(only, Some(self.add_caller(key.address()))),
            None if self.has_several() => self.choose_instance(key),
            None => Resolution::Missing,
        }
    }

    fn cached(&self, key: Key) -> Option<Resolution> {
        let address = key.address();
        if let Some(only) = self.only_instance() {
            let caller = self.callers().find(|caller| caller.contains(address))?;
            return Some(Resolution::Runtime(only, Some(caller)));
        }
        let entry = self.cache[cache_slot(address)].load(Ordering::Relaxed);
        if entry >> NUMBER_BITS != address as u64 || !self.has_several() {
            return None;
        }
        match entry & AMBIGUOUS {
            AMBIGUOUS => Some(Resolution::Ambiguous),
            number => {
                let mut instances = self.loaded_instances();
                let found = instances.find(|instance| instance.number == number)?;
                Some(Resolution::Runtime(found, None))
            }
        }
    }

    fn clear_cache(&self) {
        for entry in &self.cache {
            entry.store(0, Ordering::Relaxed);
        }
    }
}

fn cache_slot(address: usize) -> usize {
    address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54
}

/// Checks for loaded and unloaded files, unless that was done a moment ago: loading a file takes
/// longer than that. For calls that begin something that other threads wait for.
#[inline]
pub(crate) fn now_and_then(family: &RuntimeCopies) {
    #[cfg(target_arch = "x86_64")]
    {
        const MIN_TICKS: u64 = 8192;
        // SAFETY: every processor of this architecture has the instruction.
        let now = unsafe { core::arch::x86_64::_rdtsc() };
        if now.wrapping_sub(family.last_look.load(Ordering::Relaxed)) <= MIN_TICKS {
            return;
        }
        family.last_look.store(now, Ordering::Relaxed);
    }
    family.refresh(true);
}

/// Adds a fact to the trace.
pub(crate) fn note(key: &str, value: &str) {
    (workspan_recorder::TABLE.note)(key.as_ptr(), key.len(), value.as_ptr(), value.len());
}

/// Dynamic-loader functions and constants that the submodules use.
mod loader {
    use core::ffi::{c_char, c_int, c_void};

    pub(super) const RTLD_LAZY: c_int = 1;
    pub(super) const RTLD_NOLOAD: c_int = 4;
    pub(super) const RTLD_NODELETE: c_int = 0x1000;

    unsafe extern "C" {
        pub(super) fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    }
}

fn hash_path(path: &[u8]) -> u64 {
    fnv1a(path.iter().copied())
}

/// Whether the list of loaded files has changed since `family` last looked.
fn has_changed(family: &RuntimeCopies) -> bool {
    let changes = loaded_files::changes();
    changes.loads != family.loads.load(Ordering::Acquire)
        || changes.unloads != family.unloads.load(Ordering::Acquire)
}
