//! Mark up a Rust program for workspan: regions, parts, signals and hand-made tasks.
