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
//! No setup and no linking are needed: a program run by `workspan record` finds the recorder in the
//! process. In any other run a call is one branch that the CPU predicts. With the feature `off` it
//! compiles to nothing.
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

pub use mark::{Label, Part, Region, Text, counter, keep, part, region, size, tree_region};
pub use pool::{Pool, Thread, Worker, sleep, steal, steal_failed, thread};
pub use scope::Scope;
pub use signal::{Signal, wait_signals};
pub use table::is_recorded;
pub use task::{Running, Stopped, Task, leave, wait_children, wait_tasks, yield_while};

#[cfg(test)]
mod tests {
    /// The crate's sources, except for this file, which has no items of its own.
    const SOURCES: [(&str, &str); 6] = [
        ("mark.rs", include_str!("mark.rs")),
        ("pool.rs", include_str!("pool.rs")),
        ("scope.rs", include_str!("scope.rs")),
        ("signal.rs", include_str!("signal.rs")),
        ("table.rs", include_str!("table.rs")),
        ("task.rs", include_str!("task.rs")),
    ];

    /// Public items with the documentation above each. Modules inside a file are private.
    fn public_items(source: &str) -> Vec<(&str, String)> {
        let mut items = Vec::new();
        let mut documentation = String::new();
        for line in source.lines() {
            let word = line.trim_start();
            let depth = line.len() - word.len();
            let is_item = ["fn", "const fn", "struct", "enum", "trait", "type", "macro"]
                .iter()
                .any(|kind| word.starts_with(&format!("pub {kind} ")));
            if let Some(text) = word.strip_prefix("///") {
                documentation.push_str(text);
                documentation.push('\n');
            } else if is_item && (depth == 0 || word.contains("fn ")) {
                items.push((word, std::mem::take(&mut documentation)));
            } else if !word.starts_with("#[") {
                documentation.clear();
            }
        }
        items
    }

    #[test]
    fn every_public_item_has_an_example_that_is_compiled() {
        let mut count = 0;
        for (file, source) in SOURCES {
            for (item, documentation) in public_items(source) {
                assert!(
                    documentation.contains("```\n"),
                    "{file}: {item}: no example"
                );
                count += 1;
            }
        }
        // Types, their functions, and free functions: this many when the test was written.
        assert!(count >= 38, "{count}");
    }
}
