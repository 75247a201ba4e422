//! A place a task, in little memory: a byte each while no more than 256 different ones occur, as in
//! all but a few programs.

use workspan_dag::PlaceId;

/// Places in a row.
#[derive(Debug, Default)]
pub(super) struct PlaceCodes {
    /// What the bytes stand for.
    known: Vec<PlaceId>,
    narrow: Vec<u8>,
    /// All of them, once there are too many different ones.
    wide: Vec<PlaceId>,
    /// The place of the last push and its byte: most tasks follow one of the same place.
    last: Option<(PlaceId, u8)>,
}

impl PlaceCodes {
    /// Number of places.
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
        // What comes after the first that has no byte is wide, whatever it is.
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
