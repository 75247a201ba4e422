//! The site of a call.
//!
//! For a call from the user's code it is the source position, which `#[track_caller]` provides at
//! no cost. Calls from inside the crate rayon are those of parallel iterators and sorts, all from
//! the same few positions. Calls that continue to split their task's work inherit the task's site.
//! The first call of each kind in a task is the one that the user made: its site is the call stack
//! down to the beginning of the task. If that shows no user code (the task was stolen, or begins in
//! rayon), the task's own site counts. It is the stack's last entry ([`INHERITED`]).

use crate::abi::INHERITED;
use crate::recording::{RecordedThread, POSITIONS};
use crate::stack_walk;
use crate::task::{Task, NO_SITE};
use std::any::TypeId;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The bit of a cached site that means: there is no site, take the call stack.
const TAKE_STACK: u32 = 1 << 31;

/// A number for a closure type and a primitive. It tells monomorphs of one call apart, and
/// primitives that share a position.
#[inline(always)]
pub(crate) fn key<T>(primitive: u8) -> u64 {
    trait Number {
        fn number(&self) -> u64
        where
            Self: 'static;
    }
    impl<T> Number for PhantomData<T> {
        #[inline(always)]
        fn number(&self) -> u64
        where
            Self: 'static,
        {
            let mut low = PassThroughHasher(0);
            TypeId::of::<T>().hash(&mut low);
            low.0
        }
    }
    let marker = PhantomData::<T>;
    let any: &dyn Number = &marker;
    // SAFETY: only a lifetime in the type of the trait object changes, and the method reads nothing
    // through it. Types that differ in lifetimes alone get one number, which is right here.
    let any: &(dyn Number + 'static) = unsafe { core::mem::transmute(any) };
    any.number() ^ (u64::from(primitive) << 56)
}

/// A hasher that keeps the value that a `TypeId` passes to it, whose bits are well mixed already.
struct PassThroughHasher(u64);

impl Hasher for PassThroughHasher {
    #[inline(always)]
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }
    fn finish(&self) -> u64 {
        self.0
    }
}

impl RecordedThread {
    /// The task that the call at `location`, with closures of type `T`, will create.
    #[inline(always)]
    pub(crate) fn task_of<T>(&self, location: &'static Location<'static>, primitive: u8) -> Task {
        let key = key::<T>(primitive);
        let current = self.task();
        let site = if core::ptr::eq(current.location, location) && current.key == key {
            current.site
        } else {
            self.find_site(location, primitive)
        };
        Task {
            location,
            key,
            site,
            level: current.level.saturating_add(1),
            bottom: 0,
        }
    }

    /// The site of the call at `location`.
    #[inline(never)]
    pub(crate) fn find_site(&self, location: &'static Location<'static>, primitive: u8) -> u32 {
        // Locations are aligned to 8 and primitives are less than 8, so the sum is unique.
        let name = location as *const Location<'_> as usize + usize::from(primitive);
        let cell = &self.state().positions[(name >> 3 ^ name >> 9) % POSITIONS];
        let (known, mut site) = cell.get();
        if known != name {
            site = if is_rayons_own(location.file()) {
                TAKE_STACK
            } else {
                self.intern_position(location, primitive)
            };
            cell.set((name, site));
        }
        if site == TAKE_STACK {
            self.site_by_stack(location, primitive)
        } else {
            site
        }
    }

    fn intern_position(&self, location: &'static Location<'static>, primitive: u8) -> u32 {
        let file = location.file();
        let (line, column) = (location.line(), location.column());
        (self.table().site_location)(file.as_ptr(), file.len(), line, column, primitive)
    }

    #[inline(never)]
    fn site_by_stack(&self, location: &'static Location<'static>, primitive: u8) -> u32 {
        let task = self.task();
        let mut frames = [0; stack_walk::MAX_FRAMES + 1];
        let mut count = stack_walk::capture(self.state(), task.bottom, &mut frames[..stack_walk::MAX_FRAMES]);
        if task.site != NO_SITE {
            frames[count] = INHERITED | task.site as usize;
            count += 1;
        }
        intern_stack(&frames[..count], location, primitive, || {
            let (file, line) = (location.file(), location.line());
            (self.table().site_stack)(
                frames.as_ptr(),
                count,
                primitive,
                file.as_ptr(),
                file.len(),
                line,
            )
        })
    }
}

/// Whether a source file belongs to the crate rayon: in a folder `rayon-1.2.3`, or `rayon` with
/// `src` in it.
pub(crate) fn is_rayons_own(file: &str) -> bool {
    let mut parts = file.split(['/', '\\']).peekable();
    while let Some(part) = parts.next() {
        let version = part
            .strip_prefix("rayon-")
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        if version || (part == "rayon" && parts.peek() == Some(&"src")) {
            return true;
        }
    }
    false
}

/// A call stack whose site is known.
struct KnownStack {
    hash: u64,
    location: usize,
    primitive: u8,
    frames: Box<[usize]>,
    site: u32,
    next: *const KnownStack,
}

const BUCKETS: usize = 512;
/// The largest number of stacks that are kept, because entries are never freed. Further stacks are
/// passed to the recorder each time.
const MAX_KNOWN_STACKS: usize = 1 << 15;

static KNOWN_STACKS: [AtomicPtr<KnownStack>; BUCKETS] =
    [const { AtomicPtr::new(core::ptr::null_mut()) }; BUCKETS];
static KNOWN_STACK_COUNT: AtomicUsize = AtomicUsize::new(0);

/// Looks up a stack among those seen in this process; `ask` gets the site of a new one.
fn intern_stack(
    frames: &[usize],
    location: &Location<'_>,
    primitive: u8,
    ask: impl FnOnce() -> u32,
) -> u32 {
    let location = location as *const Location<'_> as usize;
    let mut hash = location as u64 ^ u64::from(primitive);
    for &frame in frames {
        hash = (hash ^ frame as u64)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29);
    }
    let bucket = &KNOWN_STACKS[(hash >> 7) as usize % BUCKETS];
    let mut at = bucket.load(Ordering::Acquire) as *const KnownStack;
    // SAFETY: entries are complete when they are published, do not change, and are never freed.
    while let Some(known) = unsafe { at.as_ref() } {
        let same = known.hash == hash && known.location == location && known.primitive == primitive;
        if same && *known.frames == *frames {
            return known.site;
        }
        at = known.next;
    }
    let site = ask();
    if KNOWN_STACK_COUNT.fetch_add(1, Ordering::Relaxed) < MAX_KNOWN_STACKS {
        let mut head = bucket.load(Ordering::Acquire);
        let known = Box::into_raw(Box::new(KnownStack {
            hash,
            location,
            primitive,
            frames: frames.into(),
            site,
            next: head,
        }));
        // Two threads may both add the same stack; the recorder gave both the same site.
        while let Err(now) =
            bucket.compare_exchange_weak(head, known, Ordering::AcqRel, Ordering::Acquire)
        {
            head = now;
            // SAFETY: not published yet, so only this thread has it.
            unsafe { (*known).next = head };
        }
    }
    site
}
