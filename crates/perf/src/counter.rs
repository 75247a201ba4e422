//! Performance counters by their usual names.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

use perf_event_open_sys as sys;
use sys::bindings as perf;

use crate::event::WatchRefusal;

/// A counter in the kernel's numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    /// The name in the request.
    pub name: String,
    /// `perf_event_attr.type`.
    pub kind: u32,
    /// `perf_event_attr.config`.
    pub config: u64,
    /// Whether the kernel's part is counted too (if it is allowed, or if there is no other).
    pub kernel: bool,
}

/// Names, types and numbers. A cache's number consists of its own number, the operation's (0 load,
/// 1 store) and the result's (0 access, 1 miss).
const NAMES: [(&str, u32, u64); 22] = [
    ("cycles", perf::PERF_TYPE_HARDWARE, 0),
    ("instructions", perf::PERF_TYPE_HARDWARE, 1),
    ("cache-references", perf::PERF_TYPE_HARDWARE, 2),
    ("cache-misses", perf::PERF_TYPE_HARDWARE, 3),
    ("branches", perf::PERF_TYPE_HARDWARE, 4),
    ("branch-misses", perf::PERF_TYPE_HARDWARE, 5),
    ("bus-cycles", perf::PERF_TYPE_HARDWARE, 6),
    ("stalled-cycles-frontend", perf::PERF_TYPE_HARDWARE, 7),
    ("stalled-cycles-backend", perf::PERF_TYPE_HARDWARE, 8),
    ("ref-cycles", perf::PERF_TYPE_HARDWARE, 9),
    ("L1-dcache-loads", perf::PERF_TYPE_HW_CACHE, 0),
    ("L1-dcache-load-misses", perf::PERF_TYPE_HW_CACHE, 1 << 16),
    ("LLC-loads", perf::PERF_TYPE_HW_CACHE, 2),
    ("LLC-load-misses", perf::PERF_TYPE_HW_CACHE, 2 | 1 << 16),
    ("dTLB-load-misses", perf::PERF_TYPE_HW_CACHE, 3 | 1 << 16),
    ("node-load-misses", perf::PERF_TYPE_HW_CACHE, 6 | 1 << 16),
    ("task-clock", perf::PERF_TYPE_SOFTWARE, 1),
    ("page-faults", perf::PERF_TYPE_SOFTWARE, 2),
    ("context-switches", perf::PERF_TYPE_SOFTWARE, 3),
    ("cpu-migrations", perf::PERF_TYPE_SOFTWARE, 4),
    ("minor-faults", perf::PERF_TYPE_SOFTWARE, 5),
    ("major-faults", perf::PERF_TYPE_SOFTWARE, 6),
];

impl Counter {
    /// The counter with this name, or with `rHEX`, the CPU's own number of an event; `_` may be
    /// used instead of `-`.
    ///
    /// # Errors
    /// There is no such counter; the message lists the names.
    pub fn named(name: &str) -> Result<Counter, String> {
        let plain = name.replace('_', "-");
        let raw = || {
            let number = u64::from_str_radix(name.strip_prefix('r')?, 16).ok()?;
            Some((perf::PERF_TYPE_RAW, number))
        };
        let found = NAMES
            .iter()
            .find(|known| known.0.eq_ignore_ascii_case(&plain))
            .map(|&(_, kind, config)| (kind, config))
            .or_else(raw);
        let Some((kind, config)) = found else {
            let names: Vec<&str> = NAMES.iter().map(|known| known.0).collect();
            return Err(format!(
                "no counter is called {name}; expected rHEX, or one of {}",
                names.join(", ")
            ));
        };
        Ok(Counter {
            name: plain,
            kind,
            config,
            kernel: false,
        })
    }

    /// Checks that the kernel counts it on this machine, and sets [`Counter::kernel`]. A counter
    /// that does not count in user mode alone (context switches happen in the kernel) is counted in
    /// both modes.
    ///
    /// # Errors
    /// [`WatchRefusal`], with a way to allow it.
    pub fn probe(mut self) -> Result<Counter, WatchRefusal> {
        let with_kernel = open(&self, true);
        let in_user = open(&self, false);
        match (with_kernel, in_user) {
            (Ok(_), _) => self.kernel = true,
            (_, Ok(_)) => self.kernel = false,
            (Err(_), Err(error)) => {
                let reason = match error.raw_os_error() {
                    Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP) => io::Error::other(
                        "this CPU, or the virtual machine it is in, has no such counter",
                    ),
                    _ => error,
                };
                return Err(WatchRefusal::new(
                    &format!("{} can't be counted", self.name),
                    &reason,
                ));
            }
        }
        Ok(self)
    }
}

/// Opens it for this thread, to test whether that is possible.
fn open(counter: &Counter, kernel: bool) -> io::Result<OwnedFd> {
    let mut attr = perf::perf_event_attr::default();
    attr.type_ = counter.kind;
    attr.size = size_of::<perf::perf_event_attr>() as u32;
    attr.config = counter.config;
    attr.set_exclude_kernel(u64::from(!kernel));
    attr.set_exclude_hv(1);
    let flags = u64::from(perf::PERF_FLAG_FD_CLOEXEC);
    // SAFETY: `attr` is a valid attribute structure of the size it states; 0 and -1: this thread on
    // any CPU.
    let fd = unsafe { sys::perf_event_open(&mut attr, 0, -1, -1, flags as _) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call returned a new descriptor that has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[cfg(test)]
mod tests {
    use super::Counter;

    #[test]
    fn names_are_the_usual_ones() {
        let of = |name: &str| Counter::named(name).map(|c| (c.kind, c.config));
        assert_eq!(of("instructions"), Ok((0, 1)));
        assert_eq!(of("cache_misses"), Ok((0, 3)));
        assert_eq!(of("LLC-load-misses"), Ok((3, 0x10002)));
        assert_eq!(of("r1a8"), Ok((4, 0x1a8)));
        assert!(of("rocks").unwrap_err().contains("page-faults"));
        assert!(of("").is_err());
    }

    #[test]
    fn page_faults_are_counted_everywhere_or_refused_with_a_reason() {
        match Counter::named("page-faults").unwrap().probe() {
            Ok(counter) => assert_eq!(counter.config, 2),
            Err(refused) => assert!(refused.to_string().contains("page-faults"), "{refused}"),
        }
    }
}
