//! Buffers, clock and chunk hand-over inside the recorded process, and the table of functions that
//! front ends use.
//!
//! [`start`] makes a spool file and begins the main root task. Front ends get [`TABLE`] and write
//! records through the calling thread's [`abi::Handle`]. [`finish`] writes the end. Every record
//! is in the mapped file as soon as it is committed, so there is nothing to flush: a process that
//! is killed leaves a readable trace.
//!
//! The recorder never panics, does not allocate on the hot path, and does not change errno. It
//! never ends the program: if it cannot continue, it writes to scratch memory and counts what is
//! lost.

pub mod abi;
pub mod adapter;
pub mod budget;
mod calls;
mod chunk_folder;
mod chunk_queue;
mod clock;
mod counters;
mod cpu_clock;
mod descriptor;
mod emergency_heap;
mod fold_policy;
mod fork;
mod instructions;
mod intern;
mod kept_parts;
mod lock;
mod mapped;
mod objects;
mod process;
mod schedstat;
mod spool;
mod system;
mod table;
mod thread;
mod tls_slot;
pub mod wait_log;
mod watch_scope;

pub use chunk_queue::keep;
pub use clock::monotonic_raw_ns;
pub use counters::{CounterEvent, MAX_COUNTERS};
pub use cpu_clock::stop as stop_cpu_clocks;
pub use emergency_heap::Reserved;
pub use fold_policy::{FoldWhen, Folding, GRAIN, MaxStrands, fold};
pub use instructions::EMULATED;
pub use kept_parts::{CALLS, MAX_SIGNALS, Parts, SIGNALS, SIGNALS_SIZE};
pub use process::{OffCpuTimes, WATCH_REQUESTS, finish, has_forked, is_on, start, use_at_most};
pub use table::TABLE;
pub use watch_scope::watch_scope;
pub use workspan_trace::wire;
