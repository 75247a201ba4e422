//! `--only SECTION`: a section of a run measured as a run of its own.

use std::path::Path;

use anyhow::Context;
use workspan_analysis::Options;
use workspan_analysis::named_section::{SectionName, named_section, section_name};
use workspan_dag::{Dag, SectionKind};
use workspan_reader::OpenOptions;
use workspan_reader::open::Grain;

use crate::trace::open;

/// Which section is measured.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct SectionArgs {
    /// Measure only this section, as a run of its own: region:NAME, part:NAME or site:SITE
    /// (`workspan help section`)
    #[arg(long, value_name = "SECTION", value_parser = section_name)]
    pub only: Option<SectionName>,
}

impl SectionArgs {
    /// Reads the section of the trace at `path`.
    ///
    /// # Errors
    /// The trace can't be read, or has no such section or metric; the message names the file.
    pub fn open(
        &self,
        path: &Path,
        opening: OpenOptions,
        measured: &Options,
    ) -> anyhow::Result<Dag> {
        let Some(name) = &self.only else {
            return open(path, &opening);
        };
        // In folded records, tasks of a site can't be distinguished from others.
        let grain = match (name.kind, opening.grain) {
            (Some(SectionKind::Region | SectionKind::Part), grain) => grain,
            (_, Grain::Auto) => Grain::None,
            (_, grain) => grain,
        };
        let dag = open(path, &OpenOptions { grain, ..opening })?;
        named_section(&dag, name, measured).with_context(|| path.display().to_string())
    }
}

/// The section of a run, for instance `region:solve`.
pub fn section_of(dag: &Dag) -> Option<String> {
    dag.meta.section.as_ref().map(|section| section.argument())
}
