//! Which file each executable part of memory belonged to. A file may be unloaded and another one
//! loaded in its place: then one address refers to places in two files. A file that is loaded where
//! another one was therefore gets synthetic addresses in the trace, which no memory has. Readers of
//! the trace need not know.

use std::collections::BTreeMap;

use workspan_trace::entry::Mapping;

/// The first synthetic address: above all memory, and below the marks that front ends put among
/// addresses.
const FIRST_SYNTHETIC: u64 = 1 << 55;

/// Segments that were written to the trace, and those that are loaded now.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    all: Vec<Segment>,
    /// The size of the synthetic addresses in use.
    used: u64,
    /// The loader's count of unloaded files when the list was made.
    pub(crate) unloads: u64,
}

#[derive(Debug)]
struct Segment {
    mapping: Mapping,
    /// The difference between an address and the one written to the trace.
    shift: u64,
    is_there: bool,
}

impl Segments {
    /// Takes the segments that are loaded now; returns those to write to the trace.
    pub(crate) fn update(&mut self, now: Vec<Mapping>) -> Vec<Mapping> {
        for segment in &mut self.all {
            segment.is_there = false;
        }
        let known: BTreeMap<u64, Vec<usize>> =
            self.all
                .iter()
                .enumerate()
                .fold(BTreeMap::new(), |mut known, (at, segment)| {
                    known
                        .entry(segment.mapping.start)
                        .or_insert_with(Vec::new)
                        .push(at);
                    known
                });
        let mut fresh = Vec::new();
        for mapping in now {
            let same = known
                .get(&mapping.start)
                .and_then(|at| at.iter().find(|&&at| self.all[at].mapping == mapping));
            if let Some(&at) = same {
                self.all[at].is_there = true;
                continue;
            }
            let overlaps = |other: &Mapping| mapping.start < other.end && other.start < mapping.end;
            let shift = if self.all.iter().any(|segment| overlaps(&segment.mapping)) {
                let start = FIRST_SYNTHETIC + self.used;
                // Another file's addresses begin on other pages.
                self.used += (mapping.end - mapping.start).next_multiple_of(1 << 16);
                start - mapping.start
            } else {
                0
            };
            fresh.push(Mapping {
                start: mapping.start + shift,
                end: mapping.end + shift,
                bias: mapping.bias.wrapping_add(shift),
                ..mapping.clone()
            });
            self.all.push(Segment {
                mapping,
                shift,
                is_there: true,
            });
        }
        fresh
    }

    /// The current code segments, from start to end.
    pub(crate) fn there(&self) -> Vec<(u64, u64)> {
        let there = self.all.iter().filter(|segment| segment.is_there);
        there
            .map(|segment| (segment.mapping.start, segment.mapping.end))
            .collect()
    }

    /// The address to write for `address`; `None` if it is in no known segment.
    pub(crate) fn shown_address(&self, address: u64) -> Option<u64> {
        let holds =
            |segment: &&Segment| (segment.mapping.start..segment.mapping.end).contains(&address);
        let there = self.all.iter().filter(|segment| segment.is_there);
        // A site may still refer to a file that was unloaded.
        let found = there.clone().find(holds);
        let found = found.or_else(|| self.all.iter().rev().find(holds));
        found.map(|segment| address + segment.shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(start: u64, path: &str) -> Mapping {
        Mapping {
            start,
            end: start + 0x1000,
            bias: start - 0x200,
            file_offset: 0x200,
            path: path.into(),
            build_id: Vec::new(),
        }
    }

    #[test]
    fn a_file_where_another_one_was_has_addresses_of_its_own() {
        let mut segments = Segments::default();
        let (program, alpha, beta) = (
            mapping(0x1000, "program"),
            mapping(0x8000, "alpha"),
            mapping(0x8000, "beta"),
        );
        let added = segments.update(vec![program.clone(), alpha.clone()]);
        assert_eq!(added, [program.clone(), alpha.clone()]);
        assert_eq!(segments.shown_address(0x8010), Some(0x8010));
        assert_eq!(segments.shown_address(0x9010), None);

        let added = segments.update(vec![program.clone(), beta.clone()]);
        assert_eq!(added.len(), 1);
        assert_eq!(added[0].path, beta.path);
        let of_beta = segments.shown_address(0x8010).expect("it is mapped");
        assert!((added[0].start..added[0].end).contains(&of_beta));
        // The same position in the file.
        assert_eq!(of_beta - added[0].bias, 0x8010 - beta.bias);
        assert_eq!(segments.shown_address(0x1010), Some(0x1010));

        assert_eq!(segments.update(vec![program.clone(), alpha]), []);
        assert_eq!(segments.shown_address(0x8010), Some(0x8010));
        assert_eq!(segments.update(vec![program, beta]), []);
        assert_eq!(segments.shown_address(0x8010), Some(of_beta));
    }
}
