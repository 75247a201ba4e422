//! Performance counters of the recorded threads, read at every record, so that each strand knows
//! its own increase.
//!
//! A thread opens the events for itself when it is first seen, in groups of up to four. If there
//! are more events than the CPU has counters, those of a group are counted at the same time, and
//! values that were counted part of the time are scaled up. Events are read in user space (`rdpmc`)
//! if the kernel allows it for a whole group, otherwise with one system call per group. If the
//! kernel opens none, the thread is recorded without counters.

use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::instructions::{EMULATED, Emulated};
use crate::process::Recording;
use crate::system;

/// An event to count, as the kernel numbers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterEvent {
    /// The event's name in the trace.
    pub name: String,
    /// `perf_event_attr.type`.
    pub kind: u32,
    /// `perf_event_attr.config`.
    pub config: u64,
    /// Whether to count in the kernel too, if that is allowed.
    pub kernel: bool,
}

/// The largest number of counters of a recording. Their increases fit in one record.
pub const MAX_COUNTERS: usize = 8;
const GROUP: usize = 4;

/// Whether a group's events were counted only part of the time.
static SCALED: AtomicBool = AtomicBool::new(false);

/// Whether some value is an estimate, because there were more events than counters.
pub(crate) fn were_scaled() -> bool {
    SCALED.load(Ordering::Relaxed)
}

/// The events that the recording counts, with the labels under which they are written.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    events: Vec<(CounterEvent, u32)>,
}

impl Counters {
    pub(crate) fn new(events: &[CounterEvent]) -> Self {
        Counters {
            events: events
                .iter()
                .take(MAX_COUNTERS)
                .map(|event| (event.clone(), 0))
                .collect(),
        }
    }

    /// Whether there are no events.
    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Assigns a label to each event; must be called before any thread opens them.
    pub(crate) fn name(&mut self, label: impl Fn(&str) -> u32) {
        for (event, number) in &mut self.events {
            *number = label(&event.name);
        }
    }

    /// Opens the events for the calling thread; `None` if there are none, or if the kernel opens
    /// none.
    pub(crate) fn open(&self, recording: &Recording) -> Option<Box<OpenCounters>> {
        let mut groups = Vec::new();
        let (emulated, counted): (Vec<_>, Vec<_>) = self
            .events
            .iter()
            .partition(|(event, _)| event.kind == EMULATED);
        let emulated = emulated
            .first()
            .and_then(|(_, label)| Emulated::new(*label));
        for events in counted.chunks(GROUP) {
            let mut group = Group {
                events: Vec::new(),
                last: [0; GROUP],
            };
            for (event, label) in events {
                let leader = group.events.first().map_or(-1, |e| e.fd);
                if let Some(fd) = open_event(event, leader) {
                    group.events.push(Event {
                        fd,
                        page: map(fd, recording.page),
                        label: *label,
                    });
                }
            }
            if !group.events.is_empty() {
                group.last = group.read();
                groups.push(group);
            }
        }
        (!groups.is_empty() || emulated.is_some()).then(|| {
            Box::new(OpenCounters {
                groups,
                emulated,
                written: 0,
                page: recording.page,
            })
        })
    }
}

/// A thread's open events.
pub(crate) struct OpenCounters {
    groups: Vec<Group>,
    emulated: Option<Emulated>,
    /// Time of the last record, from which the next one's ticks count.
    pub(crate) written: u64,
    page: usize,
}

struct Group {
    events: Vec<Event>,
    /// The values of the last reading.
    last: [u64; GROUP],
}

struct Event {
    fd: c_int,
    page: *mut Page,
    label: u32,
}

impl OpenCounters {
    /// The recorder begins to write a record.
    pub(crate) fn enter(&mut self) {
        if let Some(emulated) = &mut self.emulated {
            emulated.enter();
        }
    }

    /// The recorder has written a record.
    pub(crate) fn leave(&mut self) {
        if let Some(emulated) = &mut self.emulated {
            emulated.leave();
        }
    }

    /// Calls `f` with the label and the increase since the last reading of each value that rose.
    pub(crate) fn increases(&mut self, mut f: impl FnMut(u32, u64)) {
        if let Some(emulated) = &mut self.emulated {
            let (label, increase) = emulated.increase();
            if increase > 0 {
                f(label, increase);
            }
        }
        for group in &mut self.groups {
            let now = group.read();
            for ((event, &now), last) in group.events.iter().zip(&now).zip(&mut group.last) {
                // Scaled values may decrease.
                if now > *last {
                    f(event.label, now - *last);
                    *last = now;
                }
            }
        }
    }
}

impl Drop for OpenCounters {
    fn drop(&mut self) {
        for event in self.groups.iter().flat_map(|group| &group.events) {
            // SAFETY: our own mapping and descriptor, which are not used afterwards.
            unsafe {
                if !event.page.is_null() {
                    system::munmap(event.page.cast(), self.page);
                }
                system::close(event.fd);
            }
        }
    }
}

