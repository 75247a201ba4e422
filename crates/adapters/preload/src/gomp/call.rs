//! The site of an entry point without arguments. gcc ends a function whose last statement is such a call with a jump; then
//! the function's own address is the nearest that is known ([`crate::call_site`]).

use workspan_recorder::front::INHERITED;

use super::frame;
use crate::call_site::{Callee, callee};
use crate::loaded::is_ours;
use crate::sites;

/// The site of a call of an entry point that returns to `address`.
pub(super) fn site(address: usize, primitive: u8) -> u32 {
    let found = sites::looked_up(address, primitive, || {
        // SAFETY: the address is one that this thread returns to.
        match unsafe { callee(address) } {
            Callee::Is(function) if !is_ours(function) => (function, false),
            Callee::Unknown if is_ours(address) => (INHERITED, false),
            _ => (address, true),
        }
    });
    // Called by jump from an outlined function, which was called by us: every such function returns to the same place.
    found.unwrap_or_else(|| {
        // SAFETY: the current frame is this thread's and lives.
        let function = unsafe { (*frame::current()).function };
        sites::at(function, primitive, false)
    })
}
