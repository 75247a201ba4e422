//! Sites of calls into oneTBB: the return addresses from the call outwards, as far as the user's code reaches, since in
//! an unoptimised program the innermost ones are oneTBB's headers'.
//!
//! How a frame leads to its caller's is found out once for each return address ([`super::call_frame`]) and kept, so that a call made
//! again is known by a few loads. Only x86-64 finds return addresses in that way; elsewhere the innermost address is the site.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use workspan_recorder::{adapter, is_on};

use super::call_frame::{Registers, rule_at};
use super::return_address_cache::{ReturnAddress, ReturnAddressCache};
use super::task_class::TaskClass;
use super::task_frame::current_thread;
use crate::free_list::FreeList;
use crate::loaded_files::{era, is_ours, with_path_of};

/// Where a call was made: registers as they are when it returns.
#[derive(Clone, Copy)]
pub(super) struct Call(Registers);

impl Call {
    /// Made by nobody's code.
    pub(super) const NONE: Call = Call(Registers {
        ret: 0,
        sp: 0,
        bp: 0,
    });

    /// By what an entry point hands on: on x86-64 the caller's frame pointer, elsewhere the return address; and the stack pointer that it
    /// returns with.
    ///
    /// # Safety
    /// The call has not returned.
    #[inline(always)]
    pub(super) unsafe fn made(from: usize, sp: usize) -> Call {
        // SAFETY: an entry point's function has the return address where the call put it, below the caller's stack pointer.
        #[cfg(target_arch = "x86_64")]
        let (ret, bp) = unsafe { (*((sp - size_of::<usize>()) as *const usize), from) };
        #[cfg(not(target_arch = "x86_64"))]
        let (ret, bp) = (from, 0);
        Call(Registers { ret, sp, bp })
    }
}

/// Where a call returns to, by what an entry point hands on.
///
/// # Safety
/// As [`Call::made`].
#[inline(always)]
pub(super) unsafe fn returns_to(from: usize, sp: usize) -> usize {
    // SAFETY: the caller's.
    unsafe { Call::made(from, sp) }.0.ret
}

/// Most addresses of a site: from a header's innermost function to the user's, in an unoptimised program.
const DEPTH: usize = 16;
/// Likewise for calls whose headers are thin.
const SHALLOW: usize = 6;
/// Frames that one walk goes through.
const FRAMES: usize = 64;
const SITES: usize = 256;
const BRIEFLY: usize = 64;

/// What a thread knows of calls; all zeros at first.
pub(super) struct CallSiteCache {
    return_addresses: ReturnAddressCache,
    /// Keys of sites, and their numbers.
    sites: [Cell<(u64, u32)>; SITES],
    /// The site last found for a return address and a class alone, by both.
    briefly: [Cell<(u64, u32)>; BRIEFLY],
    /// When the steps were found.
    era: Cell<u64>,
    /// The call that libtbb's own of the pipeline's stages stand for.
    stand_in: Cell<CallChain>,
}

/// The return addresses of a call's site, innermost first.
#[derive(Clone, Copy)]
pub(super) struct CallChain {
    addresses: [usize; DEPTH],
    count: usize,
}

impl CallChain {
    const NONE: CallChain = CallChain {
        addresses: [0; DEPTH],
        count: 0,
    };

    fn all(&self) -> &[usize] {
        self.addresses.get(..self.count).unwrap_or(&[])
    }
}

static FREE: FreeList<CallSiteCache> = FreeList::new();

/// The calling thread makes no more calls.
pub(super) fn thread_ends(seen: *mut CallSiteCache) {
    // SAFETY: the thread's own, or null.
    if let Some(seen) = unsafe { seen.as_ref() } {
        seen.stand_in.set(CallChain::NONE);
    }
    FREE.give_back(seen);
}

impl CallSiteCache {
    /// The calling thread's; none where it has no memory for that.
    #[inline(always)]
    fn of_thread<'a>() -> Option<&'a CallSiteCache> {
        // SAFETY: a thread's state lives as long as the thread, and what it has seen until it ends. No call in this file returns on
        // another one.
        unsafe {
            let thread = current_thread();
            if (*thread).seen.is_null() {
                (*thread).seen = FREE.take();
            }
            (*thread).seen.as_ref()
        }
    }
}

/// The site of a call that creates a task of this class.
#[inline]
pub(super) fn site(call: Call, class: &TaskClass, primitive: u8) -> u32 {
    let seen = CallSiteCache::of_thread();
    let class_key = std::ptr::from_ref(class) as u64;
    let pipeline = primitive == workspan_recorder::wire::primitive::PARALLEL_PIPELINE;
    if pipeline && let Some(seen) = seen {
        let chain = seen.stand_in.get();
        if chain.count > 0 {
            return look_up(Some(seen), chain.all(), primitive, class_key, &class.name);
        }
    }
    let depth = if class.users { SHALLOW } else { DEPTH };
    of(seen, call, primitive, class_key, &class.name, depth)
}

/// The site of a call that creates a task of this class, or one that differs from it in callers further out alone: by what is known of the
/// innermost return address.
#[inline]
pub(super) fn brief(call: Call, class: &TaskClass) -> u32 {
    let key = mix(std::ptr::from_ref(class) as u64 ^ era(), call.0.ret);
    let slot = CallSiteCache::of_thread().map(|seen| &seen.briefly[(key >> 32) as usize % BRIEFLY]);
    match slot.map(Cell::get) {
        Some((known, site)) if known == key => return site,
        _ => {}
    }
    let site = self::site(call, class, class.primitive);
    if let Some(slot) = slot {
        slot.set((key, site));
    }
    site
}

