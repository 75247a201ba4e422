//! Spawn sites in the order in which the page numbers them.

use workspan_dag::PlaceId;
use workspan_export::Most;

/// "No site" in columns of site numbers.
pub const NO_SITE: u16 = u16::MAX;

/// Sites that answers tell of, one by one: more than anybody reads, and few enough for any page. A
/// trace may name any number.
pub const MOST_SITES: usize = 4096;

/// The same, and how many blocks of code.
pub(crate) const MOST: Most = Most {
    sites: MOST_SITES,
    blocks: 4 * MOST_SITES,
    blocks_each: 256,
};

/// The sites of a run: by critical percent, the root first, as the report has them.
#[derive(Debug)]
pub struct Sites {
    /// The place of each, at most [`MOST_SITES`].
    pub places: Vec<PlaceId>,
    /// Sites behind them, which have no number.
    pub more: u64,
    index: Vec<u16>,
}

impl Sites {
    /// Numbers `places`, of `count` in all, as far as they have numbers.
    pub fn new(mut places: Vec<PlaceId>, count: usize) -> Sites {
        let more = places.len().saturating_sub(MOST_SITES) as u64;
        places.truncate(MOST_SITES);
        let mut index = vec![NO_SITE; count];
        for (number, &place) in (0..NO_SITE).zip(&places) {
            index[place as usize] = number;
        }
        Sites {
            places,
            more,
            index,
        }
    }

    /// The number of the site at a place; [`NO_SITE`] when it is none.
    pub fn of(&self, place: PlaceId) -> u16 {
        self.index.get(place as usize).copied().unwrap_or(NO_SITE)
    }
}
