//! Task-parallel kernels over Rayon, each with its grain as an argument and a check of its own result. They are plain
//! Rayon programs: nothing of workspan is linked in.

pub mod command;
pub mod numbers;
