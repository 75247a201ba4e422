//! Records LLVM OpenMP (libomp, libiomp5) through its tools interface, OMPT (OpenMP 5.2, chapter
//! 19). `ompt/README.md` describes the protocol, with an example.
//!
//! The runtime looks for `ompt_start_tool` when it starts, and finds the one in this library. From
//! then on it calls back at each event. A callback finds its thread's [`thread_state::ThreadState`]
//! and writes the records of MODEL.md §1's table. The runtime keeps a word for tools with each
//! task. The word has the recorder's data about the task ([`task_word`]), so no lookup is
//! necessary.
//!
//! Four functions of the runtime are interposed ([`entry_points`]) because no event has their
//! information: where a `taskloop` is called from, which function a region runs, and that an
//! undeferred task was written as such.

mod budget;
mod dependences;
mod entry_points;
mod ffi;
mod group_waits;
mod locks;
mod region;
mod silent_end;
mod start;
mod sync;
mod task_side_table;
mod task_word;
mod tasks;
mod thread_state;
mod worksharing;
