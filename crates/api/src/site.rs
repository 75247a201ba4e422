//! Sites: the positions of calls, with the recorder's numbers.

use core::cell::Cell;
use core::panic::Location;

use crate::table::Table;

/// The trace's code for "a call of this library".
const PRIMITIVE: u8 = 6;
const SLOTS: usize = 64;

std::thread_local! {
    /// Sites that this thread used recently, by the address of their location. The cache avoids the
    /// recorder's lock.
    static CACHE: [Cell<(usize, u32)>; SLOTS] = const { [const { Cell::new((0, 0)) }; SLOTS] };
}

/// The number that the recorder has for the site at `location`.
pub(crate) fn site(table: &Table, location: &'static Location<'static>) -> u32 {
    let name = core::ptr::from_ref(location) as usize;
    let intern = || {
        let file = location.file();
        (table.site_location)(
            file.as_ptr(),
            file.len(),
            location.line(),
            location.column(),
            PRIMITIVE,
        )
    };
    CACHE
        .try_with(|cells| {
            let cell = &cells[(name >> 3 ^ name >> 9) % SLOTS];
            let (known, number) = cell.get();
            if known == name {
                return number;
            }
            let number = intern();
            cell.set((name, number));
            number
        })
        .unwrap_or_else(|_| intern())
}
