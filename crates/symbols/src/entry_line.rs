//! The first line of a function that the compiler made.
//!
//! The line table has two rows for its first instruction if nothing comes before its body: one for
//! the pragma that it was made from, then one for the body. Lookups return the last row; the site
//! is the first. The last row of the previous function may come before them: it ends where this
//! function begins, and is not marked as the beginning of a statement (`is_stmt`), as a function's
//! own first row always is.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use gimli::UnitRef;

use crate::enclosing::{Key, key};
use crate::object_file::Slice;

/// Maximum number of rows of one unit that are read; a damaged table may never end.
const MAX_ROWS: usize = 50_000_000;

/// First rows by address; each unit's table is read once.
pub(crate) struct EntryLines {
    addresses: BTreeSet<u64>,
    units: RefCell<BTreeMap<Key, BTreeMap<u64, u32>>>,
}

impl EntryLines {
    /// Prepares for these addresses as linked.
    pub(crate) fn new(addresses: BTreeSet<u64>) -> Self {
        Self {
            addresses,
            units: RefCell::default(),
        }
    }

    /// The line of the first row at the address, in the table of its unit.
    pub(crate) fn line(&self, unit: UnitRef<'_, Slice<'_>>, address: u64) -> Option<u32> {
        let mut units = self.units.borrow_mut();
        let lines = units
            .entry(key(unit))
            .or_insert_with(|| self.first_rows(unit));
        lines.get(&address).copied()
    }

    fn first_rows(&self, unit: UnitRef<'_, Slice<'_>>) -> BTreeMap<u64, u32> {
        let mut first: BTreeMap<u64, (bool, u32)> = BTreeMap::new();
        let Some(program) = unit.line_program.clone() else {
            return BTreeMap::new();
        };
        let mut rows = program.rows();
        for _ in 0..MAX_ROWS {
            let Ok(Some((_, row))) = rows.next_row() else {
                break;
            };
            // A sequence's last row belongs to the address after it, where another function may
            // begin.
            if row.end_sequence() {
                continue;
            }
            let line = row.line().and_then(|line| u32::try_from(line.get()).ok());
            if let (Some(line), true) = (line, self.addresses.contains(&row.address())) {
                let begins = row.is_stmt();
                let known = first.entry(row.address()).or_insert((begins, line));
                if begins && !known.0 {
                    *known = (true, line);
                }
            }
        }
        first
            .into_iter()
            .map(|(at, (_, line))| (at, line))
            .collect()
    }
}
