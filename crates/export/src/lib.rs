//! Formats results for people and programs: the report as text and as JSON.
//!
//! Both formats take `&Dag` and its [`workspan_analysis::Report`] and only format their values;
//! [`workspan_analysis::causes`] chooses which of the numbers comes first.

mod advise;
mod chrome;
mod compare;
mod dag_recorder;
mod dot;
pub mod flame;
mod json;
mod limits;
mod otf2_print;
mod page;
mod perfetto;
pub mod plot;
mod position;
pub mod profile;
mod quantity;
mod read_folding;
mod redact;
mod scale;
mod section;
mod simulation;
mod statistics;
mod stretch;
mod tables;
mod taskprof;
mod text;
mod timeline;
mod tracks;
mod what_if;

pub use advise::{advise_json, advise_text};
pub use chrome::{Chrome, chrome};
pub use compare::{
    CompareOptions, EachRow, check_github, check_json, check_junit, check_markdown, check_sarif,
    check_text, compare_json, compare_text, compare_words, each_text,
};
pub use dag_recorder::dag_recorder;
pub use dot::{DOT_NODES, DotColors, DotOptions, dot};
pub use json::{RowLimits, report_json, report_json_of, report_json_with};
pub use otf2_print::otf2_print;
pub use page::paragraph;
pub use perfetto::{Perfetto, perfetto};
pub use quantity::{bytes, thousands, time};
pub use read_folding::read_folding;
pub use redact::redact;
pub use scale::{ScaleView, scale_csv, scale_json, scale_text};
pub use section::titled;
pub use simulation::{SimulationRow, SimulationView, simulation_json, simulation_text};
pub use statistics::statistics_text;
pub use stretch::{StretchTables, stretch_json, stretch_text};
pub use tables::{table_json, table_text};
pub use taskprof::{TaskprofError, TaskprofFile, taskprof_csv, taskprof_input};
pub use text::{
    CheckText, FindingText, State, Summary, Word, WordKind, plain_words, report_text, screen_text,
    summary,
};
pub use timeline::{Cells, TimelineOptions, timeline_bins, timeline_text};
pub use what_if::{WhatIfView, what_if_json, what_if_text};

/// The trace file of a report, as its first line names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceFile {
    /// The name to show.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// The options that it was read with, in their command-line form: they are added to commands
    /// that the report suggests.
    pub options: Vec<String>,
}

/// The format of the text report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextOptions {
    /// Maximum number of columns of a line, at least 60.
    pub width: usize,
    /// ANSI colours.
    pub color: bool,
    /// The characters that may be used.
    pub charset: Charset,
    /// Maximum number of spawn sites shown.
    pub sites: usize,
    /// The trace file, for the title.
    pub trace: Option<TraceFile>,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self {
            width: 80,
            color: false,
            charset: Charset::Ascii,
            sites: 10,
            trace: None,
        }
    }
}

/// Which characters the text report may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Charset {
    /// Block characters for bars; for terminals.
    Unicode,
    /// The report's own words and bars are ASCII; names from the program are left as they are. For
    /// pipes.
    #[default]
    Ascii,
    /// Only ASCII: other characters in names are escaped.
    Strict,
}
