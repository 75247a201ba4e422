//! Where blocks of a folded record start and end, told by a set of bits where the record has few
//! sites.

use super::FoldedSite;

/// Most sites whose places' pairs are told by bits.
const MOST_SITES: usize = 6;
/// So many pairs are there then: each of the sites, or unknown, twice.
pub(super) const MOST_PAIRS: usize = (MOST_SITES + 1) * (MOST_SITES + 1);

/// Where blocks of a record with few sites start and end: 0 and its sites + 1, ascending.
pub(super) struct Places {
    places: [u32; MOST_SITES + 1],
    length: u32,
}

impl Places {
    /// `None` where these are many, or not ascending.
    pub(super) fn of(sites: &[FoldedSite]) -> Option<Places> {
        let mut places = Places {
            places: [0; MOST_SITES + 1],
            length: 1 + sites.len() as u32,
        };
        let mut before = 0;
        for (place, site) in places
            .places
            .get_mut(1..=sites.len())?
            .iter_mut()
            .zip(sites)
        {
            *place = site.site.checked_add(1).filter(|&place| place > before)?;
            before = *place;
        }
        Some(places)
    }

    fn all(&self) -> &[u32] {
        self.places.get(..self.length as usize).unwrap_or(&[])
    }

    /// The number of a pair.
    pub(super) fn pair(&self, from: u32, to: u32) -> Option<u32> {
        let place = |of: u32| self.all().iter().position(|&place| place == of);
        Some(place(from)? as u32 * self.length + place(to)? as u32)
    }

    /// The pair of a number.
    pub(super) fn at(&self, pair: u32) -> Option<(u32, u32)> {
        let place = |at: u32| self.all().get(at as usize).copied();
        Some((place(pair / self.length)?, place(pair % self.length)?))
    }
}
