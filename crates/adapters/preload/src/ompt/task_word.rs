//! The word that the runtime keeps for us with each task: the identity and the state of the task.
//!
//! * 0: the initial task of a thread, or a task from before the recording
//! * [`IMPLICIT`]: the address of its [`super::region::Member`]
//! * not begun: the task's number
//! * on a thread's stack ([`ON_STACK`]): the site of its `taskloop`, if it is in one; of an untied
//!   task also the thread
//! * untied, and its first part's begin is not recorded yet ([`BEGINNING`]): the task's number
//! * gone from its stack ([`LEFT`]): the number of that stop
//! * not begun, and [`BRIEF`]: number, spawn site and level, if all of them are small
//! * [`BRIEF`] and [`UNRECORDED`]: the number is the name of the skipped subtree in which the task
//!   was created. It stays when the task begins in that subtree.
//!
//! Numbers are those of `workspan_recorder::abi::id`, in fewer bits.

use workspan_recorder::abi::id;

/// An implicit task; the other bits are an address.
pub(super) const IMPLICIT: u64 = 1 << 63;
/// Begun, and on some thread's stack.
pub(super) const ON_STACK: u64 = 1 << 62;
/// An untied task between two threads.
pub(super) const LEFT: u64 = 1 << 61;
/// An untied task whose first part runs on some thread, which has not recorded the begin yet. The
/// bits below are still the task's number.
pub(super) const BEGINNING: u64 = LEFT | ON_STACK;
/// Tasks that it creates run within it.
pub(super) const FINAL: u64 = 1 << 60;
/// Its creator waits for it.
pub(super) const INLINE: u64 = 1 << 59;
/// It may resume on another thread.
pub(super) const UNTIED: u64 = 1 << 58;
/// The flags that a task keeps for life.
pub(super) const LASTING: u64 = FINAL | INLINE | UNTIED;

/// It has a small number, with a site and a level.
pub(super) const BRIEF: u64 = 1 << 57;
/// Created in a skipped subtree; only with [`BRIEF`].
pub(super) const UNRECORDED: u64 = 1 << 56;

/// The fields of a brief word, from the lowest bit on: count, thread + 1, site, level.
const BRIEF_COUNT_BITS: u32 = 32;
const BRIEF_THREAD_BITS: u32 = 10;
const SITE_BITS: u32 = 8;
const LEVEL_BITS: u32 = 6;
const NUMBER_BITS: u32 = BRIEF_COUNT_BITS + BRIEF_THREAD_BITS;
const LEVEL_AT: u32 = NUMBER_BITS + SITE_BITS;
/// The bit position of the level of a task on a stack: above the site.
const LEVEL_ON_STACK: u32 = 32;

