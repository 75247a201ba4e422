//! The code of a strand inside a folded one: that of strands outside with the same ends.

use std::collections::HashMap;

use workspan_dag::{NONE, PlaceId};

use crate::run::RunModel;

/// Codes by three keys: site, start and end; site and start; site alone.
pub(super) struct CodeOf {
    known: HashMap<(PlaceId, PlaceId, PlaceId), u16>,
}

/// Stands for any place in a key.
const ANY: PlaceId = NONE - 1;

impl CodeOf {
    /// The codes of a run. Those with most time come first, and so take precedence.
    pub(super) fn new(model: &RunModel) -> CodeOf {
        let mut known = HashMap::new();
        for (number, code) in (0..u16::MAX).zip(&model.codes.all) {
            for block in &code.blocks {
                for key in keys(block.site, block.from, block.to) {
                    known.entry(key).or_insert(number);
                }
            }
        }
        CodeOf { known }
    }

    /// The code of a strand with these ends in a task of this site; `else_` if no strand outside
    /// matches.
    pub(super) fn of(&self, site: PlaceId, from: PlaceId, to: PlaceId, else_: u16) -> u16 {
        let known = |key| self.known.get(&key).copied();
        let found = keys(site, from, to).into_iter().find_map(known);
        found.unwrap_or(else_)
    }
}

fn keys(site: PlaceId, from: PlaceId, to: PlaceId) -> [(PlaceId, PlaceId, PlaceId); 3] {
    [(site, from, to), (site, from, ANY), (site, ANY, ANY)]
}
