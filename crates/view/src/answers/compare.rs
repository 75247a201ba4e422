//! `compare`: two runs side by side.

use serde::Serialize;
use serde_json::value::RawValue;
use workspan_analysis::compare::{Side, compare, measure};
use workspan_export::{compare_json, compare_words};

use crate::answer::Reply;
use crate::api_error::ApiError;
use crate::run::Run;

#[derive(Serialize)]
struct Compare {
    words: Words,
    table: Box<RawValue>,
}

#[derive(Serialize)]
struct Words {
    title: String,
    lines: Vec<String>,
}

pub(crate) fn answer(a: &Run, b: &Run) -> Result<Reply, ApiError> {
    let comparison = compare(&[side(a)?, side(b)?]);
    let mut lines = compare_words(&comparison);
    let title = match lines.is_empty() {
        true => String::new(),
        false => lines.remove(0),
    };
    let table = RawValue::from_string(compare_json(&comparison));
    let table = table.map_err(|e| ApiError::new(500, format!("The table can't be read: {e}.")))?;
    Reply::json(&Compare {
        words: Words { title, lines },
        table,
    })
}

/// One side of the comparison. It is named by its letter and its file, so that two runs of the same
/// name can be told apart.
fn side(run: &Run) -> Result<Side, ApiError> {
    let (model, analyses) = (run.model()?, run.analyses()?);
    let name = format!("{} ({})", run.id.to_uppercase(), run.file_name());
    Ok(Side {
        runs: vec![measure(&model.dag, &analyses.report, name.clone())],
        name,
    })
}
