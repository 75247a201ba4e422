//! Source positions, without duplicates.

use std::collections::BTreeMap;

use workspan_dag::{Error, NONE, Place};

use super::layout::{File, Position};

/// The places found so far.
pub(super) struct Places {
    by_position: BTreeMap<Position, u32>,
    /// The list of places; the root's is the first.
    pub list: Vec<Place>,
}

impl Places {
    pub(super) fn new() -> Places {
        Places {
            by_position: BTreeMap::new(),
            list: vec![Place {
                label: "root".into(),
                ..Place::default()
            }],
        }
    }

    /// The place of a position in node `i`; `NONE` if names are missing.
    ///
    /// # Errors
    /// There is no such name.
    pub(super) fn of(&mut self, file: &File, i: usize, position: Position) -> Result<u32, Error> {
        if let Some(&place) = self.by_position.get(&position) {
            return Ok(place);
        }
        let Some(name) = file.name(i, position.file)? else {
            return Ok(NONE);
        };
        let line = u32::try_from(position.line).ok().filter(|&line| line > 0);
        let place = self.list.len() as u32;
        self.list.push(Place {
            label: match line {
                Some(line) => format!("{name}:{line}"),
                None => name.clone(),
            },
            file: Some(name),
            line,
            ..Place::default()
        });
        self.by_position.insert(position, place);
        Ok(place)
    }
}
