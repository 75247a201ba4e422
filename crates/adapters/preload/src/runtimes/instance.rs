//! One copy of a runtime.

use core::ffi::CStr;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

use super::{RuntimeCopies, loader};
use crate::loaded_files;

/// A copy of a runtime, loaded at one address.
pub(crate) struct Instance {
    pub(super) next: AtomicPtr<Instance>,
    /// Its number within the family, from 1.
    pub(super) number: u64,
    /// Its load address.
    pub(super) bias: usize,
    pub(super) path_hash: u64,
    pub(super) is_unloaded: AtomicBool,
    /// Whether the loader was told never to unload it.
    pub(super) is_pinned: AtomicBool,
    /// Whether it is LLVM's runtime, which reports its own events through OMPT.
    pub(crate) is_llvm: bool,
    /// The number of its pool, plus one; 0 before it has one.
    pub(crate) pool: AtomicU32,
    /// The number of threads that became workers of the pool.
    pub(crate) workers: AtomicU32,
}

impl Instance {
    /// An instance that stands for no copy yet.
    pub(super) fn new() -> Instance {
        Instance {
            next: AtomicPtr::new(ptr::null_mut()),
            number: 0,
            bias: 0,
            path_hash: 0,
            is_unloaded: AtomicBool::new(false),
            is_pinned: AtomicBool::new(false),
            is_llvm: false,
            pool: AtomicU32::new(0),
            workers: AtomicU32::new(0),
        }
    }

    /// Keeps the copy loaded until the process ends. A runtime's threads run its code for a while
    /// after a region. Recording makes that time longer, so a program that unloads the runtime then
    /// would crash more often than without recording.
    pub(super) fn pin(&self) {
        use loader::{RTLD_LAZY, RTLD_NODELETE, RTLD_NOLOAD};
        if self.is_pinned.swap(true, Ordering::Relaxed) {
            return;
        }
        let mut path = Vec::with_capacity(4096);
        loaded_files::with(|objects| {
            let mut list = objects.list.iter();
            if let Some(object) = list.find(|object| object.bias == self.bias)
                && object.path().len() < path.capacity()
            {
                path.clear();
                path.extend_from_slice(object.path());
                path.push(0);
            }
        });
        if path.len() > 1 {
            // SAFETY: a C string; the flags request that a file that is not loaded stays so.
            unsafe {
                loader::dlopen(
                    path.as_ptr().cast(),
                    RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE,
                )
            };
        }
    }

    /// The number of its pool in the trace.
    pub(crate) fn pool(&self) -> u32 {
        match self.pool.load(Ordering::Acquire) {
            0 => {
                let fresh = (workspan_recorder::TABLE.pool)() + 1;
                let given =
                    self.pool
                        .compare_exchange(0, fresh, Ordering::AcqRel, Ordering::Acquire);
                given.map_or_else(|other| other, |_| fresh) - 1
            }
            number => number - 1,
        }
    }

    /// The address of its function with this name. A library preloaded behind this one comes first,
    /// as it would without us.
    pub(super) fn function(&self, family: &RuntimeCopies, name: &CStr) -> Option<usize> {
        loaded_files::with(|objects| {
            objects
                .at_start()
                .take_while(|&at| objects.list[at].function(family.symbol).is_none())
                .find_map(|at| objects.list[at].function(name))
                .or_else(|| {
                    let mut list = objects.list.iter();
                    list.find(|object| object.bias == self.bias)?.function(name)
                })
        })
    }
}
