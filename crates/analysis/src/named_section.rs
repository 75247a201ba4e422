//! A section that a person names: `region:NAME`, `part:NAME`, `site:SITE`, or the name alone.

use std::fmt;

use workspan_dag::{Dag, Region, SectionKind};

use crate::named_code::{UnknownCode, site, spawn_sites};
use crate::only::{SectionTarget, section};
use crate::options::{Error, Options};
use crate::what_if::Target;

/// The name of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionName {
    /// The kind of section; `None` if only the name was given.
    pub kind: Option<SectionKind>,
    /// The region's or part's name, or the site's.
    pub name: String,
}

impl fmt::Display for SectionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Some(kind) => write!(f, "{}:{}", kind.name(), self.name),
            None => f.write_str(&self.name),
        }
    }
}

const KINDS: [SectionKind; 3] = [SectionKind::Region, SectionKind::Part, SectionKind::Site];

/// Reads the name of a section.
///
/// # Errors
/// The text is empty; the message says what was expected.
pub fn section_name(text: &str) -> Result<SectionName, String> {
    let kind =
        |kind: &SectionKind| Some((*kind, text.strip_prefix(kind.name())?.strip_prefix(':')?));
    let (kind, name) = match KINDS.iter().find_map(kind) {
        Some((kind, name)) => (Some(kind), name),
        None => (None, text),
    };
    if name.is_empty() {
        return Err(format!(
            "`{text}` names no section; expected region:NAME, part:NAME or site:SITE, as 'region:read input' or site:src/sort.rs:37"
        ));
    }
    Ok(SectionName {
        kind,
        name: name.to_owned(),
    })
}

/// Why a run has no such section.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SectionError {
    /// No code has that name; the message lists the existing names.
    #[error("{0}")]
    NoSuchSection(String),
    /// The section can't be measured in this way.
    #[error("{0}")]
    Measure(#[from] Error),
}

impl From<UnknownCode> for SectionError {
    fn from(error: UnknownCode) -> SectionError {
        SectionError::NoSuchSection(error.to_string())
    }
}

/// The section of that name as a run of its own ([`section`]).
///
/// # Errors
/// No section or more than one has that name, nothing ran in it, or the run does not have the
/// metric.
pub fn named_section(
    dag: &Dag,
    name: &SectionName,
    options: &Options,
) -> Result<Dag, SectionError> {
    let own = section(dag, &find(dag, name)?, &name.name, options)?;
    let is_empty = |section: &workspan_dag::Section| section.tasks == 0;
    if own.meta.section.as_ref().is_some_and(is_empty) {
        return Err(SectionError::NoSuchSection(format!(
            "nothing ran in the section `{name}`"
        )));
    }
    Ok(own)
}

/// What the name stands for: a region if there is one, else a part, else a site.
fn find(dag: &Dag, name: &SectionName) -> Result<SectionTarget, SectionError> {
    let marked = |kind: SectionKind| {
        let is_kind = name.kind.is_none_or(|asked| asked == kind);
        let regions = of_kind(dag, kind).iter();
        let mut of_name = regions.filter(|r| dag.labels[r.label as usize] == name.name);
        of_name
            .next()
            .filter(|_| is_kind)
            .map(|region| region.label)
    };
    match (marked(SectionKind::Region), marked(SectionKind::Part)) {
        (Some(_), Some(_)) => {
            return Err(SectionError::NoSuchSection(format!(
                "there are both a region and a part `{name}`; ask for region:{name} or part:{name}"
            )));
        }
        (Some(label), None) => return Ok(SectionTarget::Region(label)),
        (None, Some(label)) => return Ok(SectionTarget::Part(label)),
        (None, None) => {}
    }
    match name.kind {
        Some(SectionKind::Site) => Ok(places(site(dag, &name.name, false)?)),
        None => match site(dag, &name.name, false) {
            Ok(target) => Ok(places(target)),
            Err(_) => Err(SectionError::NoSuchSection(format!(
                "no region, part or spawn site `{name}`; {}",
                known(dag)
            ))),
        },
        Some(kind) => Err(SectionError::NoSuchSection(format!(
            "no {} `{}` was marked; {}",
            kind.name(),
            name.name,
            known(dag)
        ))),
    }
}

fn places(target: Target) -> SectionTarget {
    match target {
        Target::Site { places, .. } => SectionTarget::Site(places),
        _ => SectionTarget::Site(Vec::new()),
    }
}

fn of_kind(dag: &Dag, kind: SectionKind) -> &[Region] {
    match kind {
        SectionKind::Region => &dag.regions,
        SectionKind::Part => &dag.parts,
        SectionKind::Site => &[],
    }
}

/// Maximum number of names offered.
const MAX_KNOWN: usize = 12;

/// Lists the sections of the run.
fn known(dag: &Dag) -> String {
    let mut names: Vec<String> = Vec::new();
    for kind in KINDS {
        for region in of_kind(dag, kind) {
            let label = &dag.labels[region.label as usize];
            let name = format!("`{}:{label}`", kind.name());
            if names.len() <= MAX_KNOWN && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let sites = spawn_sites(dag).into_iter();
    names.extend(sites.map(|p| format!("`site:{}`", dag.places[p as usize].label)));
    let more = names.len().saturating_sub(MAX_KNOWN);
    names.truncate(MAX_KNOWN);
    let more = match more {
        0 => String::new(),
        _ => " and more".to_owned(),
    };
    format!("the sections of this run are {}{more}", names.join(", "))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn names_with_and_without_their_kind() {
        let read = |text| section_name(text).unwrap();
        let name = read("region:read input");
        assert_eq!(
            (name.kind, &*name.name),
            (Some(SectionKind::Region), "read input")
        );
        let name = read("site:src/sort.rs:37");
        assert_eq!(
            (name.kind, &*name.name),
            (Some(SectionKind::Site), "src/sort.rs:37")
        );
        assert_eq!(name.to_string(), "site:src/sort.rs:37");
        let name = read("src/sort.rs:37");
        assert_eq!((name.kind, &*name.name), (None, "src/sort.rs:37"));
        assert!(section_name("part:").unwrap_err().contains("region:NAME"));
        assert!(section_name("").is_err());
    }
}
