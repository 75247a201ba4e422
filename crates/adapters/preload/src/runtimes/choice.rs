//! Chooses among several copies of a runtime, as the loader did when it bound the caller's file.
//!
//! In this order: a copy that was loaded at the program's start, because those are first in the
//! global scope; a copy among the dependencies of the caller's file; a copy that was made global
//! later; the one copy that all files depending on the caller's file have.

use core::sync::atomic::Ordering;

use super::{AMBIGUOUS, Key, NUMBER_BITS, Resolution, RuntimeCopies, cache_slot, note};
use crate::loaded_files::{self, Object, Objects};

impl RuntimeCopies {
    #[cold]
    pub(super) fn choose_instance(&self, key: Key) -> Resolution {
        let code = match key {
            Key::Code(address) => address,
            Key::Return(address) => calling_function(address),
        };
        let bias = loaded_files::with(|objects| self.choose(objects, code));
        let found = bias.and_then(|bias| self.loaded_instances().find(|i| i.bias == bias));
        let address = key.address() as u64;
        let number = found.map_or(AMBIGUOUS, |instance| instance.number);
        if address >> (64 - NUMBER_BITS) == 0 && (number < AMBIGUOUS || found.is_none()) {
            self.cache[cache_slot(key.address())]
                .store(address << NUMBER_BITS | number, Ordering::Relaxed);
        }
        match found {
            Some(found) => Resolution::Runtime(found, None),
            None => {
                self.warn(code);
                Resolution::Ambiguous
            }
        }
    }

    /// The load address of the copy that this code's calls are bound to.
    fn choose(&self, objects: &mut Objects, code: usize) -> Option<usize> {
        let ours = objects.ours();
        let bias = |objects: &Objects, at: usize| objects.list[at].bias;
        let our_bias = ours.map(|at| bias(objects, at));
        let is_runtime = |object: &Object| {
            Some(object.bias) != our_bias && object.function(self.symbol).is_some()
        };
        let mut at_start = objects.at_start();
        if let Some(at) = at_start.find(|&at| is_runtime(&objects.list[at])) {
            return Some(bias(objects, at));
        }
        // SAFETY: null or an instance, and instances are never freed.
        let global = unsafe { self.global.load(Ordering::Relaxed).as_ref() };
        let global = global.and_then(|global| {
            let mut list = objects.list.iter();
            list.position(|object| object.bias == global.bias)
        });
        let caller = objects.at(code).filter(|&at| Some(at) != ours);
        let own = caller.and_then(|caller| objects.in_tree(caller, is_runtime));
        let found = match (global, own) {
            // The caller's file was bound before the other copy became global.
            (Some(global), Some(own)) if caller < Some(global) => own,
            (Some(global), _) => global,
            (None, Some(own)) => own,
            (None, None) => return self.choose_by_dependents(objects, caller?, is_runtime),
        };
        Some(bias(objects, found))
    }

    /// For a file without a copy of its own: the copy that all files which depend on it share.
    fn choose_by_dependents(
        &self,
        objects: &mut Objects,
        caller: usize,
        is_runtime: impl Fn(&Object) -> bool + Copy,
    ) -> Option<usize> {
        let mut found = None;
        for root in 0..objects.list.len() {
            if root == caller || !objects.depends(root, caller) {
                continue;
            }
            match (objects.in_tree(root, is_runtime), found) {
                (Some(one), Some(other)) if one != other => return None,
                (Some(one), _) => found = Some(one),
                (None, _) => {}
            }
        }
        found.map(|at| objects.list[at].bias)
    }

    /// Warns, once, that calls from this code are not recorded.
    #[cold]
    fn warn(&self, code: usize) {
        if self.has_warned.swap(true, Ordering::Relaxed) {
            return;
        }
        // A buffer on the stack: allocation is not allowed under the loader's lock.
        let mut path = [0u8; 256];
        let length = loaded_files::with(|objects| {
            let Some(at) = objects.at(code) else { return 0 };
            let from = objects.list[at].path();
            let length = from.len().min(path.len());
            path[..length].copy_from_slice(&from[..length]);
            length
        });
        let path = String::from_utf8_lossy(&path[..length]);
        let caller = match &*path {
            "" => "code in the program itself or in no file",
            path => path,
        };
        let name = self.name;
        note(
            "warning",
            &format!(
                "Calls of {name} by {caller} were not recorded: the process has several copies of \
                 {name}, and it is unknown which of them the caller uses"
            ),
        );
    }
}

/// The code of the function that made the call which returns to this address.
#[cfg(target_arch = "x86_64")]
fn calling_function(address: usize) -> usize {
    crate::call_instruction::calling_function(address)
}

#[cfg(not(target_arch = "x86_64"))]
fn calling_function(address: usize) -> usize {
    address
}
