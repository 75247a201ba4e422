//! Buffers, clock and chunk hand-over inside the recorded process; the table of functions front
//! ends use.
//!
//! [`start`] makes a spool file and begins the main root task; front ends get [`TABLE`] and write
//! records through the calling thread's [`front::Handle`]; [`finish`] writes the end. Every record
//! is in the mapped file as soon as it is committed, so there is nothing to flush: a process that
//! is killed leaves a readable trace.
//!
//! Nothing here panics, allocates on the hot path, or changes errno. The recorder never ends the
//! program: where it can't go on, it writes to scratch memory and counts what is lost.

pub mod adapter;
pub mod budget;
mod calls;
mod clock;
mod counters;
mod cpu_clock;
mod descriptor;
mod folder;
mod folding;
mod fork;
pub mod front;
mod instructions;
mod intern;
mod lock;
mod mapped;
mod objects;
mod parts;
mod process;
mod reserve;
mod ring;
mod schedstat;
mod spool;
mod system;
mod table;
mod thread;
mod thread_word;
pub mod wait_log;

pub use clock::monotonic_raw_ns;
pub use counters::{CounterEvent, MOST_COUNTERS};
pub use cpu_clock::stop as stop_cpu_clocks;
pub use folding::{Folding, GRAIN, MaxStrands, When, fold};
pub use instructions::EMULATED;
pub use parts::{CALLS, MOST_SIGNALS, Parts, SIGNALS, SIGNALS_SIZE};
pub use process::{OffCpuTimes, finish, has_forked, is_on, start, use_at_most};
pub use reserve::Reserved;
pub use ring::keep;
pub use table::TABLE;
pub use workspan_trace::wire;
