//! Task-parallel kernels over Rayon, each with its grain as an argument and a check of its own
//! result. They are plain Rayon programs; the suite marks the part that it measures by
//! workspan-api, which does nothing in a run that is not recorded. `tp/` has the same in C++ for
//! other runtimes, which print the same and have the same tasks.

pub mod command;
pub mod loops;
pub mod numbers;
