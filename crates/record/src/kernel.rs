//! The kernel's observations of the program: off-CPU times, samples and CPU times, which are
//! written into its trace.

pub mod clock;
pub mod cpu_clock;
pub mod cpu_times;
pub mod off_cpu;
pub mod samples;
pub mod waits;
mod yields;
