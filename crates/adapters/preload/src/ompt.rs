//! LLVM OpenMP (libomp, libiomp5), told by its tools interface, OMPT (OpenMP 5.2, chapter 19).
//!
//! The runtime looks for `ompt_start_tool` when it starts and finds the one in this library; from then on it calls back at
//! each event. A callback finds its thread's [`thread_state::ThreadState`] and writes the records of MODEL.md §1's table through the
//! recorder's handle. What a task is known by to the recorder lies in the word the runtime keeps for tools with each task
//! ([`word`]), so nothing has to be looked up.
//!
//! Three functions of the runtime are also stood in front of ([`entry`]), as their events lack what they know: where a
//! `taskloop` is called from, and that an undeferred task was written as such.

mod budget;
mod dependences;
mod entry_points;
mod ffi;
mod group_waits;
mod locks;
mod region;
mod start;
mod sync;
mod task_side_table;
mod task_word;
mod tasks;
mod thread_state;
mod worksharing;
