//! GNU OpenMP (libgomp), by standing in front of its entry points: the program's calls of `GOMP_*` come here, are told to
//! the recorder, and go on to the real library, whose scheduler is the one that runs.
//!
//! What libgomp is given instead of the program's outlined functions are functions of ours: [`region`]'s for the threads of
//! a parallel region, [`task`]'s and [`taskloop`]'s for explicit tasks, whose argument block gets a header in front of it.
//! So every begin and end of a task is seen on the thread that runs it, without knowing anything of libgomp's insides.
//!
//! An entry point only forwards when this process is not recorded (any more), and when the function that the program would
//! have called is not libgomp's: libomp exports `GOMP_*` too, and its own tools interface tells the story ([`real`]).
//!
//! What libgomp's interface does not show is not told: chunks of loops that the compiler divides by itself
//! (`schedule(static)`), `taskyield` (which does nothing in libgomp), and target tasks.

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
