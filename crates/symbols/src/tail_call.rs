//! Finds functions that ended in a jump to another one and so left no frame: the target of a call,
//! and the jumps that lead from there to the function of the next frame.
//!
//! A compiler turns a function's last call into a jump (`x.into_par_iter().for_each(f)` as the
//! whole of a function does that), and the call stack then goes from the function's caller to the
//! jump's target. The caller's machine code still names the function. The jump itself is found by
//! its target, which is known: the probability that five bytes match by chance is one in four
//! billion. (A short jump has two bytes, but only reaches nearby functions. If one were found by
//! chance, only the line within the right function would be wrong.)

use std::collections::BTreeSet;

use object::{Object as _, ObjectSection};

use crate::object_file::Object;
use crate::symbol_table::Symbols;

/// Maximum number of jumps between two frames.
const MAX_JUMPS: usize = 4;
/// Maximum number of functions that are searched for one chain of jumps.
const MAX_FUNCTIONS: usize = 64;
/// Maximum size in bytes of a function that is searched.
const MAX_FUNCTION_BYTES: u64 = 1 << 20;

/// A module's machine code.
pub(crate) struct Code<'a> {
    /// Address and bytes of each section with code.
    sections: Vec<(u64, &'a [u8])>,
}

impl<'a> Code<'a> {
    pub(crate) fn from_object(object: &Object<'a>) -> Self {
        let x86 = object.architecture() == object::Architecture::X86_64;
        let code = object
            .sections()
            .filter(|section| x86 && section.kind() == object::SectionKind::Text)
            .filter_map(|section| Some((section.address(), section.data().ok()?)));
        Self {
            sections: code.collect(),
        }
    }

    /// The jumps from the function called before `returns` to the one that contains `inside`,
    /// innermost first. Empty if that function was called itself, or if no chain of jumps is known.
    /// All addresses are as linked.
    pub(crate) fn jumps(&self, symbols: &Symbols<'_>, returns: u64, inside: u64) -> Vec<u64> {
        self.way(symbols, returns, inside).unwrap_or_default()
    }

    fn way(&self, symbols: &Symbols<'_>, returns: u64, inside: u64) -> Option<Vec<u64>> {
        let called = self.called(returns)?;
        let (to, _) = symbols.range(inside)?;
        if called == to {
            return None;
        }
        let mut seen = BTreeSet::from([called]);
        // Functions still to be searched, each with the jumps that led there.
        let mut open = vec![(called, Vec::new())];
        let mut next = 0;
        while let Some((function, jumps)) = open.get(next).cloned() {
            next += 1;
            let found = self.jumps_in(symbols, function);
            if let Some(&(at, _)) = found.iter().find(|&&(_, target)| target == to) {
                let mut way: Vec<u64> = jumps;
                way.push(at);
                way.reverse();
                return Some(way);
            }
            for (at, target) in found {
                let go = jumps.len() + 1 < MAX_JUMPS && open.len() < MAX_FUNCTIONS;
                if go && seen.insert(target) {
                    let mut jumps = jumps.clone();
                    jumps.push(at);
                    open.push((target, jumps));
                }
            }
        }
        None
    }

    /// The target of the call instruction before an address, if it is a constant.
    fn called(&self, returns: u64) -> Option<u64> {
        let (opcode, at) = (self.bytes(returns.checked_sub(5)?, 1)?, returns - 4);
        (opcode == [0xe8]).then(|| self.target(at))?
    }

    /// Jumps from a function to the beginnings of others: the address and the target of each.
    fn jumps_in(&self, symbols: &Symbols<'_>, function: u64) -> Vec<(u64, u64)> {
        let Some((start, size)) = symbols.range(function) else {
            return Vec::new();
        };
        let size = size.min(MAX_FUNCTION_BYTES);
        let Some(code) = self.bytes(start, size as usize) else {
            return Vec::new();
        };
        let own = start..start.saturating_add(size);
        (start..)
            .zip(code)
            .filter_map(|(at, &byte)| match byte {
                0xe9 => Some((at, self.target(at + 1)?)),
                0xeb => {
                    let distance = self.bytes(at + 1, 1)?[0].cast_signed();
                    Some((at, (at + 2).wrapping_add_signed(i64::from(distance))))
                }
                _ => None,
            })
            .filter(|(_, target)| !own.contains(target) && symbols.begins(*target))
            .collect()
    }

    /// The target of a displacement at the end of an instruction.
    fn target(&self, at: u64) -> Option<u64> {
        let bytes: [u8; 4] = self.bytes(at, 4)?.try_into().ok()?;
        let distance = i64::from(i32::from_le_bytes(bytes));
        Some((at + 4).wrapping_add_signed(distance))
    }

    fn bytes(&self, address: u64, length: usize) -> Option<&'a [u8]> {
        self.sections.iter().find_map(|&(start, code)| {
            let from = usize::try_from(address.checked_sub(start)?).ok()?;
            code.get(from..from.checked_add(length)?)
        })
    }
}
