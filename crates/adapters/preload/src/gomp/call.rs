//! Who called an entry point without arguments. gcc ends a function whose last statement is such a call with a jump, and then
//! the return address lies in the function's caller. The machine code before it tells: where it calls something else than
//! the entry point, that is the function whose end we are at, and its own address is the nearest that is known.

use workspan_recorder::front::INHERITED;

use super::frame;
use super::real::file_of;
use crate::sites;

const PAGE: usize = 4096;

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

enum Callee {
    Is(usize),
    Unknown,
}

/// What the call instruction before an address calls.
///
/// # Safety
/// The address is a return address.
unsafe fn callee(address: usize) -> Callee {
    // A call instruction's bytes are on the same page, or are not looked at.
    if address % PAGE < 6 {
        return Callee::Unknown;
    }
    // SAFETY: the bytes lie on the page of the call's last byte, which was executed. Whatever is followed from there is
    // checked to lie in a loaded file; a jump's target is read from where the processor would read it.
    unsafe {
        let code = address as *const u8;
        if *code.sub(6) == 0xff && *code.sub(5) == 0x15 {
            return slot(address, offset(code.sub(4)));
        }
        if *code.sub(5) != 0xe8 {
            return Callee::Unknown;
        }
        let target = address.wrapping_add_signed(offset(code.sub(4)));
        if target % PAGE > PAGE - 16 || file_of(target).is_none() {
            return Callee::Unknown;
        }
        // An entry of the procedure linkage table jumps by way of a slot.
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
        Callee::Is(target)
    }
}

/// # Safety
/// Four bytes of code lie there.
unsafe fn offset(at: *const u8) -> isize {
    // SAFETY: the caller's.
    unsafe { at.cast::<i32>().read_unaligned() as isize }
}

/// What a slot so far from an instruction's end holds.
///
/// # Safety
/// As [`callee`].
unsafe fn slot(end: usize, offset: isize) -> Callee {
    let slot = end.wrapping_add_signed(offset);
    if !slot.is_multiple_of(8) || file_of(slot).is_none() {
        return Callee::Unknown;
    }
    // SAFETY: a slot of a loaded file's, which the program calls through.
    Callee::Is(unsafe { *(slot as *const usize) })
}

fn is_ours(address: usize) -> bool {
    let base = |address| file_of(address).map(|f| f.base);
    base(address).is_some() && base(address) == base(is_ours as fn(usize) -> bool as usize)
}