impl Group {
    fn read(&self) -> [u64; GROUP] {
        let mut values = [0; GROUP];
        if self.read_here(&mut values) {
            return values;
        }
        // Number of values, times enabled and running, values.
        let mut words = [0u64; 3 + GROUP];
        let Some(leader) = self.events.first() else {
            return values;
        };
        let got = system::read_words(leader.fd, &mut words);
        let [count, enabled, running, ref read @ ..] = words;
        if got < 3 || running == 0 {
            return self.last;
        }
        let scaled = running < enabled;
        if scaled {
            SCALED.store(true, Ordering::Relaxed);
        }
        for (value, &word) in values.iter_mut().zip(read).take(count as usize) {
            *value = if scaled {
                (u128::from(word) * u128::from(enabled) / u128::from(running)) as u64
            } else {
                word
            };
        }
        values
    }

    /// Reads all events in user space; false if one of them cannot be read.
    fn read_here(&self, values: &mut [u64; GROUP]) -> bool {
        self.events
            .iter()
            .zip(values)
            .all(|(event, value)| match read_counter(event.page) {
                Some(now) => {
                    *value = now;
                    true
                }
                None => false,
            })
    }
}

/// `perf_event_attr`, with the fields of the kernel's first version.
#[repr(C)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    config1: u64,
}

const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
/// Format flags: total times enabled and running, and all values of the group.
const READ_FORMAT: u64 = 1 | 2 | 8;
const CLOSE_ON_EXEC: u64 = 8;

fn open_event(event: &CounterEvent, leader: c_int) -> Option<c_int> {
    let mut attributes = Attributes {
        kind: event.kind,
        size: size_of::<Attributes>() as u32,
        config: event.config,
        sample_period: 0,
        sample_type: 0,
        read_format: READ_FORMAT,
        flags: EXCLUDE_HYPERVISOR,
        wakeup: 0,
        breakpoint: 0,
        config1: 0,
    };
    if !event.kernel {
        attributes.flags |= EXCLUDE_KERNEL;
    }
    // SAFETY: the attributes have the size that they state and live through the call; 0 and -1 mean
    // this thread, on any CPU.
    let fd = unsafe {
        system::perf_event_open(
            (&raw const attributes).cast::<c_void>(),
            0,
            -1,
            leader,
            CLOSE_ON_EXEC,
        )
    };
    c_int::try_from(fd).ok().filter(|&fd| fd >= 0)
}

/// The front of `perf_event_mmap_page`.
#[repr(C)]
struct Page {
    version: u32,
    compatible: u32,
    lock: u32,
    index: u32,
    offset: i64,
    enabled: u64,
    running: u64,
    capabilities: u64,
    width: u16,
}

/// The event's control page; null if it cannot be mapped.
fn map(fd: c_int, length: usize) -> *mut Page {
    // SAFETY: a new shared mapping of a descriptor we own, at an address the kernel picks.
    let page = unsafe {
        system::mmap(
            ptr::null_mut(),
            length,
            system::PROT_READ_WRITE,
            system::MAP_SHARED,
            fd,
            0,
        )
    };
    if page as isize == -1 {
        ptr::null_mut()
    } else {
        page.cast()
    }
}

/// Bit of the capabilities: the counter may be read in user space.
const USER_READS: u64 = 1 << 2;

/// A counter's value by `rdpmc`, read as described in the comment at the page's declaration in the
/// kernel's headers; `None` if it cannot be read, or was not counted all the time.
#[cfg(target_arch = "x86_64")]
fn read_counter(page: *mut Page) -> Option<u64> {
    use core::sync::atomic::{AtomicU32, compiler_fence};
    if page.is_null() {
        return None;
    }
    // SAFETY: the page is mapped while the event is open; its lock is a word that the kernel
    // changes before and after its own writes.
    unsafe {
        let lock = AtomicU32::from_ptr(&raw mut (*page).lock);
        loop {
            let before = lock.load(Ordering::Acquire);
            let index = (&raw const (*page).index).read_volatile();
            let capabilities = (&raw const (*page).capabilities).read_volatile();
            let enabled = (&raw const (*page).enabled).read_volatile();
            let running = (&raw const (*page).running).read_volatile();
            if capabilities & USER_READS == 0 || index == 0 || enabled != running {
                return None;
            }
            let offset = (&raw const (*page).offset).read_volatile();
            let width = (&raw const (*page).width).read_volatile().clamp(1, 64);
            let (low, high): (u32, u32);
            core::arch::asm!("rdpmc", in("ecx") index - 1, out("eax") low, out("edx") high, options(nostack, nomem));
            let raw = (u64::from(high) << 32 | u64::from(low)) as i64;
            // The counter has fewer bits than the register, so the value is sign-extended.
            let shift = 64 - u32::from(width);
            let count = raw.wrapping_shl(shift).wrapping_shr(shift);
            compiler_fence(Ordering::Acquire);
            if lock.load(Ordering::Acquire) == before {
                return Some(offset.wrapping_add(count) as u64);
            }
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn read_counter(_: *mut Page) -> Option<u64> {
    None
}
