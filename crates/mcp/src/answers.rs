//! The answers, one module each. All are JSON objects on one line, except that of `query`, which is
//! a table.

pub(crate) mod compare;
pub(crate) mod findings;
pub(crate) mod query;
pub(crate) mod record;
pub(crate) mod site;
pub(crate) mod source_heat;
pub(crate) mod what_if;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use serde_json::Value as Json;
use workspan_dag::{Dag, Place};

use crate::Shared;
use crate::runs::Run;

/// The trace that a request is about.
pub(crate) fn trace(shared: &Shared, name: Option<&str>) -> anyhow::Result<PathBuf> {
    match name {
        Some(name) => shared.folders.file(name),
        None => shared.folders.newest_trace().context(
            "there is no trace in the allowed folders; record one: `cargo workspan run --release`, \
             `workspan record -o run.wspan -- PROGRAM`, or the tool `record`",
        ),
    }
}

/// The run that a request is about, with its trace.
pub(crate) fn run(shared: &Shared, name: Option<&str>) -> anyhow::Result<(PathBuf, Arc<Run>)> {
    let path = trace(shared, name)?;
    let run = shared.runs.get(&path)?;
    Ok((path, run))
}

/// A time in a readable form.
pub(crate) fn time(dag: &Dag, ticks: u128) -> String {
    workspan_export::time(&dag.meta, ticks as f64).replace('\u{a0}', " ")
}

/// A number for an answer, rounded to three decimals.
pub(crate) fn rounded(v: f64) -> Json {
    if v.is_finite() {
        serde_json::json!((v * 1e3).round() / 1e3)
    } else {
        Json::Null
    }
}

/// The object without the keys that have no value.
pub(crate) fn present(mut value: Json) -> Json {
    match &mut value {
        Json::Object(map) => {
            let all = std::mem::take(map);
            let all = all.into_iter().map(|(key, value)| (key, present(value)));
            map.extend(all.filter(|(_, value)| !value.is_null()));
        }
        Json::Array(list) => list.iter_mut().for_each(|v| *v = present(v.take())),
        _ => {}
    }
    value
}

/// A link to a line of a source file, if the file is in the allowed folders.
pub(crate) fn link(shared: &Shared, dag: &Dag, place: &Place) -> Option<String> {
    link_to(shared, dag, place.file.as_deref()?, place.line?)
}

/// Like [`link`], for a file and a line.
pub(crate) fn link_to(shared: &Shared, dag: &Dag, file: &str, line: u32) -> Option<String> {
    let path = source(shared, dag, file).ok()?;
    Some(format!("file://{}#L{line}", uri_path(&path)))
}

/// A source file that the trace names, if it is in the allowed folders.
///
/// # Errors
/// The file does not exist, or is outside.
pub(crate) fn source(shared: &Shared, dag: &Dag, file: &str) -> anyhow::Result<PathBuf> {
    if let Some(folder) = &dag.meta.run.source_folder {
        let path = folder.join(file);
        if let Some(found) = path.to_str().and_then(|p| shared.folders.file(p).ok()) {
            return Ok(found);
        }
    }
    if file.is_empty() {
        bail!("no file");
    }
    shared.folders.file(file)
}

/// The path with all characters escaped that have a meaning in a URI.
fn uri_path(path: &Path) -> String {
    let mut text = String::new();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                text.push(char::from(*byte));
            }
            byte => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}
