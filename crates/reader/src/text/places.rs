//! Positions and labels by text.

use std::collections::HashMap;

use super::line::Line;
use workspan_dag::Error;
use workspan_dag::{Dag, NONE, Place, ROOT_PLACE, Reporter, THREAD_PRIMITIVE};

/// The place of root tasks if the trace does not specify it.
pub(super) fn root_place() -> Place {
    Place {
        label: "root".into(),
        ..Place::default()
    }
}

/// How a place of the header's table is known, if the table says so.
fn reporter(place: &Line<'_>) -> Result<Option<Reporter>, Error> {
    if place.given("told_by").is_none() {
        return Ok(None);
    }
    let word = place.word("told_by", &Reporter::ALL.map(Reporter::name))?;
    Ok(Reporter::ALL.get(word).copied())
}

/// The place that a label stands for: `file:line` is split, anything else is only a label.
pub(super) fn place_of_label(label: &str) -> Place {
    let position = label.rsplit_once(':').and_then(|(file, line)| {
        let digits = !file.is_empty() && line.bytes().all(|b| b.is_ascii_digit());
        Some((file, line.parse().ok().filter(|_| digits)?))
    });
    Place {
        label: label.to_owned(),
        file: position.map(|p| p.0.to_owned()),
        line: position.map(|p| p.1),
        ..Place::default()
    }
}

/// The places found so far, by label.
pub(super) struct Places {
    pub list: Vec<Place>,
    by_label: HashMap<String, u32>,
    /// Whether the header has the table, so that its order is kept.
    given: bool,
}

impl Places {
    /// Marks the tasks created at that place as threads.
    pub fn is_of_threads(&mut self, place: u32) {
        if let Some(place) = self.list.get_mut(place as usize) {
            place.primitive = Some(THREAD_PRIMITIVE.to_owned());
        }
    }

    /// Created from the header's `places`, if there are any.
    pub(super) fn new(header: &Line<'_>) -> Result<Places, Error> {
        let mut out = Places {
            list: vec![root_place()],
            by_label: HashMap::new(),
            given: false,
        };
        if header.given("places").is_none() {
            return Ok(out);
        }
        out.given = true;
        out.list.clear();
        for value in header.list("places")? {
            let line = header.inner(value, "places")?;
            let text = |key| line.text_or_none(key).map(|t| t.map(str::to_owned));
            let label = line.text("label")?.to_owned();
            if !out.list.is_empty() {
                out.by_label
                    .entry(label.clone())
                    .or_insert(out.list.len() as u32);
            }
            out.list.push(Place {
                label,
                file: text("file")?,
                line: if line.given("line").is_some() {
                    Some(line.small("line")?)
                } else {
                    None
                },
                function: text("function")?,
                primitive: text("primitive")?,
                source: text("source")?,
                reporter: reporter(&line)?,
            });
        }
        if out.list.is_empty() {
            return header.fail(
                "`places` is an empty list; expected the root's place first, or no `places`",
            );
        }
        Ok(out)
    }

    /// The place of a label.
    pub(super) fn of(&mut self, label: &str) -> u32 {
        if let Some(&place) = self.by_label.get(label) {
            return place;
        }
        let place = self.list.len() as u32;
        self.list.push(place_of_label(label));
        self.by_label.insert(label.to_owned(), place);
        place
    }

    /// The place that a line names: by index under `index_key` if its label is ambiguous, otherwise
    /// by label under `key`.
    pub(super) fn named(
        &mut self,
        line: &Line<'_>,
        key: &str,
        index_key: &str,
    ) -> Result<Option<u32>, Error> {
        if line.given(index_key).is_some() {
            return self
                .indexed(line, index_key, line.whole(index_key)?)
                .map(Some);
        }
        Ok(line.text_or_none(key)?.map(|label| self.of(label)))
    }

    /// A place by index.
    pub(super) fn indexed(&self, line: &Line<'_>, key: &str, index: u64) -> Result<u32, Error> {
        match u32::try_from(index) {
            Ok(i) if (i as usize) < self.list.len() => Ok(i),
            _ => line.fail(format!(
                "`{key}` is {index}; expected an index into the header's {} `places`",
                self.list.len()
            )),
        }
    }

    /// Puts the places of a finished DAG in an order that is independent of the order of the lines,
    /// unless the header gave one.
    pub(super) fn settle(&self, dag: &mut Dag) {
        if self.given {
            return;
        }
        let used = used_places(dag);
        let mut order: Vec<u32> = (1..dag.places.len() as u32)
            .filter(|&p| used[p as usize])
            .collect();
        order.sort_by(|&a, &b| {
            dag.places[a as usize]
                .label
                .cmp(&dag.places[b as usize].label)
        });
        order.insert(0, ROOT_PLACE);
        let mut new = vec![NONE; dag.places.len()];
        for (i, &p) in order.iter().enumerate() {
            new[p as usize] = i as u32;
        }
        dag.places = order
            .iter()
            .map(|&p| std::mem::take(&mut dag.places[p as usize]))
            .collect();
        let renumber = |p: &mut u32| {
            if *p != NONE {
                *p = new[*p as usize];
            }
        };
        let strands = &mut dag.strands;
        dag.tasks
            .site
            .iter_mut()
            .chain(&mut strands.to)
            .for_each(renumber);
        let settled = dag.folded.iter().map(|(s, mut fold)| {
            fold.sites.iter_mut().for_each(|s| renumber(&mut s.site));
            fold.sites.sort_by_key(|s| s.site);
            fold.blocks.iter_mut().for_each(|b| {
                renumber(&mut b.0);
                renumber(&mut b.1);
            });
            fold.blocks.sort_unstable();
            (s, fold)
        });
        dag.folded = settled.collect();
    }
}

/// Which places are used in the DAG; the root's always counts.
pub(super) fn used_places(dag: &Dag) -> Vec<bool> {
    let mut used = vec![false; dag.places.len()];
    used[ROOT_PLACE as usize] = true;
    let mut mark = |p: u32| {
        if p != NONE {
            used[p as usize] = true;
        }
    };
    dag.tasks
        .site
        .iter()
        .chain(&dag.strands.to)
        .for_each(|&p| mark(p));
    for (_, fold) in dag.folded.iter() {
        fold.sites.iter().for_each(|s| mark(s.site));
        fold.blocks.iter().for_each(|b| {
            mark(b.0);
            mark(b.1);
        });
    }
    used
}
