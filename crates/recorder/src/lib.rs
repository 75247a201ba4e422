//! Buffers, clock and chunk hand-over inside the recorded process; the table of functions front ends use.

pub mod front;
pub use workspan_trace::wire;