/// The site of another call.
#[inline]
pub(super) fn plain(call: Call, primitive: u8) -> u32 {
    of(CallSiteCache::of_thread(), call, primitive, 0, "", SHALLOW)
}

/// From now on this call stands for those that libtbb makes for a pipeline on this thread; what did before.
pub(super) fn stand_in(call: Call) -> CallChain {
    let Some(seen) = CallSiteCache::of_thread() else {
        return CallChain::NONE;
    };
    seen.stand_in.replace(chain(Some(seen), call, DEPTH))
}

/// What stood in before does so again.
pub(super) fn stand_in_again(chain: CallChain) {
    if let Some(seen) = CallSiteCache::of_thread() {
        seen.stand_in.set(chain);
    }
}

#[inline]
fn of(
    seen: Option<&CallSiteCache>,
    call: Call,
    primitive: u8,
    class: u64,
    name: &str,
    depth: usize,
) -> u32 {
    if let Some(seen) = seen {
        let mut key = class ^ u64::from(primitive) << 56 ^ era();
        walk(Some(seen), call, depth, |address| key = mix(key, address));
        let (known, site) = seen.sites[(key >> 32) as usize % SITES].get();
        if known == key {
            return site;
        }
    }
    let chain = chain(seen, call, depth);
    look_up(seen, chain.all(), primitive, class, name)
}

#[cold]
fn chain(seen: Option<&CallSiteCache>, call: Call, depth: usize) -> CallChain {
    let mut chain = CallChain::NONE;
    walk(seen, call, depth, |address| {
        if let Some(to) = chain.addresses.get_mut(chain.count) {
            *to = address;
            chain.count += 1;
        }
    });
    chain
}

fn mix(key: u64, address: usize) -> u64 {
    // Never 0, which an unused slot has.
    (key.rotate_left(23) ^ address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1
}

/// The same by return addresses, for a call not seen lately or one that a stand-in is for.
#[inline(never)]
fn look_up(
    seen: Option<&CallSiteCache>,
    addresses: &[usize],
    primitive: u8,
    class: u64,
    name: &str,
) -> u32 {
    let start = class ^ u64::from(primitive) << 56 ^ era();
    let key = addresses
        .iter()
        .fold(start, |key, &address| mix(key, address));
    let slot = seen.map(|seen| &seen.sites[(key >> 32) as usize % SITES]);
    match slot.map(Cell::get) {
        Some((known, site)) if known == key => return site,
        _ => {}
    }
    let site = adapter::site_calls(addresses, name, primitive);
    if is_on()
        && let Some(slot) = slot
    {
        slot.set((key, site));
        keep_like(mix(start, addresses.first().copied().unwrap_or(0)), site);
    }
    site
}

/// Sites with the same innermost return address, primitive and class: the first known of each, by a number made of those.
static FIRST: Mutex<BTreeMap<u64, u32>> = Mutex::new(BTreeMap::new());
/// By a site's number, that of its like that was known first; 0: its own.
static LIKE: [AtomicU32; 1 << 12] = [const { AtomicU32::new(0) }; 1 << 12];

fn keep_like(key: u64, site: u32) {
    if let (Ok(mut first), Some(like)) = (FIRST.lock(), LIKE.get(site as usize)) {
        let known = *first.entry(key).or_insert(site);
        like.store(known, Ordering::Relaxed);
    }
}

/// One site for all that differ in callers further out alone: a function that calls itself makes many of one line.
pub(super) fn like(site: u32) -> u32 {
    match LIKE
        .get(site as usize)
        .map(|like| like.load(Ordering::Relaxed))
    {
        None | Some(0) => site,
        Some(like) => like,
    }
}

/// Tells the return addresses of the user's code from the call outwards, at most `depth`.
#[inline(always)]
fn walk(seen: Option<&CallSiteCache>, call: Call, depth: usize, mut tell: impl FnMut(usize)) {
    let mut frame = call.0;
    if let Some(seen) = seen
        && seen.era.get() != era()
    {
        // Other functions may lie where some did that were unloaded.
        seen.return_addresses.clear();
        seen.era.set(era());
    }
    if !cfg!(target_arch = "x86_64") {
        if frame.ret != 0 {
            tell(frame.ret);
        }
        return;
    }
    let mut count = 0;
    for _ in 0..FRAMES {
        if frame.ret == 0 {
            return;
        }
        let known = seen.and_then(|seen| seen.return_addresses.get(frame.ret));
        let found = match known {
            Some(found) => found,
            None => learn(seen, frame.ret),
        };
        if !found.runtime {
            tell(frame.ret);
            count += 1;
        } else if count > 0 {
            return;
        }
        if count == depth {
            return;
        }
        // SAFETY: the call has not returned, so the frames of its callers are live.
        let Some(caller) = (unsafe { found.rule.caller(frame) }) else {
            return;
        };
        frame = caller;
    }
}

/// Finds out about a return address.
#[cold]
#[inline(never)]
fn learn(seen: Option<&CallSiteCache>, ret: usize) -> ReturnAddress {
    let _errno = adapter::KeepErrno::new();
    let found = ReturnAddress {
        ret,
        rule: rule_at(ret),
        runtime: is_runtime(ret),
    };
    if let Some(seen) = seen {
        seen.return_addresses.keep(found);
    }
    found
}

/// Whether the address lies in this library, in libtbb or in the C or C++ library.
fn is_runtime(address: usize) -> bool {
    is_ours(address)
        || with_path_of(address, |path| {
            let name = path.rsplit(|&b| b == b'/').next().unwrap_or(path);
            [
                &b"libtbb"[..],
                b"libc.so",
                b"libc-",
                b"ld-linux",
                b"libpthread",
                b"libstdc++",
            ]
            .iter()
            .any(|runtime| name.starts_with(runtime))
        })
        .unwrap_or(false)
}
