//! The tools: their names, descriptions and arguments. The comments of arguments are texts that
//! clients see.

use std::sync::Arc;

use anyhow::bail;
use rmcp::handler::server::common::schema_for_input;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::Shared;
use crate::answers::{compare, findings, query, record, site, source_heat, what_if};

/// Which trace an answer is about.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FindingsArgs {
    /// A trace file (.wspan) in the allowed folders; by default the one that was recorded last
    pub(crate) trace: Option<String>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SiteArgs {
    /// A trace file (.wspan) in the allowed folders; by default the one that was recorded last
    pub(crate) trace: Option<String>,
    /// A spawn site as answers name it: `src/sort.rs:37`, `root`, or a function; without it, the
    /// sites with the largest share of the critical path
    pub(crate) site: Option<String>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SourceHeatArgs {
    /// A trace file (.wspan) in the allowed folders; by default the one that was recorded last
    pub(crate) trace: Option<String>,
    /// A source file as the trace names it, or the end of its path; without it, the hottest lines
    /// of all files
    pub(crate) file: Option<String>,
    /// Lines in the answer at most (default 20)
    pub(crate) lines: Option<usize>,
}

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WhatIfArgs {
    /// A trace file (.wspan) in the allowed folders; by default the one that was recorded last
    pub(crate) trace: Option<String>,
    /// Spawn sites whose tasks become faster, as answers name them
    #[serde(default)]
    pub(crate) sites: Vec<String>,
    /// With `sites`: what their tasks create becomes faster, too
    #[serde(default)]
    pub(crate) subtree: bool,
    /// Source lines that become faster, as `src/io.rs:10-40`
    #[serde(default)]
    pub(crate) lines: Vec<String>,
    /// Code blocks that become faster, as findings name them: `root: wait src/sort.rs:37 -> end`
    #[serde(default)]
    pub(crate) blocks: Vec<String>,
    /// Regions that the program marked and that become faster
    #[serde(default)]
    pub(crate) regions: Vec<String>,
    /// Factors: how many times faster the code becomes (default 2, 4, 8)
    #[serde(default)]
    pub(crate) factors: Vec<f64>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompareArgs {
    /// Traces before the change; several runs tell noise from differences
    pub(crate) before: Vec<String>,
    /// Traces after the change
    pub(crate) after: Vec<String>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueryArgs {
    /// Trace files in the allowed folders, each a run; by default the one that was recorded last
    #[serde(default)]
    pub(crate) traces: Vec<String>,
    /// A SELECT; without `sql` and `name`, the answer lists the tables, their columns and the ready
    /// queries
    pub(crate) sql: Option<String>,
    /// The name of a ready-made query instead
    pub(crate) name: Option<String>,
    /// Rows in the answer at most (default 30, at most 200)
    pub(crate) rows: Option<usize>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecordArgs {
    /// The program and its arguments, a word each, such as ["cargo", "run", "--release"]; no shell
    /// is involved
    pub(crate) command: Vec<String>,
    /// The folder it runs in (default: the first allowed folder)
    pub(crate) folder: Option<String>,
    /// The trace to write, which must not exist yet (default: a new name)
    pub(crate) output: Option<String>,
    /// Seconds after which the program is ended (default 300); what was recorded until then is kept
    pub(crate) timeout_seconds: Option<u64>,
}

/// A tool's name, description and schema.
struct ToolDescription {
    name: &'static str,
    description: &'static str,
    schema: Result<Arc<JsonObject>, String>,
    reads_only: bool,
}

/// The tools; `record` is included only if programs may be run.
pub(crate) fn list(may_record: bool) -> Vec<Tool> {
    let described = |name, description, schema| ToolDescription {
        name,
        description,
        schema,
        reads_only: true,
    };
    let mut all = vec![
        described(
            "findings",
            "What limits the speedup of a recorded program: verdict, parallelism, and up to three findings, each with its \
             cause, source position, loss, remedy, and the arguments for `what_if`. Ask this first.",
            schema_for_input::<FindingsArgs>(),
        ),
        described(
            "site",
            "Spawn sites (source lines that create tasks): number of tasks, work, span, parallelism, share of the critical \
             path; of one site also its code blocks.",
            schema_for_input::<SiteArgs>(),
        ),
        described(
            "source_heat",
            "The source lines in which the samples of the run lie, with their text, time, and samples on the critical path.",
            schema_for_input::<SourceHeatArgs>(),
        ),
        described(
            "what_if",
            "Predicts span, parallelism and bounds of the speedup if some code were faster, before anybody changes it.",
            schema_for_input::<WhatIfArgs>(),
        ),
        described(
            "compare",
            "Differences between recorded runs before and after a change: elapsed time, work, span, parallelism, losses, and \
             the sites that changed most; says what is noise where there are several runs.",
            schema_for_input::<CompareArgs>(),
        ),
        described(
            "query",
            "Asks runs in SQL (read-only SQLite; times in nanoseconds). Without arguments, lists tables, columns and ready-made \
             queries.",
            schema_for_input::<QueryArgs>(),
        ),
    ];
    if may_record {
        all.push(ToolDescription {
            name: "record",
            description: "Runs a program, records its tasks, and answers with the trace's name and its findings. Record \
                          optimised builds (`cargo run --release`).",
            schema: schema_for_input::<RecordArgs>(),
            reads_only: false,
        });
    }
    let tool = |tool: ToolDescription| {
        let about = ToolAnnotations::new()
            .read_only(tool.reads_only)
            .open_world(!tool.reads_only);
        // A schema that is not an object would be a defect of ours; the tool works without it.
        let schema = tool.schema.unwrap_or_default();
        Tool::new(tool.name, tool.description, schema).with_annotations(about)
    };
    all.into_iter().map(tool).collect()
}

/// A call of a tool, with its arguments.
#[derive(Debug, Clone)]
pub(crate) enum Call {
    Findings(FindingsArgs),
    Site(SiteArgs),
    SourceHeat(SourceHeatArgs),
    WhatIf(WhatIfArgs),
    Compare(CompareArgs),
    Query(QueryArgs),
    Record(RecordArgs),
}

impl Call {
    /// # Errors
    /// There is no such tool, or its arguments are wrong.
    pub(crate) fn parse(name: &str, arguments: JsonObject) -> anyhow::Result<Call> {
        Ok(match name {
            "findings" => Call::Findings(parsed(arguments)?),
            "site" => Call::Site(parsed(arguments)?),
            "source_heat" => Call::SourceHeat(parsed(arguments)?),
            "what_if" => Call::WhatIf(parsed(arguments)?),
            "compare" => Call::Compare(parsed(arguments)?),
            "query" => Call::Query(parsed(arguments)?),
            "record" => Call::Record(parsed(arguments)?),
            _ => bail!("there is no tool `{name}`"),
        })
    }

    /// # Errors
    /// The requested item does not exist or may not be accessed; the message has the remedy.
    pub(crate) fn answer(&self, shared: &Shared) -> anyhow::Result<String> {
        match self {
            Call::Findings(args) => findings::answer(shared, args),
            Call::Site(args) => site::answer(shared, args),
            Call::SourceHeat(args) => source_heat::answer(shared, args),
            Call::WhatIf(args) => what_if::answer(shared, args),
            Call::Compare(args) => compare::answer(shared, args),
            Call::Query(args) => query::answer(shared, args),
            Call::Record(args) => record::answer(shared, args),
        }
    }
}

fn parsed<T: DeserializeOwned>(arguments: JsonObject) -> anyhow::Result<T> {
    Ok(serde_json::from_value(serde_json::Value::Object(
        arguments,
    ))?)
}
