//! What lies in the runtime's word of a task: who it is, and where it stands.
//!
//! * 0: the initial task of a thread, or one of before the recording
//! * [`IMPLICIT`]: the address of its [`super::region::Member`]
//! * not begun: its number; on a thread's stack ([`ON_STACK`]): the site of its `taskloop`, if it is in one; gone from its stack
//!   ([`LEFT`]): the number of that stop. Numbers are those of `workspan_recorder::front::id`, in fewer bits.

use workspan_recorder::front::id;

/// An implicit task; the bits below are an address.
pub(super) const IMPLICIT: u64 = 1 << 63;
/// Begun, and on some thread's stack.
pub(super) const ON_STACK: u64 = 1 << 62;
/// An untied task between two threads.
pub(super) const LEFT: u64 = 1 << 61;
/// Tasks it creates are included in it.
pub(super) const FINAL: u64 = 1 << 60;
/// Its creator waits for it.
pub(super) const INLINE: u64 = 1 << 59;
/// It may go on on another thread.
pub(super) const UNTIED: u64 = 1 << 58;
/// What a task keeps for life.
pub(super) const LASTING: u64 = FINAL | INLINE | UNTIED;

/// Bits of the count in a packed number; above them, 22 bits of thread.
const COUNT_BITS: u32 = 36;
const COUNT: u64 = (1 << COUNT_BITS) - 1;

/// A number in the low 58 bits.
#[inline]
pub(super) fn pack(number: u64) -> u64 {
    ((number >> id::COUNT_BITS) << COUNT_BITS | number & COUNT) & (UNTIED - 1)
}

/// The number packed in a word.
#[inline]
pub(super) fn unpack(word: u64) -> u64 {
    let word = word & (UNTIED - 1);
    (word >> COUNT_BITS) << id::COUNT_BITS | word & COUNT
}

/// True when the task has begun and not left: something else can only be on top of it.
#[inline]
pub(super) fn is_running(word: u64) -> bool {
    word == 0 || word & (IMPLICIT | ON_STACK) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_packing_whatever_flags_stand_above() {
        for (thread, count) in [(0, 0), (7, 1), (u32::MAX >> 11, COUNT)] {
            let number = id::new(thread, count);
            assert_eq!(unpack(pack(number) | LASTING | LEFT), number);
        }
    }

    #[test]
    fn an_implicit_tasks_address_does_not_look_like_flags() {
        let word = IMPLICIT | 0x7fff_ffff_fff0;
        assert!(is_running(word));
        assert_eq!(word & (LASTING | LEFT), 0);
    }
}
