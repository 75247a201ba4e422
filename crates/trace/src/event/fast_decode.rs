//! Fast decoding of the most frequent records in their most frequent form: those of joins, and
//! creates, begins, waits and resumes of tasks. Each is read from a slice of fixed length, so that
//! hardly any bounds have to be checked. All other records are left to the general decoder, which
//! gives the same result.

use super::{Event, Events, WaitFor, optional, thread_of};
use crate::wire::{self, Kind};

/// The number of bytes that must be readable. A head takes at most 8 bytes, and so does each of the
/// at most 4 numbers of a record that is read here.
pub(crate) const ROOM: usize = 40;

/// The slice, and how much of it has been read.
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8; ROOM],
    pub(crate) at: usize,
}

impl Cursor<'_> {
    /// At the first operand of the record that begins with the slice.
    #[inline(always)]
    pub(crate) fn behind_head(bytes: &[u8; ROOM]) -> Cursor<'_> {
        let at = 1 + usize::from(bytes[0] >> 5);
        Cursor { bytes, at }
    }

    /// Moves past this many numbers, of any length.
    #[inline(always)]
    pub(crate) fn skip(&mut self, numbers: usize) {
        for _ in 0..numbers {
            // The number of trailing zeros of a number's first byte says how long it is.
            let first = self.bytes.get(self.at).copied().unwrap_or(1);
            self.at += first.trailing_zeros() as usize + 1;
        }
    }

    /// The next varint, unless it is one that takes 9 bytes.
    #[inline(always)]
    pub(crate) fn number(&mut self) -> Option<u64> {
        let word = u64::from_le_bytes(*self.bytes.get(self.at..)?.first_chunk::<8>()?);
        let n = word.trailing_zeros() as usize + 1;
        if n > 8 {
            return None;
        }
        self.at += n;
        Some(word << (64 - 8 * n) >> (64 - 7 * n))
    }

    #[inline(always)]
    fn pair(&mut self) -> Option<(u32, u64)> {
        Some((thread_of(self.number()?), self.number()?))
    }
}

impl<'a> Events<'a> {
    /// Reads the next record if it has one of the frequent forms. Otherwise it stays the next one.
    #[inline(always)]
    pub(super) fn fast_decode(&mut self) -> Option<(u64, Event<'a>)> {
        let bytes = self.bytes.get(self.at..)?.first_chunk::<ROOM>()?;
        let word = u64::from_le_bytes(*bytes.first_chunk::<8>()?);
        let n = (word >> 5 & 7) as usize;
        let delta = (word >> 8) & ((1 << (8 * n)) - 1);
        let mut piece = Cursor::behind_head(bytes);
        let event = match word as u8 & 31 {
            k if k == Kind::End as u8 => Event::End,
            k if k == Kind::EndResume as u8 => Event::EndResume,
            k if k == Kind::Next as u8 => Event::Next,
            k if k == Kind::Resume as u8 => Event::Resume,
            k if k == Kind::Join as u8 => Event::Join {
                site: thread_of(piece.number()?),
            },
            k if k == Kind::Begin as u8 => Event::Begin(piece.pair()?),
            k if k == Kind::Create as u8 => {
                let flags = piece.number()?;
                let site = thread_of(piece.number()?);
                let scope = if flags & wire::create::SCOPED != 0 {
                    Some(piece.pair()?)
                } else {
                    None
                };
                Event::Create {
                    kind: flags & wire::create::KIND,
                    site,
                    scope,
                }
            }
            k if k == Kind::Wait as u8 => {
                let site = optional(piece.number()?);
                let what = match piece.number()? {
                    wire::wait::CHILDREN => WaitFor::Children,
                    wire::wait::SCOPE => {
                        let (thread, seq) = piece.pair()?;
                        WaitFor::Scope(thread, seq)
                    }
                    _ => return None,
                };
                Event::Wait { site, what }
            }
            _ => return None,
        };
        // After bad bytes, no record is found here either, so callers need not check for them.
        self.at += piece.at;
        self.now = self.now.saturating_add(delta);
        Some((self.now, event))
    }

    /// Reads the next record if it belongs to a join without a steal, in its usual form. Otherwise
    /// it stays the next one.
    #[inline(always)]
    pub fn next_of_join(&mut self) -> Option<(u64, Event<'a>)> {
        let room = self.bytes.get(self.at..)?.first_chunk::<16>()?;
        let word = u64::from_le_bytes(*room.first_chunk::<8>()?);
        let n = (word >> 5 & 7) as usize;
        let delta = (word >> 8) & ((1 << (8 * n)) - 1);
        let mut length = 1 + n;
        let event = match word as u8 & 31 {
            k if k == Kind::End as u8 => Event::End,
            k if k == Kind::EndResume as u8 => Event::EndResume,
            k if k == Kind::Next as u8 => Event::Next,
            k if k == Kind::Join as u8 && room[length] & 1 == 1 => {
                let site = u32::from(room[length] >> 1);
                length += 1;
                Event::Join { site }
            }
            _ => return None,
        };
        self.at += length;
        self.now = self.now.saturating_add(delta);
        Some((self.now, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::push_varint;
    use crate::wire::put_head;

    /// The fast decoder and the general decoder agree on every record that the fast one reads.
    #[test]
    fn is_what_the_decoder_of_all_records_gives() {
        let kinds = [
            (Kind::End, 0),
            (Kind::EndResume, 0),
            (Kind::Next, 0),
            (Kind::Resume, 0),
            (Kind::Join, 1),
            (Kind::Begin, 2),
            (Kind::Create, 4),
            (Kind::Wait, 4),
            (Kind::Root, 0),
            (Kind::Yield, 1),
        ];
        let numbers = (0..64).flat_map(|bits| [1u64 << bits, (1 << bits) - 1, u64::MAX >> bits]);
        let numbers: Vec<u64> = numbers.chain([2, 3, 4, 5, 6, 8, 16]).collect();
        let (mut read, mut left) = (0, 0);
        for (i, &number) in numbers.iter().enumerate() {
            for (kind, operands) in kinds {
                for ticks in [0, 1, 255, 256, u64::MAX >> 8] {
                    let mut bytes = vec![0; 16];
                    // SAFETY: 16 bytes are more than the 9 that a head may touch.
                    let end = unsafe { put_head(bytes.as_mut_ptr(), kind, ticks) };
                    bytes.truncate(end as usize - bytes.as_ptr() as usize);
                    for operand in 0..operands {
                        // Small ones first: flags and the kind of wait.
                        let some = numbers[(i * (operand + 1) + operand) % numbers.len()];
                        push_varint(&mut bytes, if operand < 2 { some % 9 } else { number });
                    }
                    bytes.resize(bytes.len() + ROOM, 0xa5);
                    let mut quick = Events::new(&bytes, 7);
                    let mut all = Events::new(&bytes, 7);
                    let Some(event) = quick.fast_decode() else {
                        assert_eq!(quick.offset(), 0);
                        left += 1;
                        continue;
                    };
                    read += 1;
                    assert_eq!(Some(event), all.any());
                    assert_eq!((quick.offset(), quick.now), (all.offset(), all.now));
                    for cut in 1..ROOM {
                        let mut cut = Events::new(&bytes[..cut], 7);
                        assert_eq!(cut.fast_decode(), None);
                    }
                }
            }
        }
        assert!(read > 5_000 && left > 1_000, "{read} {left}");
    }
}
