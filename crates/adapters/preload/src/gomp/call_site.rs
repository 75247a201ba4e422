//! The site of an entry point without arguments. gcc turns such a call into a jump if it is a
//! function's last statement. Then the function's own address is the nearest known one
//! ([`crate::call_instruction`]).

use workspan_recorder::abi::INHERITED;

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
    // An outlined function made the call by a jump. We called that function, and all such functions
    // return to the same place.
    found.unwrap_or_else(|| {
        // SAFETY: the current frame is this thread's, and alive.
        let function = unsafe { (*task_frame::current()).function };
        site_cache::at(function, primitive, false)
    })
}
