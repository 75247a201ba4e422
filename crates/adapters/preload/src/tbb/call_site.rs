//! Sites of calls into oneTBB. A site is the chain of return addresses from the call outwards, up
//! to the user's code: in an unoptimised program the innermost ones are in oneTBB's headers.
//!
//! The way from a frame to its caller's is computed once for each return address
//! ([`super::call_frame`]) and cached, so a repeated call is recognised by a few loads. This works
//! on x86-64; elsewhere the site is the innermost address.

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

/// The place of a call: the registers after it returns.
#[derive(Clone, Copy)]
pub(super) struct Call(Registers);

impl Call {
    /// A call without user code.
    pub(super) const NONE: Call = Call(Registers {
        ret: 0,
        sp: 0,
        bp: 0,
    });

    /// The call that an entry point describes: on x86-64 by the caller's frame pointer, elsewhere
    /// by the return address; and by the stack pointer after the return.
    ///
    /// # Safety
    /// The call has not returned.
    #[inline(always)]
    pub(super) unsafe fn made(from: usize, sp: usize) -> Call {
        // SAFETY: in an entry point's function, the return address is where the call put it: below
        // the caller's stack pointer.
        #[cfg(target_arch = "x86_64")]
        let (ret, bp) = unsafe { (*((sp - size_of::<usize>()) as *const usize), from) };
        #[cfg(not(target_arch = "x86_64"))]
        let (ret, bp) = (from, 0);
        Call(Registers { ret, sp, bp })
    }
}

/// The return address of the call that an entry point describes.
///
/// # Safety
/// As for [`Call::made`].
#[inline(always)]
pub(super) unsafe fn returns_to(from: usize, sp: usize) -> usize {
    // SAFETY: the same contract.
    unsafe { Call::made(from, sp) }.0.ret
}

/// Maximum number of addresses in a site. In an unoptimised program there are that many between a
/// header's innermost function and the user's.
const MAX_ADDRESSES: usize = 16;
/// The maximum for calls with thin headers.
const MAX_ADDRESSES_SHALLOW: usize = 6;
/// Maximum number of frames in one walk.
const MAX_FRAMES: usize = 64;
const SITES: usize = 256;
const BRIEF_SITES: usize = 64;

/// A thread's cached data about calls. All zeros is empty.
pub(super) struct CallSiteCache {
    return_addresses: ReturnAddressCache,
    /// Keys of sites, and the sites.
    sites: [Cell<(u64, u32)>; SITES],
    /// The last site for a return address and a class; both together are the key.
    brief_sites: [Cell<(u64, u32)>; BRIEF_SITES],
    /// The era of the cached return addresses.
    era: Cell<u64>,
    /// The user's call that replaces libtbb's own creates of pipeline stages.
    stand_in: Cell<CallChain>,
}

/// The return addresses of a site, innermost first.
#[derive(Clone, Copy)]
pub(super) struct CallChain {
    addresses: [usize; MAX_ADDRESSES],
    count: usize,
}

impl CallChain {
    const NONE: CallChain = CallChain {
        addresses: [0; MAX_ADDRESSES],
        count: 0,
    };

    fn all(&self) -> &[usize] {
        self.addresses.get(..self.count).unwrap_or(&[])
    }
}

static FREE: FreeList<CallSiteCache> = FreeList::new();

/// The calling thread makes no more calls.
pub(super) fn thread_ends(seen: *mut CallSiteCache) {
    // SAFETY: null, or the thread's own.
    if let Some(seen) = unsafe { seen.as_ref() } {
        seen.stand_in.set(CallChain::NONE);
    }
    FREE.give_back(seen);
}

impl CallSiteCache {
    /// The calling thread's cache; `None` if there is no memory for it.
    #[inline(always)]
    fn of_thread<'a>() -> Option<&'a CallSiteCache> {
        // SAFETY: the state is this thread's, and the cache its own until it ends. No call in this
        // file returns on another thread.
        unsafe {
            let thread = current_thread();
            if (*thread).call_sites.is_null() {
                (*thread).call_sites = FREE.take();
            }
            (*thread).call_sites.as_ref()
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
    let depth = if class.users {
        MAX_ADDRESSES_SHALLOW
    } else {
        MAX_ADDRESSES
    };
    site_of(seen, call, primitive, class_key, &class.name, depth)
}

/// The site of a call that creates a task of this class, by the innermost return address alone. It
/// may be the site of another call that differs only in callers further out.
#[inline]
pub(super) fn brief(call: Call, class: &TaskClass) -> u32 {
    let key = mix(std::ptr::from_ref(class) as u64 ^ era(), call.0.ret);
    let slot = CallSiteCache::of_thread()
        .map(|seen| &seen.brief_sites[(key >> 32) as usize % BRIEF_SITES]);
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

/// The site of a call that creates no task.
#[inline]
pub(super) fn plain(call: Call, primitive: u8) -> u32 {
    site_of(
        CallSiteCache::of_thread(),
        call,
        primitive,
        0,
        "",
        MAX_ADDRESSES_SHALLOW,
    )
}

/// Makes this call replace those that libtbb makes for a pipeline on this thread. Returns the
/// previous one.
pub(super) fn stand_in(call: Call) -> CallChain {
    let Some(seen) = CallSiteCache::of_thread() else {
        return CallChain::NONE;
    };
    seen.stand_in
        .replace(chain(Some(seen), call, MAX_ADDRESSES))
}

/// Restores the previous replacement.
pub(super) fn stand_in_again(chain: CallChain) {
    if let Some(seen) = CallSiteCache::of_thread() {
        seen.stand_in.set(chain);
    }
}

#[inline]
fn site_of(
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
    // Never 0, which marks an unused slot.
    (key.rotate_left(23) ^ address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1
}

/// The site of a chain of return addresses, for a call that is not in the cache or has a stand-in.
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
        remember_like(mix(start, addresses.first().copied().unwrap_or(0)), site);
    }
    site
}

/// For an innermost return address, primitive and class, hashed: the first site with them.
static FIRST: Mutex<BTreeMap<u64, u32>> = Mutex::new(BTreeMap::new());
/// For a site's number: the first site with the same innermost return address, primitive and class;
/// 0 if that is the site itself.
static LIKE: [AtomicU32; 1 << 12] = [const { AtomicU32::new(0) }; 1 << 12];

fn remember_like(key: u64, site: u32) {
    if let (Ok(mut first), Some(like)) = (FIRST.lock(), LIKE.get(site as usize)) {
        let known = *first.entry(key).or_insert(site);
        like.store(known, Ordering::Relaxed);
    }
}

/// One site for all that differ only in callers further out. A recursive function makes many sites
/// of one line.
pub(super) fn like(site: u32) -> u32 {
    match LIKE
        .get(site as usize)
        .map(|like| like.load(Ordering::Relaxed))
    {
        None | Some(0) => site,
        Some(like) => like,
    }
}

/// Passes the return addresses of the user's code, from the call outwards, to `tell`, at most
/// `depth`.
#[inline(always)]
fn walk(seen: Option<&CallSiteCache>, call: Call, depth: usize, mut tell: impl FnMut(usize)) {
    let mut frame = call.0;
    if let Some(seen) = seen
        && seen.era.get() != era()
    {
        // Files were unloaded, so other functions may be at these addresses.
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
    for _ in 0..MAX_FRAMES {
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

/// Looks up the data of a return address, and caches them.
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

/// Whether the address is in this library, in libtbb, or in the C or C++ library.
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
