//! Finds a function's caller from call frame information, which the compiler writes (DWARF 5 §6.4,
//! in the form of `.eh_frame`). It is exact for frames of any size on any stack. Only the places
//! are read where the function itself saved its return address and its caller's frame pointer.
//!
//! Three forms of a frame's end are supported, which are those that compilers write: a distance
//! from the stack pointer; a distance from the frame pointer (frames with `alloca` or arrays of
//! variable length); a value saved at a distance from the frame pointer (frames that GCC aligns).
//! At any other form the walk ends.

mod information;

use core::ffi::c_void;

use information::evaluate;

/// Where a frame ends: the caller's stack pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum End {
    /// Unknown, or there is no caller.
    None,
    /// At a distance from the stack pointer.
    Sp,
    /// At a distance from the frame pointer.
    Bp,
    /// Saved at a distance from the frame pointer.
    AtBp,
}

/// The location of the caller's frame pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum SavedFramePointer {
    /// In the register, unchanged.
    Same,
    /// Saved at a distance from the frame's end.
    AtEnd,
    /// Saved at a distance from the frame pointer.
    AtBp,
    Lost,
}

/// How to get from a frame to its caller's, for one return address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rule {
    end_at: i32,
    saved_at: i16,
    end: End,
    saved: SavedFramePointer,
}

/// Registers of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Registers {
    /// The address at which the frame goes on.
    pub(super) ret: usize,
    pub(super) sp: usize,
    /// 0 if it is unknown.
    pub(super) bp: usize,
}

impl Rule {
    /// The walk ends here.
    pub(super) const NONE: Rule = Rule {
        end_at: 0,
        saved_at: 0,
        end: End::None,
        saved: SavedFramePointer::Same,
    };

    /// The caller's registers.
    ///
    /// # Safety
    /// `registers` are those of a live frame, and this is the rule for its return address.
    #[inline(always)]
    pub(super) unsafe fn caller(&self, registers: Registers) -> Option<Registers> {
        let at = |from: usize, by: isize| from.wrapping_add_signed(by);
        // SAFETY: in a live frame, the return address and the caller's registers are where the rule
        // says.
        let load = |place: usize| unsafe { *(place as *const usize) };
        let by = self.end_at as isize;
        let end = match self.end {
            End::Sp => at(registers.sp, by),
            End::None => return None,
            _ if registers.bp == 0 => return None,
            End::Bp => at(registers.bp, by),
            End::AtBp => load(at(registers.bp, by)),
        };
        if end <= registers.sp || !end.is_multiple_of(size_of::<usize>()) {
            return None;
        }
        let by = isize::from(self.saved_at);
        let bp = match self.saved {
            SavedFramePointer::Same => registers.bp,
            SavedFramePointer::AtEnd => load(at(end, by)),
            SavedFramePointer::AtBp if registers.bp != 0 => load(at(registers.bp, by)),
            _ => 0,
        };
        Some(Registers {
            ret: load(end - size_of::<usize>()),
            sp: end,
            bp,
        })
    }
}

/// `struct dwarf_eh_bases` of libgcc.
#[repr(C)]
struct Bases {
    text: usize,
    data: usize,
    function: usize,
}

unsafe extern "C" {
    fn _Unwind_Find_FDE(pc: *const c_void, bases: *mut Bases) -> *const u8;
}

/// The rule for a frame that goes on at this address.
#[cold]
pub(super) fn rule_at(ret: usize) -> Rule {
    let mut bases = Bases {
        text: 0,
        data: 0,
        function: 0,
    };
    // The call may be the function's last instruction.
    let pc = ret.wrapping_sub(1);
    // SAFETY: the function takes any address.
    let entry = unsafe { _Unwind_Find_FDE(pc as *const c_void, &mut bases) };
    if entry.is_null() || bases.function > pc {
        return Rule::NONE;
    }
    // SAFETY: an entry that the unwinder returns is part of a loaded file, as is the entry it
    // refers to.
    let parts = unsafe {
        entry_at(entry).and_then(|own| {
            let back = i32::from_le_bytes(own.get(..4)?.try_into().ok()?);
            let common = entry_at(own.as_ptr().wrapping_offset(-(back as isize)))?;
            Some((common, own))
        })
    };
    parts
        .and_then(|(common, own)| evaluate(common.get(4..)?, own.get(4..)?, pc - bases.function))
        .unwrap_or(Rule::NONE)
}

/// The contents of an entry, after its length.
///
/// # Safety
/// `at` is the start of an entry of `.eh_frame`, and its file stays loaded during the call.
unsafe fn entry_at<'a>(at: *const u8) -> Option<&'a [u8]> {
    // SAFETY: an entry has as many bytes as its length says.
    unsafe {
        let length = at.cast::<u32>().read_unaligned();
        // Zero ends the section; all ones announce a longer length, which no compiler writes.
        (length >= 4 && length != u32::MAX)
            .then(|| core::slice::from_raw_parts(at.add(4), length as usize))
    }
}

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use super::{Registers, rule_at};
    use core::ffi::{c_int, c_void};

    unsafe extern "C" {
        fn _Unwind_Backtrace(
            each: unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int,
            with: *mut c_void,
        ) -> c_int;
        fn _Unwind_GetIP(frame: *mut c_void) -> usize;
        fn _Unwind_GetCFA(frame: *mut c_void) -> usize;
        fn _Unwind_GetGR(frame: *mut c_void, register: c_int) -> usize;
    }

    unsafe extern "C" fn one(frame: *mut c_void, with: *mut c_void) -> c_int {
        // SAFETY: the unwinder's frame, and the list that was passed below.
        unsafe {
            (*with.cast::<Vec<Registers>>()).push(Registers {
                ret: _Unwind_GetIP(frame),
                sp: _Unwind_GetCFA(frame),
                bp: _Unwind_GetGR(frame, 6),
            });
        }
        0
    }

    #[test]
    fn each_frame_leads_to_the_one_the_unwinder_finds() {
        fn deep(n: u32) -> Vec<Registers> {
            if n > 0 {
                return std::hint::black_box(deep(n - 1));
            }
            let mut frames = Vec::<Registers>::new();
            // SAFETY: the callback gets the list, and no other code uses it meanwhile.
            unsafe { _Unwind_Backtrace(one, (&raw mut frames).cast()) };
            for (at, pair) in frames.windows(2).enumerate() {
                // SAFETY: all these frames are live.
                let caller = unsafe { rule_at(pair[0].ret).caller(pair[0]) };
                // The outermost frames have no known caller, or one at 0.
                if at + 3 < frames.len() {
                    assert_eq!(caller, Some(pair[1]), "frame {at} of {}", frames.len());
                }
            }
            frames
        }
        let frames = std::thread::spawn(|| deep(5)).join().expect("a thread");
        assert!(frames.len() > 8, "{}", frames.len());
    }

    #[test]
    fn where_there_is_no_function_there_is_no_caller() {
        assert_eq!(rule_at(16), super::Rule::NONE);
        assert_eq!(rule_at(0), super::Rule::NONE);
    }
}
