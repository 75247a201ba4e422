//! A compact list of places, one per task: a byte each while there are no more than 256 different
//! ones, as in nearly all programs.

use workspan_dag::PlaceId;

/// A list of places.
#[derive(Debug, Default)]
pub(super) struct PlaceCodes {
    /// The places that the bytes stand for.
    known: Vec<PlaceId>,
    narrow: Vec<u8>,
    /// The places from the first one without a byte on.
    wide: Vec<PlaceId>,
    /// The place of the last push and its byte: most tasks have the same place as the one before.
    last: Option<(PlaceId, u8)>,
}

impl PlaceCodes {
    /// The number of places.
    pub(super) fn len(&self) -> usize {
        self.narrow.len() + self.wide.len()
    }

    /// The `i`-th place.
    pub(super) fn get(&self, i: usize) -> Option<PlaceId> {
        match self.narrow.get(i) {
            Some(&code) => self.known.get(usize::from(code)).copied(),
            None => self.wide.get(i - self.narrow.len()).copied(),
        }
    }

    #[inline]
    pub(super) fn push(&mut self, place: PlaceId) {
        match self.last {
            Some((last, code)) if last == place => self.narrow.push(code),
            _ => self.push_other(place),
        }
    }

    fn push_other(&mut self, place: PlaceId) {
        // After the first place without a byte, all are wide.
        if !self.wide.is_empty() {
            return self.wide.push(place);
        }
        let known = self.known.iter().position(|&other| other == place);
        let code = known.unwrap_or_else(|| {
            self.known.push(place);
            self.known.len() - 1
        });
        match u8::try_from(code) {
            Ok(code) => {
                self.narrow.push(code);
                self.last = Some((place, code));
            }
            Err(_) => {
                self.wide.push(place);
                self.last = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many_different_places_come_back() {
        for different in [1, 2, 255, 256, 257, 1000] {
            let all: Vec<PlaceId> = (0..5000).map(|i| (i * 7 % different) << 9).collect();
            let mut codes = PlaceCodes::default();
            all.iter().for_each(|&place| codes.push(place));
            assert_eq!(codes.len(), all.len());
            let back: Vec<PlaceId> = (0..all.len()).filter_map(|i| codes.get(i)).collect();
            assert_eq!(back, all, "{different} places");
            assert_eq!(codes.get(all.len()), None);
            assert_eq!(codes.wide.is_empty(), different <= 256);
        }
    }
}
