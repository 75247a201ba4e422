//! Marks up a Rust program for workspan: regions, parts, signals, and the tasks of a scheduler of
//! your own.
//!
//! ```
//! static READ: workspan_api::Label = workspan_api::Label::new("read input");
//!
//! fn main() {
//!     let lines = {
//!         let _reading = workspan_api::region(&READ);
//!         "1\n2\n3".lines().count()
//!     };
//!     assert_eq!(lines, 3);
//! }
//! ```
//!
//! Nothing has to be set up and nothing is linked: a program run by `workspan record` finds the
//! recorder in the process. In any other run a call is one branch that the CPU predicts. With the
//! feature `off` it is nothing at all.
//!
//! Programs that use Rayon are recorded without any of this; regions and parts give names to pieces
//! of them. [`Task`], [`Scope`] and [`Pool`] are for runtimes that workspan does not know. Each
//! call reports one step of MODEL.md §1, on the thread where it happens.

mod mark;
mod pool;
mod scope;
mod signal;
mod site;
mod table;
mod task;

pub use mark::{Label, Part, Region, Text, counter, part, region, tree_region};
pub use pool::{Pool, Thread, Worker, sleep, steal, steal_failed, thread};
pub use scope::Scope;
pub use signal::{Signal, wait_signals};
pub use table::is_recorded;
pub use task::{Running, Stopped, Task, leave, wait_children, wait_tasks, yield_while};
