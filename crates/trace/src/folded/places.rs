//! Start and end places of the blocks of a folded record, as a bit set if the record has few sites.

use super::FoldedSite;

/// The largest number of sites of a record whose pairs of places are a bit set.
const MAX_SITES: usize = 6;
/// The largest number of pairs: both places are one of the sites, or unknown.
pub(super) const MAX_PAIRS: usize = (MAX_SITES + 1) * (MAX_SITES + 1);

/// The places of a record with few sites: 0 and its sites + 1, ascending.
pub(super) struct Places {
    places: [u32; MAX_SITES + 1],
    length: u32,
}

impl Places {
    /// `None` if there are too many sites, or if they are not ascending.
    pub(super) fn from_sites(sites: &[FoldedSite]) -> Option<Places> {
        let mut places = Places {
            places: [0; MAX_SITES + 1],
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

    /// The number of this pair.
    pub(super) fn pair(&self, from: u32, to: u32) -> Option<u32> {
        let place = |place_id: u32| self.all().iter().position(|&place| place == place_id);
        Some(place(from)? as u32 * self.length + place(to)? as u32)
    }

    /// The pair with this number.
    pub(super) fn at(&self, pair: u32) -> Option<(u32, u32)> {
        let place = |at: u32| self.all().get(at as usize).copied();
        Some((place(pair / self.length)?, place(pair % self.length)?))
    }
}
