//! Turns recorded sites (addresses, call stacks, source locations) into readable positions:
//! function, file, line and the line's text. This runs once, after the program, on the machine of
//! the run; the result is stored in the trace.
//!
//! [`resolve()`] processes one module at a time, so that only one module's debug information is in
//! memory. No module file is trusted: parts that can't be read are left out and reported in
//! [`Resolution::warnings`].

mod class_name;
mod code;
mod cplusplus;
mod debug_file;
mod enclosing;
mod entry_line;
mod function;
mod linked;
mod mapping;
mod module;
mod object_file;
mod resolve;
mod source;
mod split;
mod symbol_table;
mod tail_call;
mod unwind;
mod workspace;

pub use code::{CodeFrame, stacks};
pub use linked::{LinkedSymbols, has_interpreter, linked};
pub use mapping::Mapping;
pub use resolve::{Position, Resolution, Site, resolve};
pub use unwind::{Interrupted, Unwinder};
pub use workspace::Workspace;
