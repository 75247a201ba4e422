//! How entries and their fields are encoded.

use crate::wire::{get_varint, put_varint};

/// Bytes that writing a varint may touch. A varint takes 9 bytes at most, and 8 are stored whatever
/// its length.
const MAX_TOUCHED_BYTES: usize = 16;

/// Appends a varint.
#[inline]
pub fn push_varint(out: &mut Vec<u8>, v: u64) {
    // Most numbers are small.
    if v < 1 << 7 {
        return out.push((v << 1 | 1) as u8);
    }
    out.reserve(MAX_TOUCHED_BYTES);
    let length = out.len();
    // SAFETY: there is room for 16 bytes behind the vector's, more than the 9 that a varint may
    // touch. The bytes up to its end are written, so they may become the vector's.
    unsafe {
        let from = out.as_mut_ptr().add(length);
        let end = put_varint(from, v);
        out.set_len(length + (end as usize - from as usize));
    }
}

/// Appends a byte string, preceded by its length.
pub fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    push_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends an entry with this body.
pub(crate) fn push_entry(out: &mut Vec<u8>, body: &[u8]) {
    push_bytes(out, body);
}

/// Appends an entry with a thread's list in order of time. `fields` appends the other fields of an
/// item and returns the item's time.
pub(super) fn push_timed_list<T>(
    out: &mut Vec<u8>,
    thread: u32,
    list: &[T],
    fields: impl Fn(&T, &mut Vec<u8>) -> u64,
) {
    let (mut body, mut of_item) = (Vec::new(), Vec::new());
    push_varint(&mut body, u64::from(thread));
    push_varint(&mut body, list.len() as u64);
    let mut last = 0;
    for item in list {
        of_item.clear();
        let time = fields(item, &mut of_item);
        push_varint(&mut body, time.saturating_sub(last));
        body.extend_from_slice(&of_item);
        last = last.max(time);
    }
    push_entry(out, &body);
}

/// Reads the thread and the list of [`push_timed_list`]. `fields` reads the other fields of an item
/// with this time.
pub(super) fn read_timed_list<T>(
    body: &[u8],
    fields: impl Fn(u64, &mut Fields<'_>) -> Option<T>,
) -> Option<(u32, Vec<T>)> {
    let mut f = Fields::new(body);
    let (thread, mut time) = (f.number32()?, 0u64);
    let list = f.list(|f| {
        time = time.checked_add(f.number()?)?;
        fields(time, f)
    })?;
    Some((thread, list))
}

/// The bodies of the entries in a payload, up to the first one that is cut off.
pub fn entries(payload: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut fields = Fields::new(payload);
    std::iter::from_fn(move || fields.bytes())
}

/// Reads the fields of an entry.
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    /// Reads from this body.
    pub fn new(bytes: &'a [u8]) -> Self {
        Fields { bytes, at: 0 }
    }
    /// The next varint.
    #[inline]
    pub fn number(&mut self) -> Option<u64> {
        get_varint(self.bytes, &mut self.at)
    }
    /// The next varint, if it fits in 32 bits.
    #[inline]
    pub fn number32(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }
    /// The next byte string.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let bytes = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(bytes)
    }
    /// The next text; invalid UTF-8 is replaced.
    pub fn text(&mut self) -> Option<String> {
        Some(String::from_utf8_lossy(self.bytes()?).into_owned())
    }
    /// The next list, preceded by its length; `None` also if the length exceeds the bytes left.
    pub fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = usize::try_from(self.number()?).ok()?;
        if count > self.left() {
            return None;
        }
        let mut list = Vec::with_capacity(count);
        for _ in 0..count {
            list.push(item(self)?);
        }
        Some(list)
    }
    /// The number of bytes not yet read.
    pub fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }
}
