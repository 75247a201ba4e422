//! Which file each executable part of memory belonged to. A file may be unloaded and another one
//! loaded where it was: then one address names two places of two files. So a file that lies where
//! another one did has addresses of its own in the trace, which no memory has; whoever reads the
//! trace need not know.

use std::collections::BTreeMap;

use workspan_trace::entry::Mapping;

/// Where addresses of that kind begin: above all of memory, and below the marks that front ends put
/// beside addresses.
const MADE_UP: u64 = 1 << 55;

/// Segments that were told, and those that are there.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    all: Vec<Segment>,
    /// Of made up addresses.
    used: u64,
    /// Files unloaded when the list was made.
    pub(crate) unloads: u64,
}

#[derive(Debug)]
struct Segment {
    mapping: Mapping,
    /// From an address to that which is told.
    shift: u64,
    is_there: bool,
}

impl Segments {
    /// Takes what is loaded now; gives what is to be told of it.
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
                let start = MADE_UP + self.used;
                // Another file's begin on other pages.
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

    /// Where there is code now, from start to end.
    pub(crate) fn there(&self) -> Vec<(u64, u64)> {
        let there = self.all.iter().filter(|segment| segment.is_there);
        there
            .map(|segment| (segment.mapping.start, segment.mapping.end))
            .collect()
    }

    /// What is told for an address; `None` when it lies in nothing that is known.
    pub(crate) fn told(&self, address: u64) -> Option<u64> {
        let holds =
            |segment: &&Segment| (segment.mapping.start..segment.mapping.end).contains(&address);
        let there = self.all.iter().filter(|segment| segment.is_there);
        // A file that is gone may still be spoken of.
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
        let told = segments.update(vec![program.clone(), alpha.clone()]);
        assert_eq!(told, [program.clone(), alpha.clone()]);
        assert_eq!(segments.told(0x8010), Some(0x8010));
        assert_eq!(segments.told(0x9010), None);

        let told = segments.update(vec![program.clone(), beta.clone()]);
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].path, beta.path);
        let of_beta = segments.told(0x8010).expect("it is mapped");
        assert!((told[0].start..told[0].end).contains(&of_beta));
        // The same place in the file.
        assert_eq!(of_beta - told[0].bias, 0x8010 - beta.bias);
        assert_eq!(segments.told(0x1010), Some(0x1010));

        assert_eq!(segments.update(vec![program.clone(), alpha]), []);
        assert_eq!(segments.told(0x8010), Some(0x8010));
        assert_eq!(segments.update(vec![program, beta]), []);
        assert_eq!(segments.told(0x8010), Some(of_beta));
    }
}
