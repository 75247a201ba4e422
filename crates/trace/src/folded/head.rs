//! The first half of a record: its sums and its paths. Most passes need only the paths; they read
//! no further and allocate nothing.

use super::{JOINS, OFF_CPU, SPAN, list_length, strands_of_joins};
use crate::entry::Fields;

/// The largest number of points of an envelope (MODEL.md §7).
const POINTS: usize = 8;

/// The paths through a folded subtree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Paths {
    work: u64,
    span: u64,
    points: [(u64, u32); POINTS],
    count: usize,
}

impl Paths {
    /// Reads the paths from a record's bytes; `None` if the bytes are not a record.
    pub fn decode(bytes: &[u8]) -> Option<Paths> {
        Some(Head::read(&mut Fields::new(bytes))?.paths)
    }

    /// Work of the subtree, in raw ticks.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Span of the subtree, in raw ticks.
    pub fn span(&self) -> u64 {
        self.span
    }

    /// [`super::FoldedRecord::envelope`].
    pub fn envelope(&self) -> &[(u64, u32)] {
        &self.points[..self.count]
    }

    /// [`super::FoldedRecord::path`].
    pub fn path(&self, burden: u64) -> u128 {
        heaviest(self.envelope(), self.span, burden)
    }
}

/// The weight of the heaviest of an envelope's paths if each burdened edge costs `burden`; `span`
/// if there is no path.
pub(super) fn heaviest(envelope: &[(u64, u32)], span: u64, burden: u64) -> u128 {
    envelope
        .iter()
        .map(|&(w, edges)| u128::from(w) + u128::from(edges) * u128::from(burden))
        .max()
        .unwrap_or(u128::from(span))
}

/// Counts of what is in a folded subtree: fields of [`super::FoldedRecord`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the fields are those of the record")]
pub struct Sums {
    pub tasks: u64,
    pub spawns: u64,
    pub syncs: u64,
    pub strands: u64,
    pub levels: u32,
    pub ready_integral: u64,
}

impl Sums {
    /// Reads the counts from a record's bytes; `None` if the bytes are not a record.
    pub fn decode(bytes: &[u8]) -> Option<Sums> {
        Some(Head::read(&mut Fields::new(bytes))?.sums)
    }
}

/// The part of a record before its sites.
pub(super) struct Head {
    /// The flags of the record's fields.
    pub(super) flags: u64,
    pub(super) sums: Sums,
    pub(super) paths: Paths,
}

impl Head {
    pub(super) fn read(f: &mut Fields<'_>) -> Option<Head> {
        let flags = f.number().filter(|&flags| flags < 2 * OFF_CPU)?;
        let (work, tasks) = (f.number()?, f.number()?);
        let (spawns, syncs, strands) = if flags & JOINS == 0 {
            (f.number()?, f.number()?, f.number()?)
        } else {
            let joins = tasks / 2;
            (joins, joins, strands_of_joins(tasks)?)
        };
        let (levels, ready_integral) = (f.number32()?, f.number()?);
        let mut paths = Paths {
            work,
            ..Paths::default()
        };
        paths.count = list_length(f, 2, POINTS as u64)? as usize;
        let mut before = (0, 0);
        for (i, point) in paths.points[..paths.count].iter_mut().enumerate() {
            let (lighter, edges) = (f.number()?, f.number32()?);
            let weight = if i == 0 {
                lighter
            } else {
                u64::wrapping_sub(before.0, lighter)
            };
            before = (weight, edges.wrapping_add(before.1));
            *point = before;
        }
        paths.span = match paths.envelope().first() {
            Some(first) if flags & SPAN != 0 => first.0,
            _ => f.number()?,
        };
        Some(Head {
            flags,
            sums: Sums {
                tasks,
                spawns,
                syncs,
                strands,
                levels,
                ready_integral,
            },
            paths,
        })
    }
}
