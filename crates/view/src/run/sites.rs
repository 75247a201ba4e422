//! Spawn sites in the order in which the page numbers them.

use workspan_dag::PlaceId;

/// "No site" in columns of site numbers.
pub const NO_SITE: u16 = u16::MAX;

/// The sites of a run: by critical percent, the root first, as the report has them.
#[derive(Debug)]
pub struct Sites {
    /// The place of each.
    pub places: Vec<PlaceId>,
    index: Vec<u16>,
}

impl Sites {
    /// Numbers `places`, of `count` in all; what is beyond 65,534 has no number.
    pub fn new(places: Vec<PlaceId>, count: usize) -> Sites {
        let mut index = vec![NO_SITE; count];
        for (number, &place) in (0..NO_SITE).zip(&places) {
            index[place as usize] = number;
        }
        Sites { places, index }
    }

    /// The number of the site at a place; [`NO_SITE`] when it is none.
    pub fn of(&self, place: PlaceId) -> u16 {
        self.index.get(place as usize).copied().unwrap_or(NO_SITE)
    }
}
