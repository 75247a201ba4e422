//! Finds the copies of a runtime among the loaded files, and keeps the family up to date as files
//! come and go.

use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use super::{Caller, Instance, RuntimeCopies, has_changed, hash_path};
use crate::libc_symbol;
use crate::loaded_files::{self, Objects};

impl RuntimeCopies {
    /// Detects files that were loaded or unloaded since the last check. With `may_wait`, the
    /// calling thread may take the loader's long lock, because it is about to begin something that
    /// other threads wait for.
    pub(super) fn refresh(&self, may_wait: bool) {
        if has_changed(self) {
            self.look_again();
        }
        if may_wait && self.needs_loader.swap(false, Ordering::Relaxed) {
            for instance in self.loaded_instances() {
                instance.pin();
            }
            if self.has_several() {
                self.find_global();
            }
        }
    }

    /// Makes the file that contains the address a known caller of the only runtime. For code
    /// outside of any file, that is its page.
    pub(super) fn add_caller(&self, address: usize) -> &'static Caller {
        const PAGE: usize = 4096;
        let fresh: &'static Caller = Box::leak(Box::new(Caller {
            next: AtomicPtr::new(ptr::null_mut()),
            start: AtomicUsize::new(0),
            size: AtomicUsize::new(0),
        }));
        loaded_files::with(|objects| {
            let (start, end) = match objects.at(address) {
                Some(at) => (objects.list[at].start, objects.list[at].end),
                None => (address & !(PAGE - 1), (address & !(PAGE - 1)) + PAGE),
            };
            fresh.start.store(start, Ordering::Relaxed);
            // Files unloaded in the meantime have been noticed, or the next refresh notices them.
            if !self.has_several()
                && objects.changes.unloads == self.unloads.load(Ordering::Relaxed)
            {
                fresh.size.store(end - start, Ordering::Relaxed);
                let first = self.callers.load(Ordering::Relaxed);
                fresh.next.store(first, Ordering::Relaxed);
                self.callers
                    .store(ptr::from_ref(fresh).cast_mut(), Ordering::Release);
            }
        });
        fresh
    }

    /// Updates the family from the list of loaded files.
    #[cold]
    fn look_again(&self) {
        loop {
            // Allocation is not allowed under the loader's lock.
            let mut spare = Some(Box::new(Instance::new()));
            if loaded_files::with(|objects| self.update(objects, &mut spare)) {
                return;
            }
        }
    }

    /// Updates the family under the loader's lock; false if it needs another spare instance.
    fn update(&self, objects: &Objects, spare: &mut Option<Box<Instance>>) -> bool {
        let changes = objects.changes;
        if self.unloads.load(Ordering::Relaxed) != changes.unloads {
            self.mark_unloaded(objects);
            self.forget_callers();
            loaded_files::notice_unloads(changes.unloads);
        }
        if !self.add_new_instances(objects, spare) {
            return false;
        }
        let count = self.loaded_instances().count();
        if count > 1 && !self.has_several.swap(true, Ordering::AcqRel) {
            self.forget_callers();
        }
        let only = match self.loaded_instances().next() {
            Some(only) if !self.has_several() => ptr::from_ref(only).cast_mut(),
            _ => ptr::null_mut(),
        };
        if self.only.swap(only, Ordering::AcqRel) != only {
            (self.forget)();
        }
        self.clear_cache();
        self.global.store(ptr::null_mut(), Ordering::Relaxed);
        self.needs_loader.store(true, Ordering::Relaxed);
        self.loads.store(changes.loads, Ordering::Release);
        self.unloads.store(changes.unloads, Ordering::Release);
        true
    }

    fn mark_unloaded(&self, objects: &Objects) {
        for instance in self.loaded_instances() {
            let is_loaded = objects.list.iter().any(|object| {
                object.bias == instance.bias
                    && hash_path(object.path()) == instance.path_hash
                    && object.function(self.symbol).is_some()
            });
            instance.is_unloaded.store(!is_loaded, Ordering::Relaxed);
        }
    }

    fn forget_callers(&self) {
        for caller in self.callers() {
            caller.size.store(0, Ordering::Relaxed);
        }
    }

    /// Adds the copies that are not known yet; false if it needs another spare instance.
    fn add_new_instances(&self, objects: &Objects, spare: &mut Option<Box<Instance>>) -> bool {
        let ours = objects.ours();
        for (at, object) in objects.list.iter().enumerate() {
            let is_runtime = Some(at) != ours && object.function(self.symbol).is_some();
            let is_known = |bias| self.loaded_instances().any(|known| known.bias == bias);
            if !is_runtime || is_known(object.bias) {
                continue;
            }
            let Some(mut fresh) = spare.take() else {
                return false;
            };
            let newest = self.instances.load(Ordering::Relaxed);
            // SAFETY: null or an instance, and instances are never freed.
            let count = unsafe { newest.as_ref() }.map_or(0, |newest| newest.number);
            *fresh = Instance {
                next: AtomicPtr::new(newest),
                number: count + 1,
                bias: object.bias,
                path_hash: hash_path(object.path()),
                is_llvm: object.function(c"__kmpc_fork_call").is_some(),
                ..*fresh
            };
            self.instances
                .store(Box::into_raw(fresh), Ordering::Release);
        }
        true
    }

    /// Finds the copy that was made global after the program's start. Only `dlsym` knows it.
    #[cold]
    fn find_global(&self) {
        let found = libc_symbol::look_up(self.symbol);
        if found == 0 {
            return;
        }
        let bias = loaded_files::base_of(found);
        let mut instances = self.loaded_instances();
        if let Some(global) = instances.find(|instance| Some(instance.bias) == bias) {
            let global = ptr::from_ref(global).cast_mut();
            self.global.store(global, Ordering::Relaxed);
            self.clear_cache();
        }
    }
}
