//! The sample profile, as JSON.

use serde::Serialize;
use workspan_analysis::{CodePlace, FunctionSamples, HotFunction, LineSamples, Report};

/// Maximum number of lines and of functions.
const MAX_ROWS: usize = 1000;

#[derive(Serialize)]
pub(super) struct SamplesJson<'a> {
    /// Samples per second of CPU time.
    hertz: u32,
    /// Number of samples inside strands. `outside` counts those taken while the thread ran no
    /// strand or was in the recorder's code (which `recording` counts).
    inside: u64,
    in_runtime: u64,
    outside: u64,
    recording: u64,
    lines: Vec<LineJson<'a>>,
    functions: Vec<FunctionJson<'a>>,
}

#[derive(Serialize)]
struct LineJson<'a> {
    file: &'a str,
    line: u32,
    function: &'a str,
    samples: u64,
    critical: u64,
}

#[derive(Serialize)]
struct FunctionJson<'a> {
    function: &'a str,
    file: Option<&'a str>,
    own: u64,
    total: u64,
    critical: u64,
}

/// `None` if there are no samples.
pub(super) fn samples(report: &Report) -> Option<SamplesJson<'_>> {
    let heat = &report.samples;
    if heat.inside + heat.outside == 0 {
        return None;
    }
    Some(SamplesJson {
        hertz: heat.hertz,
        inside: heat.inside,
        in_runtime: heat.in_runtime,
        outside: heat.outside,
        recording: heat.recording,
        lines: heat
            .lines
            .iter()
            .take(MAX_ROWS)
            .map(|row: &LineSamples| LineJson {
                file: &row.file,
                line: row.line,
                function: &row.function,
                samples: row.samples,
                critical: row.critical,
            })
            .collect(),
        functions: heat.functions.iter().take(MAX_ROWS).map(function).collect(),
    })
}

fn function(row: &FunctionSamples) -> FunctionJson<'_> {
    FunctionJson {
        function: &row.function,
        file: row.file.as_deref(),
        own: row.own,
        total: row.total,
        critical: row.critical,
    }
}

/// Where the code of a finding spent its time.
#[derive(Serialize)]
pub(super) struct InsideJson {
    function: String,
    file: Option<String>,
    line: Option<u32>,
    samples: u64,
    of: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    called_at: Option<CodePlaceJson>,
}

/// A place in the code.
#[derive(Serialize)]
pub(super) struct CodePlaceJson {
    function: String,
    file: Option<String>,
    line: Option<u32>,
}

impl From<CodePlace> for CodePlaceJson {
    fn from(at: CodePlace) -> CodePlaceJson {
        CodePlaceJson {
            function: at.function,
            file: at.file,
            line: at.line,
        }
    }
}

pub(super) fn inside(hot: HotFunction) -> InsideJson {
    InsideJson {
        function: hot.function,
        file: hot.file,
        line: hot.line,
        samples: hot.samples,
        of: hot.of,
        called_at: hot.called_at.map(CodePlaceJson::from),
    }
}
