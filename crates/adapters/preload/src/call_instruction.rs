//! Decodes the call instruction before a return address.
//!
//! A compiler turns a call into a jump if it is a function's last statement. The return address is
//! then in the function's caller. If the code there calls something other than one of our entry
//! points, that is the function that ended with the jump.

use crate::loaded_files::{base_of, is_ours};

const PAGE: usize = 4096;

pub(crate) enum CallTarget {
    Function(usize),
    Unknown,
}

/// The function called by the call instruction before an address.
///
/// # Safety
/// The address is a return address.
pub(crate) unsafe fn call_target(address: usize) -> CallTarget {
    // Call instructions that begin on the page before are not examined.
    if address % PAGE < 6 {
        return CallTarget::Unknown;
    }
    // SAFETY: the bytes are on the page of the call's last byte, which was executed. Targets are
    // checked to lie in a loaded file before they are followed; a jump's target is read from where
    // the processor would read it.
    unsafe {
        let code = address as *const u8;
        if *code.sub(6) == 0xff && *code.sub(5) == 0x15 {
            return slot(address, offset(code.sub(4)));
        }
        if *code.sub(5) != 0xe8 {
            return CallTarget::Unknown;
        }
        let target = address.wrapping_add_signed(offset(code.sub(4)));
        if target % PAGE > PAGE - 16 || base_of(target).is_none() {
            return CallTarget::Unknown;
        }
        // An entry of the procedure linkage table jumps through a slot.
        let mut at = target as *const u8;
        if at.cast::<u32>().read_unaligned() == 0xfa1e_0ff3 {
            at = at.add(4);
        }
        if *at == 0xf2 {
            at = at.add(1);
        }
        if *at == 0xff && *at.add(1) == 0x25 {
            return slot(at as usize + 6, offset(at.add(2)));
        }
        CallTarget::Function(target)
    }
}

/// A call's displacement.
///
/// # Safety
/// Four bytes of code are readable at `at`.
unsafe fn offset(at: *const u8) -> isize {
    // SAFETY: the caller says that the bytes are there.
    unsafe { at.cast::<i32>().read_unaligned() as isize }
}

/// The contents of a slot at this distance from the end of an instruction.
///
/// # Safety
/// As for [`call_target`].
unsafe fn slot(end: usize, offset: isize) -> CallTarget {
    let slot = end.wrapping_add_signed(offset);
    if !slot.is_multiple_of(8) || base_of(slot).is_none() {
        return CallTarget::Unknown;
    }
    // SAFETY: an aligned slot in a loaded file, through which the program calls.
    CallTarget::Function(unsafe { *(slot as *const usize) })
}

/// The code of the function that made the call which returns to this address, or the address itself
/// if the function is not known.
pub(crate) fn calling_function(address: usize) -> usize {
    // SAFETY: the address is one that the calling thread returns to.
    match unsafe { call_target(address) } {
        CallTarget::Function(function) if !is_ours(function) => function,
        _ => address,
    }
}
