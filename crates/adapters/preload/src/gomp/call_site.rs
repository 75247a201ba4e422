//! The site of an entry point without arguments. gcc ends a function whose last statement is such a call with a jump; then
//! the function's own address is the nearest that is known ([`crate::call_instruction`]).

use workspan_recorder::front::INHERITED;

use super::task_frame;
use crate::call_instruction::{CallTarget, call_target};
use crate::loaded_files::is_ours;
use crate::site_cache;

/// The site of a call of an entry point that returns to `address`.
pub(super) fn site(address: usize, primitive: u8) -> u32 {
    let found = site_cache::looked_up(address, primitive, || {
        // SAFETY: the address is one that this thread returns to.
        match unsafe { call_target(address) } {
            CallTarget::Function(function) if !is_ours(function) => (function, false),
            CallTarget::Unknown if is_ours(address) => (INHERITED, false),
            _ => (address, true),
        }
    });
    // Called by jump from an outlined function, which was called by us: every such function returns to the same place.
    found.unwrap_or_else(|| {
        // SAFETY: the current frame is this thread's and lives.
        let function = unsafe { (*task_frame::current()).function };
        site_cache::at(function, primitive, false)
    })
}
