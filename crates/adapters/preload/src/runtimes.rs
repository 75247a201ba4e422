//! Which runtime's function a call goes to. A process may hold several of one kind: each Python wheel brings a libgomp of its own,
//! and each copy has threads and teams of its own, of which the others know nothing. All their users call *our* function of a name, as
//! it is the first in the global scope; it has to go on to the one the caller would have come to without us.
//!
//! * While a process has *one* runtime of a family, every call is for that. It is only to be noticed when there is another one: no call
//!   goes on before the caller's file is known, and a file is known once it was looked at with the list of loaded files as it was then.
//! * With *several*, the caller's file decides ([`Objects`]): what was loaded at the start of the program comes first, as it is in the
//!   global scope, then what the file depends on, then what was made global later, then what those depend on that depend on the file.
//! * What can't be told apart goes to the runtime whose region the thread is in, else to the first one, unrecorded, and a warning says so.
//!
//! Nothing here takes a lock but the loader's for its list, so a fork can't leave one locked. A family's state changes under that lock.
//! What was made is never freed: other threads may still look at it.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use crate::loaded::{self, Objects};

/// A copy of a runtime.
pub(crate) struct Instance {
    next: AtomicPtr<Instance>,
    /// Counted from 1 in its family.
    number: u64,
    bias: usize,
    /// Of its path.
    name: u64,
    /// It was unloaded.
    gone: AtomicBool,
    /// It is not unloaded any more.
    stays: AtomicBool,
    /// It is LLVM's, which tells of itself by OMPT.
    pub(crate) is_llvm: bool,
    /// The number of its pool, plus one; 0 while it has no pool.
    pub(crate) pool: AtomicU32,
    /// Threads that became workers of the pool.
    pub(crate) workers: AtomicU32,
}

/// A part of memory whose code calls the family's one runtime.
#[repr(C)]
pub(crate) struct Caller {
    next: AtomicPtr<Caller>,
    pub(crate) start: AtomicUsize,
    /// 0 when that is not known any more.
    pub(crate) size: AtomicUsize,
}

impl Caller {
    /// Whether the address lies in it.
    #[inline(always)]
    pub(crate) fn holds(&self, address: usize) -> bool {
        address.wrapping_sub(self.start.load(Ordering::Relaxed)) < self.size.load(Ordering::Relaxed)
    }
}

const CACHED: usize = 1024;
const NUMBER_BITS: u32 = 16;
/// [`Family::cache`]: it could not be told.
const UNKNOWN: u64 = (1 << NUMBER_BITS) - 1;

/// Runtimes of one kind.
pub(crate) struct Family {
    /// The function by which they are known.
    symbol: &'static CStr,
    /// For the warning.
    what: &'static str,
    /// Forgets the functions of the one runtime.
    forget: fn(),
    /// The one runtime; null while none is known, and from when there are several.
    one: AtomicPtr<Instance>,
    are_several: AtomicBool,
    /// All, and files that call the one.
    instances: AtomicPtr<Instance>,
    callers: AtomicPtr<Caller>,
    /// Of the list of loaded files, when it was last looked at.
    loads: AtomicU64,
    unloads: AtomicU64,
    /// The instance that was made global after the start, if it was looked for.
    global: AtomicPtr<Instance>,
    /// That has to be looked for, and the loader to be told that what was found stays.
    ask_global: AtomicBool,
    /// With several: addresses (upper bits), and whose they are ([`Instance::number`]).
    cache: [AtomicU64; CACHED],
    has_warned: AtomicBool,
    /// The time at which changes were last looked for, in ticks.
    looked: AtomicU64,
}

/// What decides a call.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Key {
    /// Code of the caller's file.
    Code(usize),
    /// Where the call returns to; that is another file's code where the caller ended with a jump to us.
    Return(usize),
}

impl Key {
    /// That of the code, or where it returns to.
    pub(crate) fn address(self) -> usize {
        match self {
            Key::Code(address) | Key::Return(address) => address,
        }
    }
}

/// Whom a call goes to.
#[derive(Clone, Copy)]
pub(crate) enum Callee {
    /// This runtime; the caller's file is known from now on if it is the only one.
    Is(&'static Instance, Option<&'static Caller>),
    /// It can't be told.
    Unclear,
    /// No file has the family's functions.
    Missing,
}

