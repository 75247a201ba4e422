//! The benchmark for coding agents (`bench/agents`): programs with one seeded fault each, and the
//! judge.

pub mod answer;
pub mod fault;
pub mod findings;
pub mod measure;
pub mod program;
