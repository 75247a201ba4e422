//! Spawn sites in the order in which the page numbers them.

use workspan_dag::PlaceId;
use workspan_export::RowLimits;

/// Stands for no site in columns of site numbers.
pub const NO_SITE: u16 = u16::MAX;

/// Maximum number of sites in an answer: more than anybody reads, and few enough for any page. A
/// trace may have any number of sites.
pub const MAX_SITES: usize = 4096;

/// Maximum numbers of sites and of blocks of code in a report.
pub(crate) const REPORT_LIMITS: RowLimits = RowLimits {
    sites: MAX_SITES,
    blocks: 4 * MAX_SITES,
    blocks_each: 256,
};

/// The sites of a run in the report's order: the root first, then by critical percent.
#[derive(Debug)]
pub struct Sites {
    /// The place of each site; their number is limited to [`MAX_SITES`].
    pub places: Vec<PlaceId>,
    /// Number of further sites, which have no number.
    pub more: u64,
    index: Vec<u16>,
}

impl Sites {
    /// Numbers the sites at `places`. The run has `count` places.
    pub fn new(mut places: Vec<PlaceId>, count: usize) -> Sites {
        let more = places.len().saturating_sub(MAX_SITES) as u64;
        places.truncate(MAX_SITES);
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

    /// The number of the site at a place; [`NO_SITE`] if it has none.
    pub fn of(&self, place: PlaceId) -> u16 {
        self.index.get(place as usize).copied().unwrap_or(NO_SITE)
    }
}