impl Family {
    pub(crate) const fn new(symbol: &'static CStr, what: &'static str, forget: fn()) -> Family {
        Family {
            symbol,
            what,
            forget,
            one: AtomicPtr::new(ptr::null_mut()),
            are_several: AtomicBool::new(false),
            instances: AtomicPtr::new(ptr::null_mut()),
            callers: AtomicPtr::new(ptr::null_mut()),
            loads: AtomicU64::new(u64::MAX),
            unloads: AtomicU64::new(u64::MAX),
            global: AtomicPtr::new(ptr::null_mut()),
            ask_global: AtomicBool::new(false),
            cache: [const { AtomicU64::new(0) }; CACHED],
            has_warned: AtomicBool::new(false),
            looked: AtomicU64::new(0),
        }
    }

    /// Whether there are, or were, several.
    #[inline]
    pub(crate) fn are_several(&self) -> bool {
        self.are_several.load(Ordering::Acquire)
    }

    /// The one there is, or the first that was there.
    pub(crate) fn first(&self) -> Option<&'static Instance> {
        // SAFETY: instances live for ever.
        unsafe { self.one.load(Ordering::Acquire).as_ref() }
            .or_else(|| self.live().find(|i| i.number == 1))
            .or_else(|| self.live().last())
    }

    /// The one there is; null when there are several, or none.
    #[inline]
    pub(crate) fn only(&self) -> *const Instance {
        self.one.load(Ordering::Acquire)
    }

    /// Those that were not unloaded, the newest first.
    fn live(&self) -> impl Iterator<Item = &'static Instance> {
        // SAFETY: instances live for ever.
        let mut at = unsafe { self.instances.load(Ordering::Acquire).as_ref() };
        core::iter::from_fn(move || {
            let found = at?;
            // SAFETY: as above.
            at = unsafe { found.next.load(Ordering::Acquire).as_ref() };
            Some(found)
        })
        .filter(|instance| !instance.gone.load(Ordering::Relaxed))
    }

    fn callers(&self) -> impl Iterator<Item = &'static Caller> {
        // SAFETY: callers live for ever.
        let mut at = unsafe { self.callers.load(Ordering::Acquire).as_ref() };
        core::iter::from_fn(move || {
            let found = at?;
            // SAFETY: as above.
            at = unsafe { found.next.load(Ordering::Acquire).as_ref() };
            Some(found)
        })
    }

    /// Notices what was loaded and unloaded since somebody looked. `may_wait`: the calling thread may take the lock of the loader, as it is about
    /// to begin what other threads wait for.
    pub(crate) fn refresh(&self, may_wait: bool) {
        let changes = loaded::changes();
        if changes.loads != self.loads.load(Ordering::Acquire)
            || changes.unloads != self.unloads.load(Ordering::Acquire)
        {
            self.look_again();
        }
        if may_wait && self.ask_global.swap(false, Ordering::Relaxed) {
            for instance in self.live() {
                instance.stay();
            }
            if self.are_several() {
                self.look_for_global();
            }
        }
    }

    /// Whom a call goes to that this address decides.
    #[cold]
    #[inline(never)]
    pub(crate) fn callee(&'static self, key: Key) -> Callee {
        if let Some(known) = self.known(key) {
            return known;
        }
        self.refresh(false);
        if let Some(known) = self.known(key) {
            return known;
        }
        // SAFETY: instances live for ever.
        match unsafe { self.one.load(Ordering::Acquire).as_ref() } {
            Some(one) => Callee::Is(one, Some(self.add_caller(key.address()))),
            None if self.are_several() => self.of_several(key),
            None => Callee::Missing,
        }
    }

    fn known(&self, key: Key) -> Option<Callee> {
        let address = key.address();
        // SAFETY: instances live for ever.
        if let Some(one) = unsafe { self.one.load(Ordering::Acquire).as_ref() } {
            let caller = self.callers().find(|caller| caller.holds(address))?;
            return Some(Callee::Is(one, Some(caller)));
        }
        let entry = self.cache[slot(address)].load(Ordering::Relaxed);
        if entry >> NUMBER_BITS != address as u64 || !self.are_several() {
            return None;
        }
        match entry & UNKNOWN {
            UNKNOWN => Some(Callee::Unclear),
            number => {
                let found = self.live().find(|instance| instance.number == number)?;
                Some(Callee::Is(found, None))
            }
        }
    }

    /// Makes the file of an address known as a caller of the one runtime; code in no file, its page.
    fn add_caller(&self, address: usize) -> &'static Caller {
        const PAGE: usize = 4096;
        let fresh: &'static Caller = Box::leak(Box::new(Caller {
            next: AtomicPtr::new(ptr::null_mut()),
            start: AtomicUsize::new(0),
            size: AtomicUsize::new(0),
        }));
        loaded::with(|objects| {
            let (start, end) = match objects.at(address) {
                Some(at) => (objects.list[at].start, objects.list[at].end),
                None => (address & !(PAGE - 1), (address & !(PAGE - 1)) + PAGE),
            };
            fresh.start.store(start, Ordering::Relaxed);
            // What was unloaded meanwhile has been noticed, or is when the next asks.
            if !self.are_several()
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

    /// Brings the state up to date with the list of loaded files.
    #[cold]
    fn look_again(&self) {
        loop {
            // No byte may be allocated under the loader's lock.
            let mut spare = Some(Box::new(Instance {
                next: AtomicPtr::new(ptr::null_mut()),
                number: 0,
                bias: 0,
                name: 0,
                gone: AtomicBool::new(false),
                stays: AtomicBool::new(false),
                is_llvm: false,
                pool: AtomicU32::new(0),
                workers: AtomicU32::new(0),
            }));
            if loaded::with(|objects| self.update(objects, &mut spare)) {
                return;
            }
        }
    }

    /// The same under the lock; false when it has used up the spare instance.
    fn update(&self, objects: &Objects, spare: &mut Option<Box<Instance>>) -> bool {
        let changes = objects.changes;
        let ours = objects.ours();
        if self.unloads.load(Ordering::Relaxed) != changes.unloads {
            for instance in self.live() {
                let is_there = objects.list.iter().any(|object| {
                    object.bias == instance.bias
                        && hash(object.path()) == instance.name
                        && object.function(self.symbol).is_some()
                });
                instance.gone.store(!is_there, Ordering::Relaxed);
            }
            for caller in self.callers() {
                caller.size.store(0, Ordering::Relaxed);
            }
            loaded::notice_unloads(changes.unloads);
        }
        for (at, object) in objects.list.iter().enumerate() {
            let is_runtime = Some(at) != ours && object.function(self.symbol).is_some();
            if !is_runtime || self.live().any(|known| known.bias == object.bias) {
                continue;
            }
            let Some(mut fresh) = spare.take() else {
                return false;
            };
            let newest = self.instances.load(Ordering::Relaxed);
            // SAFETY: instances live for ever.
            let count = unsafe { newest.as_ref() }.map_or(0, |newest| newest.number);
            *fresh = Instance {
                next: AtomicPtr::new(newest),
                number: count + 1,
                bias: object.bias,
                name: hash(object.path()),
                is_llvm: object.function(c"__kmpc_fork_call").is_some(),
                ..*fresh
            };
            self.instances
                .store(Box::into_raw(fresh), Ordering::Release);
        }
        let count = self.live().count();
        if count > 1 && !self.are_several.swap(true, Ordering::AcqRel) {
            for caller in self.callers() {
                caller.size.store(0, Ordering::Relaxed);
            }
        }
        let one = match self.live().next() {
            Some(one) if !self.are_several() => ptr::from_ref(one).cast_mut(),
            _ => ptr::null_mut(),
        };
        if self.one.swap(one, Ordering::AcqRel) != one {
            (self.forget)();
        }
        for entry in &self.cache {
            entry.store(0, Ordering::Relaxed);
        }
        self.global.store(ptr::null_mut(), Ordering::Relaxed);
        self.ask_global.store(true, Ordering::Relaxed);
        self.loads.store(changes.loads, Ordering::Release);
        self.unloads.store(changes.unloads, Ordering::Release);
        true
    }

    /// What was made global after the start of the program only `dlsym` knows.
    #[cold]
    fn look_for_global(&self) {
        unsafe extern "C" {
            fn dlsym(scope: *mut c_void, name: *const c_char) -> *mut c_void;
        }
        /// `RTLD_NEXT`.
        const NEXT: *mut c_void = usize::MAX as *mut c_void;
        // SAFETY: the name is a C string.
        let found = unsafe { dlsym(NEXT, self.symbol.as_ptr()) } as usize;
        if found == 0 {
            return;
        }
        let bias = loaded::base_of(found);
        if let Some(global) = self.live().find(|instance| Some(instance.bias) == bias) {
            self.global
                .store(ptr::from_ref(global).cast_mut(), Ordering::Relaxed);
            for entry in &self.cache {
                entry.store(0, Ordering::Relaxed);
            }
        }
    }

    #[cold]
    fn of_several(&self, key: Key) -> Callee {
        let code = match key {
            Key::Code(address) => address,
            Key::Return(address) => caller(address),
        };
        let bias = loaded::with(|objects| self.choose(objects, code));
        let found = bias.and_then(|bias| self.live().find(|i| i.bias == bias));
        let address = key.address() as u64;
        let number = found.map_or(UNKNOWN, |instance| instance.number);
        if address >> (64 - NUMBER_BITS) == 0 && (number < UNKNOWN || found.is_none()) {
            self.cache[slot(key.address())]
                .store(address << NUMBER_BITS | number, Ordering::Relaxed);
        }
        match found {
            Some(found) => Callee::Is(found, None),
            None => {
                self.warn(code);
                Callee::Unclear
            }
        }
    }

    /// Where the runtime is loaded that this code's calls go to.
    fn choose(&self, objects: &mut Objects, code: usize) -> Option<usize> {
        let ours = objects.ours();
        let bias = |objects: &Objects, at: usize| objects.list[at].bias;
        let is_ours = ours.map(|at| bias(objects, at));
        let is = |object: &loaded::Object| {
            Some(object.bias) != is_ours && object.function(self.symbol).is_some()
        };
        if let Some(at) = objects.at_start().find(|&at| is(&objects.list[at])) {
            return Some(bias(objects, at));
        }
        // SAFETY: instances live for ever.
        let global = unsafe { self.global.load(Ordering::Relaxed).as_ref() };
        let global = global.and_then(|global| {
            let mut list = objects.list.iter();
            list.position(|object| object.bias == global.bias)
        });
        let by = objects.at(code).filter(|&at| Some(at) != ours);
        let own = by.and_then(|by| objects.in_tree(by, is));
        let found = match (global, own) {
            // The file was bound before the other became global.
            (Some(global), Some(own)) if by < Some(global) => own,
            (Some(global), _) => global,
            (None, Some(own)) => own,
            (None, None) => return self.by_those_who_need(objects, by?, is),
        };
        Some(bias(objects, found))
    }

    /// For a file without a runtime of its own: the one that all have who depend on it.
    fn by_those_who_need(
        &self,
        objects: &mut Objects,
        by: usize,
        is: impl Fn(&loaded::Object) -> bool + Copy,
    ) -> Option<usize> {
        let mut found = None;
        for root in 0..objects.list.len() {
            if root == by || !objects.depends(root, by) {
                continue;
            }
            match (objects.in_tree(root, is), found) {
                (Some(one), Some(other)) if one != other => return None,
                (Some(one), _) => found = Some(one),
                (None, _) => {}
            }
        }
        found.map(|at| objects.list[at].bias)
    }

    #[cold]
    fn warn(&self, code: usize) {
        if self.has_warned.swap(true, Ordering::Relaxed) {
            return;
        }
        let mut path = [0u8; 256];
        let length = loaded::with(|objects| {
            let Some(at) = objects.at(code) else { return 0 };
            let from = objects.list[at].path();
            let length = from.len().min(path.len());
            path[..length].copy_from_slice(&from[..length]);
            length
        });
        let path = String::from_utf8_lossy(&path[..length]);
        let by = match &*path {
            "" => "code that is in no file or in the program itself",
            path => path,
        };
        note(
            "warning",
            &format!(
                "Calls of {} by {by} were not recorded: the process has several copies of it, and which of them the caller uses is not known",
                self.what
            ),
        );
    }
}

/// Looks whether files were loaded or unloaded, unless that was done just now: no file is loaded in so short a time. The calling thread is about to begin
/// what other threads wait for.
#[inline]
pub(crate) fn now_and_then(family: &Family) {
    #[cfg(target_arch = "x86_64")]
    {
        const TICKS: u64 = 8192;
        // SAFETY: every processor of this architecture has the instruction.
        let now = unsafe { core::arch::x86_64::_rdtsc() };
        if now.wrapping_sub(family.looked.load(Ordering::Relaxed)) <= TICKS {
            return;
        }
        family.looked.store(now, Ordering::Relaxed);
    }
    family.refresh(true);
}

/// Tells a fact of the recording.
pub(crate) fn note(key: &str, value: &str) {
    (workspan_recorder::TABLE.note)(key.as_ptr(), key.len(), value.as_ptr(), value.len());
}

impl Instance {
    /// Keeps it loaded to the end. Threads of a runtime are in its code for a while after a region; recording makes that longer, and a program that
    /// unloads the runtime then would crash more often than without it.
    fn stay(&self) {
        const LAZY: c_int = 1;
        const NO_LOAD: c_int = 4;
        const NO_DELETE: c_int = 0x1000;
        unsafe extern "C" {
            fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
        }
        if self.stays.swap(true, Ordering::Relaxed) {
            return;
        }
        let mut path = Vec::with_capacity(4096);
        loaded::with(|objects| {
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
            // SAFETY: a C string; what is loaded already is not loaded again.
            unsafe { dlopen(path.as_ptr().cast(), LAZY | NO_LOAD | NO_DELETE) };
        }
    }

    /// The number of its pool.
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

    /// Where it has the function of that name. One of a library that was preloaded behind this one comes first, as it would without us.
    fn function(&self, family: &Family, name: &CStr) -> Option<usize> {
        loaded::with(|objects| {
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

/// A function of a family, in each of its runtimes.
pub(crate) struct Function {
    pub(crate) name: &'static CStr,
    /// That of the one runtime; 0: not looked for.
    one: AtomicUsize,
    found: AtomicPtr<Found>,
}

struct Found {
    next: *mut Found,
    of: *const Instance,
    at: usize,
}

impl Function {
    pub(crate) const fn new(name: &'static CStr) -> Function {
        Function {
            name,
            one: AtomicUsize::new(0),
            found: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// That of the only runtime; 0 while it is not known, or there are several.
    #[inline(always)]
    pub(crate) fn of_one(&self) -> usize {
        self.one.load(Ordering::Acquire)
    }

    /// The runtime is not the only one any more, or there is another one.
    pub(crate) fn forget(&self) {
        self.one.store(0, Ordering::Release);
    }

    /// That of this runtime; 0 when it has none.
    #[cold]
    pub(crate) fn of(&self, family: &Family, instance: &'static Instance) -> usize {
        let mut at = self.found.load(Ordering::Acquire);
        // SAFETY: what is in the list lives for ever.
        while let Some(found) = unsafe { at.as_ref() } {
            if ptr::eq(found.of, instance) {
                self.keep_one(family, instance, found.at);
                return found.at;
            }
            at = found.next;
        }
        let Some(address) = instance.function(family, self.name) else {
            return 0;
        };
        let fresh = Box::into_raw(Box::new(Found {
            next: ptr::null_mut(),
            of: instance,
            at: address,
        }));
        let mut first = self.found.load(Ordering::Acquire);
        loop {
            // SAFETY: just made, and nobody else knows it yet.
            unsafe { (*fresh).next = first };
            match self
                .found
                .compare_exchange(first, fresh, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => break,
                Err(other) => first = other,
            }
        }
        self.keep_one(family, instance, address);
        address
    }

    /// A runtime that is the only one need not be asked for again. Under the loader's lock, as it may change.
    fn keep_one(&self, family: &Family, instance: &'static Instance, address: usize) {
        if family.are_several() {
            return;
        }
        loaded::with(|_| {
            if ptr::eq(family.one.load(Ordering::Relaxed), instance) {
                self.one.store(address, Ordering::Release);
            }
        });
    }
}

fn slot(address: usize) -> usize {
    address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54
}

fn hash(text: &[u8]) -> u64 {
    text.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Code of the function that made the call which returns there.
#[cfg(target_arch = "x86_64")]
fn caller(address: usize) -> usize {
    crate::call_site::caller(address)
}

#[cfg(not(target_arch = "x86_64"))]
fn caller(address: usize) -> usize {
    address
}