const fn low(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// Deeper levels count as this one.
pub(super) const MAX_LEVEL: u32 = low(LEVEL_BITS) as u32;

/// Subtrees are numbered with the counts of brief words. From this count on no new subtree is
/// skipped. Each subtree takes a number or two more for pauses, and these then still fit.
const MAX_SUBTREE_COUNT: u64 = 1 << 31;

/// Whether the name of a subtree of that thread, with this count, fits.
pub(super) fn has_room(thread: u32, count: u64) -> bool {
    u64::from(thread) + 1 < 1 << BRIEF_THREAD_BITS && count < MAX_SUBTREE_COUNT
}

/// A brief word; `None` if a value does not fit.
#[inline]
pub(super) fn brief(number: u64, site: u32, level: u32) -> Option<u64> {
    let (thread, count) = (number >> id::COUNT_BITS, number & low(id::COUNT_BITS));
    let fits = thread >> BRIEF_THREAD_BITS == 0 && count >> BRIEF_COUNT_BITS == 0;
    placed(BRIEF | thread << BRIEF_COUNT_BITS | count, site, level).filter(|_| fits)
}

/// Adds site and level to a brief word; `None` if the site does not fit.
#[inline]
pub(super) fn placed(word: u64, site: u32, level: u32) -> Option<u64> {
    let level = u64::from(level.min(MAX_LEVEL));
    let placed = word | level << LEVEL_AT | u64::from(site) << NUMBER_BITS;
    (site >> SITE_BITS == 0).then_some(placed)
}

/// The word of a new task whose site is that of its creator, in the skipped subtree whose words
/// begin with `inside`. `encountering` is the creator's word. `None` if the creator is not such a
/// task, or has the highest level that fits.
#[inline]
pub(super) fn same_again(encountering: u64, inside: u64, site: u32) -> Option<u64> {
    const LEVEL: u64 = low(LEVEL_BITS) << LEVEL_AT;
    let expected = inside | u64::from(site) << NUMBER_BITS | ON_STACK;
    let is_one = encountering & !(INLINE | LEVEL) == expected && encountering & LEVEL != LEVEL;
    is_one.then(|| (encountering & !(ON_STACK | INLINE)) + (1 << LEVEL_AT))
}

/// The bits of a word that name its subtree.
const SUBTREE_MASK: u64 = IMPLICIT | ON_STACK | BRIEF | UNRECORDED | low(NUMBER_BITS);
/// The value of [`subtree`] outside of all subtrees.
pub(super) const NO_SUBTREE: u64 = u64::MAX;

/// The value of [`subtree`] for tasks that were created in the subtree of that name.
pub(super) fn inside(name: u64) -> u64 {
    brief(name, 0, 0).map_or(NO_SUBTREE, |word| word | UNRECORDED)
}

/// The subtree in which this task begins without a record.
#[inline]
pub(super) fn subtree(word: u64) -> u64 {
    word & SUBTREE_MASK
}

/// Whether the task was created in a skipped subtree and has not become a stolen part.
#[inline]
pub(super) fn is_unrecorded(word: u64) -> bool {
    word & (IMPLICIT | BRIEF | UNRECORDED) == BRIEF | UNRECORDED
}

/// The site in a word; 0 if it has none.
#[inline]
pub(super) fn site(word: u64) -> u32 {
    match word & BRIEF {
        0 => 0,
        _ => (word >> NUMBER_BITS & low(SITE_BITS)) as u32,
    }
}

/// The number of tasks between the implicit task and this one, which has begun or has a brief word.
#[inline]
pub(super) fn level(word: u64) -> u32 {
    let at = match word & (IMPLICIT | BRIEF | BEGINNING) {
        ON_STACK => LEVEL_ON_STACK,
        flags if flags & (IMPLICIT | BRIEF) == BRIEF => LEVEL_AT,
        _ => return 0,
    };
    (word >> at & low(LEVEL_BITS)) as u32
}

/// The word of a task with this level that has begun.
#[inline]
pub(super) fn on_stack(lasting: u64, level: u32) -> u64 {
    lasting & LASTING | ON_STACK | u64::from(level) << LEVEL_ON_STACK
}

/// The bit position of the thread of a part of an untied task: above the level. The lowest bits of
/// its number are enough, because the part is also identified by its address.
const THREAD_ON_STACK: u32 = LEVEL_ON_STACK + LEVEL_BITS;
const THREAD_BITS: u32 = 57 - THREAD_ON_STACK;
const THREAD: u64 = low(THREAD_BITS) << THREAD_ON_STACK;

/// The word of an untied task with a part on that thread's stack.
#[inline]
pub(super) fn part_on_stack(lasting: u64, level: u32, thread: u32) -> u64 {
    on_stack(lasting, level) | u64::from(thread) << THREAD_ON_STACK & THREAD
}

/// The identity of a running part of an untied task, in addition to its task's address: the thread,
/// or the task's number if the begin is not recorded yet.
#[inline]
pub(super) fn part(word: u64) -> u64 {
    match word & BEGINNING {
        ON_STACK => word & (ON_STACK | THREAD),
        _ => word & (BEGINNING | ((BRIEF << 1) - 1)),
    }
}

/// The word of a running task in a `taskloop` of that site.
#[inline]
pub(super) fn in_taskloop(word: u64, site: u32) -> u64 {
    on_stack(word, level(word)) | word & THREAD | u64::from(site)
}

/// The number of bits of the count in a packed number. Above them are 21 bits for the thread + 1.
const COUNT_BITS: u32 = 36;
const COUNT: u64 = (1 << COUNT_BITS) - 1;

/// Packs a number into the low 57 bits.
#[inline]
pub(super) fn pack(number: u64) -> u64 {
    ((number >> id::COUNT_BITS) << COUNT_BITS | number & COUNT) & (BRIEF - 1)
}

/// The number packed in a word.
#[inline]
pub(super) fn unpack(word: u64) -> u64 {
    if word & BRIEF != 0 {
        let thread = word >> BRIEF_COUNT_BITS & low(BRIEF_THREAD_BITS);
        return thread << id::COUNT_BITS | word & low(BRIEF_COUNT_BITS);
    }
    let word = word & (BRIEF - 1);
    (word >> COUNT_BITS) << id::COUNT_BITS | word & COUNT
}

/// Whether the task has begun and not left its stack. Such a task can only be interrupted.
#[inline]
pub(super) fn is_running(word: u64) -> bool {
    word == 0 || word & (IMPLICIT | ON_STACK) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_packing_whatever_flags_stand_above() {
        for (thread, count) in [(0, 0), (7, 1), ((u32::MAX >> 11) - 1, COUNT)] {
            let number = id::new(thread, count);
            assert_eq!(unpack(pack(number) | LASTING | LEFT), number);
        }
    }

    #[test]
    fn brief_words_tell_number_site_and_level() {
        for (thread, count, at, depth) in [(0, 0, 1, 1), (1022, low(32), 255, 63)] {
            let number = id::new(thread, count);
            let word = brief(number, at, depth).expect("it fits") | LASTING;
            assert_eq!((unpack(word), site(word), level(word)), (number, at, depth));
            assert_eq!((subtree(word | UNRECORDED)), inside(number));
            assert!(!is_unrecorded(word) && is_unrecorded(word | UNRECORDED));
            assert_ne!(subtree(word | UNRECORDED | ON_STACK), inside(number));
            assert_eq!(level(on_stack(word, depth)), depth);
        }
        assert_eq!(brief(id::new(1023, 0), 1, 1), None);
        assert_eq!(brief(id::new(0, 1 << 32), 1, 1), None);
        assert_eq!(brief(id::new(0, 0), 256, 1), None);
        assert_eq!(level(brief(id::new(0, 0), 1, 1000).expect("it fits")), 63);
    }

    #[test]
    fn a_task_of_its_creators_site_has_its_creators_word_but_for_the_level() {
        let name = id::new(3, 99);
        let of = |site, level| placed(inside(name), site, level).expect("it fits");
        for level in [1, 7, 62] {
            for more in [ON_STACK, ON_STACK | INLINE] {
                let word = same_again(of(9, level) | more, inside(name), 9);
                assert_eq!(word, Some(of(9, level + 1)));
            }
        }
        let odd = [
            of(9, 5),
            of(9, 63) | ON_STACK,
            of(8, 5) | ON_STACK,
            of(9, 5) | ON_STACK | FINAL,
            on_stack(0, 5),
            placed(inside(id::new(3, 98)), 9, 5).expect("it fits") | ON_STACK,
        ];
        for word in odd {
            assert_eq!(same_again(word, inside(name), 9), None, "{word:x}");
        }
        // Outside of all subtrees there is no such task.
        assert_eq!(same_again(u64::MAX, NO_SUBTREE, 255), None);
    }

    #[test]
    fn parts_of_untied_tasks_are_told_apart_by_thread_or_number() {
        let on = |thread| part_on_stack(UNTIED, 7, thread);
        assert_eq!(part(on(3)), part(in_taskloop(on(3), 99)));
        assert_ne!(part(on(3)), part(on(4)));
        assert_eq!(level(on(4)), 7);
        let beginning = |number| pack(number) | UNTIED | BEGINNING;
        let (one, other) = (id::new(1, 5), id::new(1, 6));
        assert_ne!(part(beginning(one)), part(beginning(other)));
        assert_eq!((unpack(beginning(one)), level(beginning(one))), (one, 0));
        let brief = brief(one, 2, 9).expect("it fits") | UNTIED | BEGINNING;
        assert_eq!((unpack(brief), level(brief)), (one, 9));
    }

    #[test]
    fn other_words_are_of_no_subtree() {
        let longest = pack(id::new((u32::MAX >> 11) - 1, COUNT));
        for word in [0, IMPLICIT | 0x7fff_ffff_fff0, longest, longest | LEFT] {
            assert!(!is_unrecorded(word), "{word:x}");
            assert_eq!((site(word), level(word)), (0, 0));
        }
    }

    #[test]
    fn an_implicit_tasks_address_does_not_look_like_flags() {
        let word = IMPLICIT | 0x7fff_ffff_fff0;
        assert!(is_running(word));
        assert_eq!(word & (LASTING | LEFT), 0);
    }
}
