//! Records GNU OpenMP (libgomp) by interposing its entry points. The program's calls of `GOMP_*`
//! come here, are recorded, and go on to libgomp, whose scheduler runs the tasks. `gomp/README.md`
//! describes the protocol, with an example.
//!
//! libgomp gets functions of ours instead of the program's outlined functions: [`region`]'s for the
//! threads of a parallel region, [`task`]'s and [`taskloop`]'s for explicit tasks, whose argument
//! block gets a header in front. So every begin and end of a task is seen on the thread that runs
//! it, without knowledge of libgomp's internals.
//!
//! An entry point only forwards its call if this process is not recorded, or no longer, and if the
//! next symbol is not libgomp's: libomp exports `GOMP_*` too, and reports its own events
//! ([`next_symbol`]).
//!
//! Not recorded, because libgomp's interface does not show it: chunks of loops that the compiler
//! divides by itself (`schedule(static)`), `taskyield`, which does nothing in libgomp, and target
//! tasks.

#[cfg(target_arch = "x86_64")]
mod barrier;
#[cfg(target_arch = "x86_64")]
mod budget;
#[cfg(target_arch = "x86_64")]
mod call_site;
#[cfg(target_arch = "x86_64")]
mod dependences;
#[cfg(target_arch = "x86_64")]
mod detach;
#[cfg(target_arch = "x86_64")]
mod entry_points;
#[cfg(target_arch = "x86_64")]
mod header;
#[cfg(target_arch = "x86_64")]
mod lock;
#[cfg(target_arch = "x86_64")]
mod next_symbol;
#[cfg(target_arch = "x86_64")]
mod pool;
#[cfg(target_arch = "x86_64")]
mod region;
#[cfg(target_arch = "x86_64")]
mod task;
#[cfg(target_arch = "x86_64")]
mod task_frame;
#[cfg(target_arch = "x86_64")]
mod taskgroup;
#[cfg(target_arch = "x86_64")]
mod taskloop;
#[cfg(target_arch = "x86_64")]
mod taskwait;
#[cfg(target_arch = "x86_64")]
mod teams;
#[cfg(target_arch = "x86_64")]
mod undeferred;
#[cfg(target_arch = "x86_64")]
mod worksharing;
