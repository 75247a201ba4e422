//! Names, lines and the clock, from the definitions or from the names of regions.

use std::collections::{BTreeMap, HashMap};

use workspan_dag::raw::RawTrace;
use workspan_dag::{Error, Place};

use super::lines::{fail, reference, value};

/// The effect of a region on tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Create,
    Wait,
    Barrier,
    Parallel,
    /// A region that the user marked.
    Marked,
    Other,
}

/// A region: code that is entered and left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Region {
    pub(super) role: Role,
    pub(super) place: u32,
    pub(super) label: u32,
}

/// The definitions read so far.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    /// Names of locations.
    pub(super) names: BTreeMap<u64, String>,
    pub(super) regions: HashMap<u64, Region>,
    labels: HashMap<String, u32>,
    /// The clock's time at the beginning.
    pub(super) origin: u64,
}

impl Definitions {
    pub(super) fn define(
        &mut self,
        raw: &mut RawTrace,
        kind: &str,
        id: Option<u64>,
        attributes: &str,
    ) {
        match (kind, id) {
            ("CLOCK_PROPERTIES", _) => {
                let number = |name| value(attributes, name).and_then(|v| v.parse().ok());
                self.origin = number("Global Offset").unwrap_or(0);
                let rate = number("Ticks per Seconds").unwrap_or(0);
                raw.meta.ticks_per_second = rate;
            }
            ("LOCATION", Some(id)) => {
                if let Some(name) = value(attributes, "Name") {
                    self.names.insert(id, name.to_owned());
                }
            }
            ("REGION", Some(id)) => {
                let name = value(attributes, "Name").unwrap_or("?");
                let role_name = value(attributes, "Role").unwrap_or("");
                let paradigm = value(attributes, "Paradigm").unwrap_or("");
                let file = value(attributes, "File").filter(|f| !f.is_empty() && *f != "UNDEFINED");
                let line = value(attributes, "Begin").and_then(|l| l.parse().ok());
                let role = match role_name {
                    "TASK_CREATE" => Role::Create,
                    "TASK_WAIT" => Role::Wait,
                    "BARRIER" | "IMPLICIT_BARRIER" => Role::Barrier,
                    "PARALLEL" => Role::Parallel,
                    _ if paradigm == "USER" => Role::Marked,
                    _ => role_by_name(name),
                };
                let label = match (file, line) {
                    (Some(file), Some(line)) if line > 0 => format!("{file}:{line}"),
                    _ => name.to_owned(),
                };
                self.region_of(
                    raw,
                    id,
                    role,
                    name,
                    Place {
                        label,
                        file: file.map(str::to_owned),
                        line: line.filter(|&l| l > 0),
                        ..Place::default()
                    },
                );
            }
            _ => {}
        }
    }

    fn region_of(
        &mut self,
        raw: &mut RawTrace,
        id: u64,
        role: Role,
        name: &str,
        place: Place,
    ) -> Region {
        add_root_place(raw);
        let places = raw.places.len() as u32;
        raw.places.push(place);
        let labels = &mut raw.labels;
        let label = *self.labels.entry(name.to_owned()).or_insert_with(|| {
            labels.push(name.to_owned());
            labels.len() as u32 - 1
        });
        let region = Region {
            role,
            place: places,
            label,
        };
        self.regions.insert(id, region);
        region
    }

    /// The region of an event. A region without a definition is known by its name.
    pub(super) fn region(
        &mut self,
        raw: &mut RawTrace,
        number: usize,
        attributes: &str,
    ) -> Result<(u64, Region), Error> {
        let Some(id) = reference(attributes, "Region") else {
            return fail(number, "no `Region: \"name\" <number>`");
        };
        if let Some(&region) = self.regions.get(&id) {
            return Ok((id, region));
        }
        let name = value(attributes, "Region").unwrap_or("?");
        // OpenMP's regions are called `!$omp task @file.c:12`.
        let (file, line) = match name.rsplit_once('@').and_then(|at| at.1.rsplit_once(':')) {
            Some((file, line)) => (Some(file.to_owned()), line.parse().ok()),
            None => (None, None),
        };
        let label = match (&file, line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            _ => name.to_owned(),
        };
        let place = Place {
            label,
            file,
            line,
            ..Place::default()
        };
        Ok((id, self.region_of(raw, id, role_by_name(name), name, place)))
    }
}

/// Adds the root's place, which is the first one.
pub(super) fn add_root_place(raw: &mut RawTrace) {
    if raw.places.is_empty() {
        raw.places.push(Place {
            label: "root".into(),
            ..Place::default()
        });
    }
}

/// The role of an OpenMP region by its name, if no definition has it.
fn role_by_name(name: &str) -> Role {
    let Some(name) = name.strip_prefix("!$omp ") else {
        return Role::Other;
    };
    match name {
        n if n.starts_with("create task") => Role::Create,
        n if n.starts_with("taskwait") => Role::Wait,
        n if n.starts_with("parallel") => Role::Parallel,
        n if n.contains("barrier") => Role::Barrier,
        _ => Role::Other,
    }
}
