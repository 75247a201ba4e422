//! Sites of calls into oneTBB: the return addresses from the call outwards, as far as the user's code reaches, since in
//! an unoptimised program the innermost ones are oneTBB's headers'.
//!
//! A stack is unwound once for each return address: how far the next one lies above it is a constant of that place in the code,
//! which is kept, so that a call made again is known by a few loads. (A function with a stack of changing size breaks
//! that; where two unwindings differ, the walk ends there.) Only x86-64 finds return addresses in that way; elsewhere the
//! innermost address is the site.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use workspan_recorder::{adapter, is_on};

use super::frame::here;
use super::shape::Shape;
use super::steps::{Step, Steps};
use crate::loaded::{era, is_ours, with_path_of};

/// Where a call was made.
#[derive(Clone, Copy)]
pub(super) struct Call {
    /// The address it returns to.
    pub(super) ret: usize,
    /// The stack pointer it returns with.
    pub(super) sp: usize,
}

impl Call {
    /// Made by nobody's code.
    pub(super) const NONE: Call = Call { ret: 0, sp: 0 };
}

/// Most addresses of a site: from a header's innermost function to the user's, in an unoptimised program.
const DEPTH: usize = 16;
/// Likewise for calls whose headers are thin.
const SHALLOW: usize = 6;
/// Frames that one unwinding looks at.
const UNWOUND: usize = 64;
const SITES: usize = 256;
const BRIEFLY: usize = 64;
/// A step that no function makes who can be walked.
const LARGEST_STEP: usize = 64 << 10;
/// How far below the deepest point that was unwound the walk trusts the stack to go on.
const BELOW: usize = 1 << 20;

/// What a thread knows of calls.
pub(super) struct Seen {
    steps: Steps,
    /// Keys of sites, and their numbers.
    sites: [Cell<(u64, u32)>; SITES],
    /// The site last found for a return address and a class alone, by both.
    briefly: [Cell<(u64, u32)>; BRIEFLY],
    /// The part of the stack that was unwound.
    low: Cell<usize>,
    high: Cell<usize>,
    /// When the steps were found.
    era: Cell<u64>,
    /// The call that libtbb's own of the pipeline's stages stand for.
    stand_in: Cell<Call>,
}

thread_local! {
    /// No destructor, so that it can be used to the very end of a thread.
    static SEEN: Seen = const {
        Seen {
            steps: Steps::new(),
            sites: [const { Cell::new((0, 0)) }; SITES],
            briefly: [const { Cell::new((0, 0)) }; BRIEFLY],
            low: Cell::new(usize::MAX),
            high: Cell::new(0),
            era: Cell::new(0),
            stand_in: Cell::new(Call::NONE),
        }
    };
}

impl Seen {
    pub(super) fn of_thread() -> *const Seen {
        SEEN.with(std::ptr::from_ref)
    }

    /// The calling thread's.
    #[inline(always)]
    fn here<'a>() -> &'a Seen {
        // SAFETY: a thread's state has its own from the start, and it lives as long as the thread. No call in this file
        // returns on another one.
        unsafe { &*(*here()).seen }
    }
}

/// The site of a call that creates a task of this class.
#[inline]
pub(super) fn site(call: Call, shape: &Shape, primitive: u8) -> u32 {
    let seen = Seen::here();
    let pipeline = primitive == workspan_recorder::wire::primitive::PARALLEL_PIPELINE;
    let call = if pipeline && seen.stand_in.get().ret != 0 {
        seen.stand_in.get()
    } else {
        call
    };
    of(
        seen,
        call,
        primitive,
        std::ptr::from_ref(shape) as u64,
        &shape.name,
        if shape.users { SHALLOW } else { DEPTH },
    )
}

/// The site of a call that creates a task of this class, or one that differs from it in callers further out alone: by what is known of the
/// innermost return address.
#[inline]
pub(super) fn brief(call: Call, shape: &Shape) -> u32 {
    let key = mix(std::ptr::from_ref(shape) as u64 ^ era(), call.ret);
    let slot = &Seen::here().briefly[(key >> 32) as usize % BRIEFLY];
    let (known, site) = slot.get();
    if known == key {
        return site;
    }
    let site = self::site(call, shape, shape.primitive);
    slot.set((key, site));
    site
}

/// The site of another call.
#[inline]
pub(super) fn plain(call: Call, primitive: u8) -> u32 {
    of(Seen::here(), call, primitive, 0, "", SHALLOW)
}

/// From now on this call stands for those that libtbb makes for a pipeline on this thread; the one before.
pub(super) fn stand_in(call: Call) -> Call {
    Seen::here().stand_in.replace(call)
}

#[inline]
fn of(seen: &Seen, call: Call, primitive: u8, class: u64, name: &str, depth: usize) -> u32 {
    let start = class ^ u64::from(primitive) << 56 ^ era();
    let mut key = start;
    if walk(seen, call, depth, |address| key = mix(key, address)) {
        let slot = &seen.sites[(key >> 32) as usize % SITES];
        let (known, site) = slot.get();
        if known == key {
            return site;
        }
    }
    look_up(seen, call, primitive, start, name, depth)
}

