//! The line that a function which the compiler made begins at. The line table has two rows for its
//! first instruction when nothing stands before its body: one for the pragma it was made of, then
//! one for the body. Lookups give the last; the site is the first. Before them there may be the
//! last row of the function in front: it ends where this one begins, and is not marked as the
//! beginning of a statement (`is_stmt`), as a function's own first row always is.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use gimli::UnitRef;

use crate::enclosing::{Key, key};
use crate::object_file::Slice;

/// Rows of one unit that are looked at; a broken table may never end.
const MOST_ROWS: usize = 50_000_000;

/// First rows by address, each unit's table read once.
pub(crate) struct EntryLines {
    wanted: BTreeSet<u64>,
    units: RefCell<BTreeMap<Key, BTreeMap<u64, u32>>>,
}

impl EntryLines {
    /// For these addresses as linked.
    pub(crate) fn of(wanted: BTreeSet<u64>) -> Self {
        Self {
            wanted,
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
        for _ in 0..MOST_ROWS {
            let Ok(Some((_, row))) = rows.next_row() else {
                break;
            };
            // A sequence's last row is about the address behind it, where another function may
            // begin.
            if row.end_sequence() {
                continue;
            }
            let line = row.line().and_then(|line| u32::try_from(line.get()).ok());
            if let (Some(line), true) = (line, self.wanted.contains(&row.address())) {
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
