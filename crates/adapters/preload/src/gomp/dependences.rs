//! Reads the dependence lists that the compiler passes to `GOMP_task`. A list has one of two forms:
//!
//! * the number of entries; the number of `out` and `inout` entries; the addresses, those first,
//!   then `in`
//! * 0; the number of entries; the numbers of `out`, `mutexinoutset` and `in` entries; the
//!   addresses in that order; then pointers to `omp_depend_t` objects, each an address and a kind

use workspan_recorder::wire::dependence;

/// Kinds in an `omp_depend_t`.
const IN: usize = 1;
const MUTEX: usize = 4;
const INOUT_SET: usize = 5;

/// Kind and address of each entry.
///
/// # Safety
/// `list` points to such a list.
pub(super) unsafe fn read(list: *const usize) -> Vec<(u64, u64)> {
    // SAFETY: a list is as long as it says, and its last entries point to two words each.
    unsafe {
        let word = |i: usize| *list.add(i);
        let mut entries = Vec::new();
        if word(0) != 0 {
            let (count, out) = (word(0), word(1));
            for i in 0..count {
                let kind = if i < out {
                    dependence::OUT
                } else {
                    dependence::IN
                };
                entries.push(entry(kind, word(2 + i)));
            }
            return entries;
        }
        let (count, out, mutex, input) = (word(1), word(2), word(3), word(4));
        for i in 0..count {
            let address = word(5 + i);
            entries.push(if i < out {
                entry(dependence::OUT, address)
            } else if i < out + mutex {
                entry(dependence::MUTEX, address)
            } else if i < out + mutex + input {
                entry(dependence::IN, address)
            } else {
                let object = address as *const usize;
                let kind = match *object.add(1) {
                    IN => dependence::IN,
                    MUTEX => dependence::MUTEX,
                    INOUT_SET => dependence::INOUT_SET,
                    _ => dependence::OUT,
                };
                entry(kind, *object)
            });
        }
        entries
    }
}

/// `inout` with a null address stands for `omp_all_memory`.
fn entry(kind: u64, address: usize) -> (u64, u64) {
    if kind == dependence::OUT && address == 0 {
        (dependence::ALL, 0)
    } else {
        (kind, address as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        let short = [3, 1, 0x10, 0x20, 0x30];
        // SAFETY: a list of three.
        let read_short = unsafe { read(short.as_ptr()) };
        assert_eq!(
            read_short,
            [
                (dependence::OUT, 0x10),
                (dependence::IN, 0x20),
                (dependence::IN, 0x30)
            ]
        );
        let object = [0x50_usize, INOUT_SET];
        let long = [0, 4, 1, 1, 1, 0, 0x20, 0x30, object.as_ptr() as usize];
        // SAFETY: a list of four, whose last entry points to an object.
        let read_long = unsafe { read(long.as_ptr()) };
        assert_eq!(
            read_long,
            [
                (dependence::ALL, 0),
                (dependence::MUTEX, 0x20),
                (dependence::IN, 0x30),
                (dependence::INOUT_SET, 0x50)
            ]
        );
    }
}