fn mix(key: u64, address: usize) -> u64 {
    // Never 0, which an unused slot has.
    (key.rotate_left(23) ^ address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1
}

/// The same, for a call not seen lately.
#[cold]
#[inline(never)]
fn look_up(seen: &Seen, call: Call, primitive: u8, start: u64, name: &str, depth: usize) -> u32 {
    let mut addresses = [0; DEPTH];
    let mut count = 0;
    let known = walk(seen, call, depth, |address| {
        addresses[count] = address;
        count += 1;
    });
    if !known {
        count = unwind(seen, call, &mut addresses[..depth]);
    }
    let addresses = &addresses[..count];
    let key = addresses
        .iter()
        .fold(start, |key, &address| mix(key, address));
    let site = adapter::site_calls(addresses, name, primitive);
    if is_on() {
        seen.sites[(key >> 32) as usize % SITES].set((key, site));
        keep_like(mix(start, call.ret), site);
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

/// Tells the return addresses of the user's code from the call outwards, at most `depth`. False when it comes to one of
/// which nothing is known.
#[inline(always)]
fn walk(seen: &Seen, call: Call, depth: usize, mut tell: impl FnMut(usize)) -> bool {
    let Call { mut ret, mut sp } = call;
    if ret == 0 {
        return true;
    }
    if seen.era.get() != era() {
        // Other functions may lie where some did that were unloaded.
        seen.steps.clear();
        seen.era.set(era());
    }
    if !cfg!(target_arch = "x86_64") {
        tell(ret);
        return true;
    }
    // Further out it can't be too low.
    let high = if sp.saturating_add(BELOW) >= seen.low.get() {
        seen.high.get()
    } else {
        0
    };
    let mut count = 0;
    loop {
        let Some(step) = seen.steps.get(ret) else {
            return false;
        };
        if step.runtime {
            if count > 0 {
                return true;
            }
        } else {
            tell(ret);
            count += 1;
        }
        let next = sp + step.bytes as usize;
        if step.bytes == 0 || count == depth || next > high {
            return true;
        }
        // SAFETY: the address lies in the stack, below the end of its outermost frame unwound.
        ret = unsafe { *((next - size_of::<usize>()) as *const usize) };
        sp = next;
    }
}

type Each = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int;

unsafe extern "C" {
    fn _Unwind_Backtrace(each: Each, with: *mut c_void) -> c_int;
    fn _Unwind_GetIP(frame: *mut c_void) -> usize;
    fn _Unwind_GetCFA(frame: *mut c_void) -> usize;
    fn __errno_location() -> *mut c_int;
}

struct Stack {
    frames: [(usize, usize); UNWOUND],
    count: usize,
}

unsafe extern "C" fn one(frame: *mut c_void, with: *mut c_void) -> c_int {
    // SAFETY: the unwinder's frame, and the stack handed to it below.
    unsafe {
        let stack = &mut *with.cast::<Stack>();
        if stack.count == UNWOUND {
            return 5;
        }
        stack.frames[stack.count] = (_Unwind_GetIP(frame), _Unwind_GetCFA(frame));
        stack.count += 1;
    }
    0
}

/// The same as [`walk`], by the unwinder, into a list; their number. What it finds is kept.
#[cold]
#[inline(never)]
fn unwind(seen: &Seen, call: Call, into: &mut [usize]) -> usize {
    let mut stack = Stack {
        frames: [(0, 0); UNWOUND],
        count: 0,
    };
    // SAFETY: errno has an address on every thread.
    let errno = unsafe { *__errno_location() };
    // SAFETY: the callback gets the stack alone.
    unsafe { _Unwind_Backtrace(one, (&raw mut stack).cast()) };
    let frames = &stack.frames[..stack.count];
    let first = frames
        .iter()
        .position(|&frame| frame == (call.ret, call.sp));
    let mut count = 0;
    match first {
        None => {
            keep(seen, call.ret, 0, false);
            into[0] = call.ret;
            count = 1;
        }
        Some(first) => {
            let frames = &frames[first..];
            let outermost = frames.last().map_or(call.sp, |&(_, sp)| sp);
            seen.low.set(seen.low.get().min(call.sp));
            seen.high.set(seen.high.get().max(outermost));
            let mut inside = true;
            for (at, &(ret, sp)) in frames.iter().enumerate() {
                let bytes = frames.get(at + 1).map_or(0, |&(above, next)| {
                    let bytes = next.wrapping_sub(sp);
                    // SAFETY: the word below an outer frame's stack pointer is in the stack.
                    let fits = bytes > 0
                        && bytes <= LARGEST_STEP
                        && unsafe { *((next - size_of::<usize>()) as *const usize) } == above;
                    if fits { bytes } else { 0 }
                });
                let runtime = is_runtime(ret);
                keep(seen, ret, bytes, runtime);
                if runtime && count > 0 {
                    inside = false;
                }
                if inside && !runtime {
                    into[count] = ret;
                    count += 1;
                }
                if !inside || count == into.len() || bytes == 0 {
                    break;
                }
            }
        }
    }
    // SAFETY: as above.
    unsafe { *__errno_location() = errno };
    count
}

/// Keeps what is known of a return address; one that lies at two heights is not walked past.
fn keep(seen: &Seen, ret: usize, bytes: usize, runtime: bool) {
    let known = seen.steps.get(ret);
    let bytes = match known {
        Some(known) if known.bytes as usize != bytes => 0,
        _ => bytes as u32,
    };
    seen.steps.keep(Step {
        ret,
        bytes,
        runtime,
    });
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
