//! `compare`: two runs side by side.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::value::RawValue;
use workspan_analysis::CodeBlock;
use workspan_analysis::compare::{Comparison, Side, compare, measure};
use workspan_export::{compare_json, compare_words};

use crate::answer::Reply;
use crate::api_error::ApiError;
use crate::run::{Run, RunModel};

#[derive(Serialize)]
struct Compare {
    words: Words,
    table: Box<RawValue>,
    /// Of each row of `table.blocks`, the index of its code in both runs, if it ran there.
    codes: Vec<[Option<usize>; 2]>,
}

#[derive(Serialize)]
struct Words {
    title: String,
    lines: Vec<String>,
}

pub(crate) fn answer(a: &Run, b: &Run) -> Result<Reply, ApiError> {
    let comparison = compare(&[side(a)?, side(b)?]);
    let in_a = codes(&comparison, 0, a.model()?);
    let in_b = codes(&comparison, 1, b.model()?);
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
        codes: in_a.into_iter().zip(in_b).map(|(a, b)| [a, b]).collect(),
    })
}

/// The code of each compared block in the run of one side, as in the other tabs.
fn codes(comparison: &Comparison, side: usize, model: &RunModel) -> Vec<Option<usize>> {
    let all = model.codes.all.iter().enumerate();
    let of: HashMap<CodeBlock, usize> = all
        .flat_map(|(i, code)| code.blocks.iter().map(move |&block| (block, i)))
        .collect();
    let rows = comparison.blocks.iter();
    rows.map(|row| of.get(row.own[side].as_ref()?).copied())
        .collect()
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
