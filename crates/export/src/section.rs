//! The name of a section in titles, commands and JSON.

use serde_json::{Value as Json, json};
use workspan_dag::{Meta, Section, SectionKind};

use crate::page::{Piece, Tone, plain, strong};
use crate::quantity::{percent_of, share, thousands, time};
use crate::what_if::json::whole;
use crate::what_if::quoted;

/// Minimum share of the worker time of other code that is worth a sentence, in percent.
const NOTABLE_PERCENT: f64 = 1.0;

/// The program's name, followed by the section if the run is one: `sort, region merge`.
pub fn titled(meta: &Meta, or: &str) -> String {
    let name = meta.name.as_deref().filter(|name| !name.is_empty());
    let name = name.unwrap_or(or);
    match &meta.section {
        Some(section) => format!("{name}, {} {}", section.kind.name(), section.name),
        None => name.to_owned(),
    }
}

/// The command-line option that selects the same section.
pub(crate) fn option(meta: &Meta) -> Option<String> {
    let section = meta.section.as_ref()?;
    Some(format!("--only {}", quoted(&section.argument())))
}

/// The key `section`: null for a whole run.
pub(crate) fn section_json(meta: &Meta) -> Json {
    let object = |section: &Section| {
        json!({
            "kind": section.kind.name(), "name": section.name, "only": section.argument(), "count": section.count,
            "elsewhere": whole(section.elsewhere), "left_out_tasks": section.folded,
        })
    };
    meta.section.as_ref().map_or(Json::Null, object)
}

/// A sentence that says which section all numbers are about.
pub(crate) fn sentence(meta: &Meta, elapsed: u64) -> Option<Vec<Piece>> {
    let section = meta.section.as_ref()?;
    let (what, times) = match section.kind {
        SectionKind::Region => ("region ", "marked"),
        SectionKind::Part => ("part ", "marked"),
        SectionKind::Site => ("tasks of ", "created"),
    };
    let times = match section.count {
        1 => format!(", {times} once"),
        n => format!(", {times} {} times", thousands(n.into())),
    };
    let mut words = vec![
        plain(format!("All numbers are of the {what}")),
        (Tone::Path, section.name.clone()),
        plain(format!("{times}, as a run of its own of ")),
        strong(time(meta, elapsed as f64)),
        plain("."),
    ];
    let all = u128::from(elapsed) * u128::from(meta.workers.max(1));
    let part = percent_of(section.elsewhere, all);
    if part >= NOTABLE_PERCENT {
        words.push(plain(format!(
            " Meanwhile other code of the program had {} of the worker time, which counts as time without work here.",
            share(part)
        )));
    }
    if section.folded > 0 {
        words.push(plain(format!(
            " {} more of its tasks are in folded records with others and are left out: record with --fold off, and read with --full, to have all.",
            thousands(section.folded.into())
        )));
    }
    Some(words)
}
