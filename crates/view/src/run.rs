//! A recorded run and what is known of it, in stages.

pub mod codes;
pub mod facts;
pub mod rows;
pub mod sites;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use workspan_analysis::statistics::{Statistics, statistics};
use workspan_analysis::{Error, Options, Report};
use workspan_dag::Dag;

use crate::failure::Failure;
use crate::{dag_view, timeline};
pub use codes::Codes;
pub use facts::Facts;
pub use rows::Rows;
pub use sites::Sites;

/// The first stage: enough for the timeline.
#[derive(Debug)]
pub struct Picture {
    /// The run.
    pub dag: Arc<Dag>,
    /// How it is measured.
    pub measured: Options,
    /// Every strand's weight, off-CPU time, readiness.
    pub facts: Facts,
    /// First start and last end of any strand, absolute ticks. Requests and answers count from `begin`.
    pub begin: u64,
    /// See `begin`.
    pub end: u64,
    /// Threads as rows of the timeline.
    pub rows: Rows,
    /// Spawn sites in the order of `RunMeta.sites`.
    pub sites: Sites,
    /// Strands that were stolen, as MODEL.md §5 counts them.
    pub steals: u64,
    /// Code, in the order of `RunMeta.codes`, and each strand's.
    pub codes: Codes,
}

impl Picture {
    /// Ticks from first start to last end.
    pub fn elapsed(&self) -> u64 {
        self.end - self.begin
    }

    /// Level at which one tile holds the whole run, its last moment included.
    pub fn top_level(&self) -> u32 {
        let bins = self.elapsed() / timeline::TILE_BINS + 1;
        bins.next_power_of_two().trailing_zeros()
    }
}

/// The second stage: what needs all of the analyses.
#[derive(Debug)]
pub struct Rest {
    /// The report.
    pub report: Report,
    statistics: OnceLock<Result<Statistics, Error>>,
    /// Answers that take long to make.
    pub(crate) json: OnceLock<String>,
    pub(crate) sites: OnceLock<Vec<u8>>,
}

impl Rest {
    /// Of `report`.
    pub fn new(report: Report) -> Rest {
        Rest {
            report,
            statistics: OnceLock::new(),
            json: OnceLock::new(),
            sites: OnceLock::new(),
        }
    }

    /// The statistics, made when first asked for.
    ///
    /// # Errors
    /// As [`statistics`].
    pub fn statistics(&self, picture: &Picture) -> Result<&Statistics, &Error> {
        let made = self
            .statistics
            .get_or_init(|| statistics(&picture.dag, &picture.measured));
        made.as_ref()
    }
}

/// Where a run's loading is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stage {
    /// What is being done, for people.
    pub name: &'static str,
    /// Stages done, of how many.
    pub done: u32,
    /// See `done`.
    pub of: u32,
}

/// One run of a [`crate::Session`]: `"a"`, `"b"`, …
#[derive(Debug)]
pub struct Run {
    /// Its id in requests.
    pub id: String,
    /// Its trace file.
    pub path: PathBuf,
    /// Size of the file in bytes.
    pub bytes: u64,
    pub(crate) stage: Mutex<Stage>,
    pub(crate) failed: OnceLock<String>,
    pub(crate) picture: OnceLock<Picture>,
    pub(crate) timeline: OnceLock<timeline::Index>,
    pub(crate) tree: OnceLock<dag_view::Index>,
    pub(crate) rest: OnceLock<Rest>,
}

impl Run {
    /// The first stage.
    ///
    /// # Errors
    /// It is still loading, or the trace can't be read.
    pub fn picture(&self) -> Result<&Picture, Failure> {
        self.picture.get().ok_or_else(|| self.not_yet())
    }

    /// What tiles are made from.
    ///
    /// # Errors
    /// As [`Run::picture`].
    pub(crate) fn timeline(&self) -> Result<&timeline::Index, Failure> {
        self.timeline.get().ok_or_else(|| self.not_yet())
    }

    /// What the DAG's nodes and the details are made from; built when first asked for.
    ///
    /// # Errors
    /// As [`Run::picture`].
    pub(crate) fn tree(&self) -> Result<&dag_view::Index, Failure> {
        let picture = self.picture()?;
        Ok(self.tree.get_or_init(|| dag_view::Index::new(picture)))
    }

    /// The second stage.
    ///
    /// # Errors
    /// As [`Run::picture`].
    pub fn rest(&self) -> Result<&Rest, Failure> {
        self.rest.get().ok_or_else(|| self.not_yet())
    }

    /// Short name of the program, else of the file.
    pub fn name(&self) -> String {
        let told = self.picture.get().and_then(|p| p.dag.meta.name.clone());
        let stem = || self.path.file_stem().map(|s| s.to_string_lossy().into());
        told.filter(|name| !name.is_empty())
            .or_else(stem)
            .unwrap_or_else(|| "program".into())
    }

    /// Name of the trace file, without folders.
    pub fn file_name(&self) -> String {
        let name = self.path.file_name();
        name.map_or_else(String::new, |name| name.to_string_lossy().into())
    }

    /// What is being done.
    pub fn stage(&self) -> Stage {
        match self.stage.lock() {
            Ok(stage) => stage.clone(),
            Err(poisoned) => poisoned.into_inner().clone(),
        }
    }

    fn not_yet(&self) -> Failure {
        match self.failed.get() {
            Some(why) => Failure::new(500, why.clone()),
            None => Failure::loading(format!("The run is still loading: {}.", self.stage().name)),
        }
    }
}
