//! Positions of several runs under common numbers.
//!
//! Two runs of one program number their positions differently, and an edit between them moves
//! lines. Two positions are the same if their label and primitive are equal. Remaining positions
//! are the same if file, function, primitive and the text of the source line are equal, and no
//! other remaining position has these.

use std::collections::HashMap;

use workspan_dag::{NONE, Place, PlaceId, ROOT_PLACE};

type Exact = (String, Option<String>);
type Position = (String, Option<String>, Option<String>, String);

/// The common numbers, assigned as runs are added.
pub(crate) struct PlaceTable {
    places: Vec<Place>,
    exact: HashMap<Exact, PlaceId>,
    moved: usize,
}

impl PlaceTable {
    pub(crate) fn new() -> PlaceTable {
        PlaceTable {
            places: Vec::new(),
            exact: HashMap::new(),
            moved: 0,
        }
    }

    /// The common number of each of a run's places.
    pub(crate) fn add(&mut self, places: &[Place]) -> Vec<PlaceId> {
        let known = self.places.len();
        let mut claimed = vec![false; known];
        let mut map = vec![NONE; places.len()];
        for (i, place) in places.iter().enumerate() {
            let found = if i as PlaceId == ROOT_PLACE && known > 0 {
                Some(ROOT_PLACE)
            } else {
                self.exact.get(&exact(place)).copied()
            };
            if let Some(number) = found.filter(|&n| (n as usize) < known) {
                claimed[number as usize] = true;
                map[i] = number;
            }
        }
        self.recognise(places, &claimed, &mut map);
        for (place, number) in places.iter().zip(&mut map) {
            if *number == NONE {
                let next = self.places.len() as PlaceId;
                *number = *self.exact.entry(exact(place)).or_insert(next);
                if *number == next {
                    self.places.push(place.clone());
                }
            }
        }
        map
    }

    /// Matches the remaining positions by source text.
    fn recognise(&mut self, places: &[Place], claimed: &[bool], map: &mut [PlaceId]) {
        let mut candidates: HashMap<Position, Unique> = HashMap::new();
        for (i, place) in self.places.iter().enumerate().filter(|(i, _)| !claimed[*i]) {
            if let Some(key) = moved(place) {
                candidates.entry(key).or_default().add(i);
            }
        }
        let mut left: HashMap<Position, Unique> = HashMap::new();
        let unmatched = |map: &[PlaceId]| -> Vec<usize> {
            (0..places.len()).filter(|&i| map[i] == NONE).collect()
        };
        for i in unmatched(map) {
            if let Some(key) = moved(&places[i]) {
                left.entry(key).or_default().add(i);
            }
        }
        for i in unmatched(map) {
            let Some(key) = moved(&places[i]) else {
                continue;
            };
            if let (Some(Unique::One(old)), Some(Unique::One(_))) =
                (candidates.get(&key), left.get(&key))
            {
                map[i] = *old as PlaceId;
                self.exact.insert(exact(&places[i]), map[i]);
                self.moved += 1;
            }
        }
    }

    /// Number of positions that were recognised by their source text.
    pub(crate) fn moved(&self) -> usize {
        self.moved
    }

    /// The places by common number.
    pub(crate) fn finish(self) -> Vec<Place> {
        self.places
    }
}

fn exact(place: &Place) -> Exact {
    (place.label.clone(), place.primitive.clone())
}

fn moved(place: &Place) -> Option<Position> {
    let source = place.source.as_ref().filter(|s| !s.is_empty())?;
    let file = place.file.clone()?;
    Some((
        file,
        place.function.clone(),
        place.primitive.clone(),
        source.clone(),
    ))
}

/// Whether there is exactly one such position.
#[derive(Debug, Clone, Copy, Default)]
enum Unique {
    #[default]
    None,
    One(usize),
    Several,
}

impl Unique {
    fn add(&mut self, i: usize) {
        *self = match self {
            Unique::None => Unique::One(i),
            _ => Unique::Several,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(line: u32, source: &str) -> Place {
        Place {
            label: format!("sort.rs:{line}"),
            file: Some("sort.rs".into()),
            line: Some(line),
            function: Some("msort".into()),
            primitive: Some("join".into()),
            source: Some(source.into()),
            ..Place::default()
        }
    }

    fn root() -> Place {
        Place {
            label: "root".into(),
            ..Place::default()
        }
    }

    #[test]
    fn a_line_that_moved_is_recognised_and_one_that_could_be_two_is_not() {
        let mut table = PlaceTable::new();
        let before = [
            root(),
            place(37, "join(a, b);"),
            place(50, "join(c, d);"),
            place(60, "join(c, d);"),
        ];
        assert_eq!(table.add(&before), [0, 1, 2, 3]);
        // Moved up by two lines; the two that look the same can't be told apart.
        let after = [
            root(),
            place(51, "join(c, d);"),
            place(61, "join(c, d);"),
            place(39, "join(a, b);"),
        ];
        assert_eq!(table.add(&after), [0, 4, 5, 1]);
        assert_eq!(table.moved(), 1);
        // The next run of the same version finds all of them by position.
        assert_eq!(table.add(&after), [0, 4, 5, 1]);
        assert_eq!(table.moved(), 1);
    }

    #[test]
    fn a_position_wins_over_a_look_alike() {
        let mut table = PlaceTable::new();
        table.add(&[root(), place(37, "join(a, b);")]);
        let after = [root(), place(40, "join(a, b);"), place(37, "join(a, b);")];
        assert_eq!(table.add(&after), [0, 2, 1]);
    }
}
