//! The kernel's view of a recorded program, taken from outside: when each thread was off the CPU,
//! and why.
//!
//! The runner calls [`watch_from_exec`] just before it execs the program. That opens one software
//! event with context-switch records per CPU on the runner itself, enabled by the exec and
//! inherited by every thread, and leaves a detached process behind that empties the rings into a
//! file (`switch_file`) until the program is gone. The program keeps its process id and gets no
//! unknown child. After the run [`read_switches`] waits for the file to be complete and
//! [`off_cpu_intervals`] turns switches into intervals (MODEL.md §2: *descheduled* when preempted,
//! *blocked* when the thread gave up the CPU itself). [`Counter`] names the events that the
//! recorder can count in each thread. The same events can sample the threads' call chains.
//! Processes that the program does not start itself ask for events (`watch_requests`).

mod cost;
mod counter;
mod drain;
mod event;
mod off_cpu;
mod on_cpu;
mod ring;
mod switch_file;
mod watch_requests;

pub use cost::Rate;
pub use counter::Counter;
pub use drain::{Scope, watch_from_exec};
pub use event::{WatchRefusal, kernel_is_sampled, parse_cpu_list};
pub use off_cpu::{OffCpuInterval, off_cpu_intervals, thread_ends};
pub use on_cpu::{OnCpuTimes, on_cpu_times};
pub use switch_file::{Sample, Switch, Switches, UserStack, decode_switches, read_switches};
pub use watch_requests::{UNWATCHED, WATCHED};
