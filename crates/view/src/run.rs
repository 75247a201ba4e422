//! A recorded run and the results computed from it, in stages.

pub mod codes;
pub(crate) mod parts;
pub mod rows;
pub mod sites;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use workspan_analysis::statistics::{Statistics, statistics};
use workspan_analysis::{Error, Options, Report, StrandFacts, path_weight};
use workspan_dag::{Dag, EdgeKind, StrandId, TaskSizes, memory};
use workspan_reader::recorded::expand::Expander;

use crate::api_error::ApiError;
use crate::overview::Overview;
use crate::{dag_view, timeline};
pub use codes::Codes;
pub use rows::Rows;
pub use sites::Sites;

/// The first stage, enough for the timeline: a run, what was measured of each strand, and its
/// tables of names.
#[derive(Debug)]
pub struct RunModel {
    /// The run.
    pub dag: Arc<Dag>,
    /// The options it was measured with.
    pub options: Options,
    /// The weight, off-CPU time and ready time of every strand.
    pub facts: StrandFacts,
    /// First start of any strand, in absolute ticks. Times in requests and answers count from here.
    pub begin: u64,
    /// Last end of any strand, in absolute ticks.
    pub end: u64,
    /// The threads as rows of the timeline.
    pub rows: Rows,
    /// Spawn sites in the order of `RunMeta.sites`.
    pub sites: Sites,
    /// Number of steals, counted as in MODEL.md §5.
    pub steals: u64,
    /// The sizes that tasks told.
    pub sizes: TaskSizes,
    /// The codes, in the order of `RunMeta.codes`, and the code of each strand.
    pub codes: Codes,
}

impl RunModel {
    /// Ticks from first start to last end.
    pub fn elapsed(&self) -> u64 {
        self.end - self.begin
    }

    /// Weight (MODEL.md §2) of strand `s`.
    pub fn weight(&self, s: StrandId) -> u64 {
        self.facts.weight.get(s as usize)
    }

    /// What strand `s` adds to a path through it: its weight, or the span of a folded subtree.
    pub fn path_weight(&self, s: StrandId) -> u64 {
        let weight = path_weight(&self.dag, s, self.weight(s), 0);
        u64::try_from(weight).unwrap_or(u64::MAX)
    }

    /// Ticks for which strand `s` was off the CPU.
    pub fn off(&self, s: StrandId) -> u64 {
        let (facts, i) = (&self.facts, s as usize);
        facts.descheduled.get(i) + facts.blocked.get(i)
    }

    /// Whether strand `s` is on the critical path (MODEL.md §3).
    pub fn critical(&self, s: StrandId) -> bool {
        self.facts.critical.has(s)
    }

    /// When strand `s` became ready (in absolute ticks), and by which edge; `None` if it started at
    /// once.
    pub fn ready(&self, s: StrandId) -> Option<(u64, EdgeKind)> {
        self.facts.ready.of(&self.dag, s)
    }

    /// The level at which one tile contains the whole run, including its last moment.
    pub fn top_level(&self) -> u32 {
        top_level(self.elapsed())
    }
}

/// The level at which one tile contains `elapsed` ticks.
pub(crate) fn top_level(elapsed: u64) -> u32 {
    let bins = elapsed / timeline::TILE_BINS + 1;
    bins.next_power_of_two().trailing_zeros()
}

/// The second stage: the results that need all analyses.
#[derive(Debug)]
pub struct RunAnalyses {
    /// The report.
    pub report: Report,
    /// The run that the report is of, if that is not the model's: for a part, the same strands
    /// and tasks with the part's own clock.
    section: Option<Dag>,
    statistics: OnceLock<Result<Statistics, Error>>,
    /// Cached answers that take long to compute.
    pub(crate) json: OnceLock<String>,
    pub(crate) sites: OnceLock<Vec<u8>>,
}

impl RunAnalyses {
    /// Stores `report`, which is of `section` if that is given, and otherwise of the run.
    pub fn new(report: Report, section: Option<Dag>) -> RunAnalyses {
        RunAnalyses {
            report,
            section,
            statistics: OnceLock::new(),
            json: OnceLock::new(),
            sites: OnceLock::new(),
        }
    }

    /// The run that the report is of.
    pub fn dag<'a>(&'a self, model: &'a RunModel) -> &'a Dag {
        self.section.as_ref().unwrap_or(&model.dag)
    }

    /// The statistics, computed at the first call.
    ///
    /// # Errors
    /// The same as those of [`statistics`].
    pub fn statistics(&self, model: &RunModel) -> Result<&Statistics, &Error> {
        let made = self.statistics.get_or_init(|| {
            let made = statistics(self.dag(model), &model.options);
            // The result is small; the memory used to compute it is not.
            memory::give_back();
            made
        });
        made.as_ref()
    }
}

/// The progress of a run's loading.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stage {
    /// What is being done, in words for users.
    pub name: &'static str,
    /// Number of completed stages.
    pub done: u32,
    /// Number of all stages.
    pub of: u32,
    /// A page stopped the loading.
    pub stopped: bool,
}

impl Stage {
    /// Number of stages: previewing, reading, measuring, drawing, reporting.
    pub const OF: u32 = 5;

    /// The state after loading was stopped.
    pub const STOPPED: Stage = Stage {
        name: "stopped",
        done: 0,
        of: Stage::OF,
        stopped: true,
    };

    /// The state after `done` stages; `name` says what is being done now.
    pub fn new(done: u32, name: &'static str) -> Stage {
        Stage {
            name,
            done,
            of: Stage::OF,
            stopped: false,
        }
    }
}

/// One run of a [`crate::Session`]: `"a"`, `"b"`, …
#[derive(Debug)]
pub struct Run {
    /// The run's id in requests.
    pub id: String,
    /// The path of its trace file.
    pub path: PathBuf,
    /// Size of the file in bytes.
    pub bytes: u64,
    pub(crate) stage: Mutex<Stage>,
    pub(crate) failed: OnceLock<String>,
    /// The preview, from a first pass over the trace until the run is read.
    overview: Mutex<Option<Arc<Overview>>>,
    pub(crate) model: OnceLock<RunModel>,
    pub(crate) timeline: OnceLock<timeline::Index>,
    pub(crate) tree: OnceLock<dag_view::Index>,
    pub(crate) analyses: OnceLock<RunAnalyses>,
    /// The expander of the trace, if any strand of the run stands for a subtree that was folded
    /// while the trace was read.
    pub(crate) records: OnceLock<Option<Expander>>,
    /// Cached expansions of folded strands.
    pub(crate) opened: crate::inside::tree::OpenTrees,
    /// Parts of the run that can be opened as runs of their own.
    parts: OnceLock<Vec<parts::Part>>,
}

impl Run {
    /// A run that is not loaded.
    pub(crate) fn new(id: String, path: PathBuf, bytes: u64) -> Run {
        Run {
            id,
            path,
            bytes,
            stage: Mutex::new(Stage::default()),
            failed: OnceLock::new(),
            overview: Mutex::new(None),
            model: OnceLock::new(),
            timeline: OnceLock::new(),
            tree: OnceLock::new(),
            analyses: OnceLock::new(),
            records: OnceLock::new(),
            opened: Default::default(),
            parts: OnceLock::new(),
        }
    }

    /// Parts of the run that can be opened as runs of their own.
    ///
    /// # Errors
    /// The same as those of [`Run::model`].
    pub(crate) fn parts(&self) -> Result<&[parts::Part], ApiError> {
        let model = self.model()?;
        Ok(self.parts.get_or_init(|| parts::parts(self, model)))
    }

    /// Whether this is a part of another run. Its model lacks what the workers did outside the
    /// part.
    pub(crate) fn is_part(&self) -> bool {
        self.id.contains('~')
    }

    /// Whether the run is loaded, or can't be loaded.
    pub(crate) fn is_settled(&self) -> bool {
        self.analyses.get().is_some() || self.failed.get().is_some()
    }

    /// Records the progress of loading.
    pub(crate) fn reach(&self, stage: Stage) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
    }

    /// The preview, until the first stage is loaded.
    pub(crate) fn overview(&self) -> Option<Arc<Overview>> {
        let overview = self.overview.lock();
        overview.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_overview(&self, overview: Option<Overview>) {
        let mut slot = self.overview.lock().unwrap_or_else(PoisonError::into_inner);
        *slot = overview.map(Arc::new);
    }

    /// The first stage.
    ///
    /// # Errors
    /// The run is still loading, or the trace can't be read.
    pub fn model(&self) -> Result<&RunModel, ApiError> {
        self.model.get().ok_or_else(|| self.not_yet())
    }

    /// The data that tiles are made from.
    ///
    /// # Errors
    /// The same as those of [`Run::model`].
    pub(crate) fn timeline(&self) -> Result<&timeline::Index, ApiError> {
        self.timeline.get().ok_or_else(|| self.not_yet())
    }

    /// The data that the DAG's nodes and the details are made from; built at the first call.
    ///
    /// # Errors
    /// The same as those of [`Run::model`].
    pub(crate) fn tree(&self) -> Result<&dag_view::Index, ApiError> {
        let model = self.model()?;
        Ok(self.tree.get_or_init(|| dag_view::Index::new(model)))
    }

    /// Bytes of the results that were computed for single requests about the DAG and are cached.
    /// The number is bounded, whatever pages request.
    pub fn kept(&self) -> usize {
        self.opened.bytes() + self.tree.get().map_or(0, dag_view::Index::kept)
    }

    /// The second stage.
    ///
    /// # Errors
    /// The same as those of [`Run::model`].
    pub fn analyses(&self) -> Result<&RunAnalyses, ApiError> {
        self.analyses.get().ok_or_else(|| self.not_yet())
    }

    /// Short name of the program, or of the file if the program has none.
    pub fn name(&self) -> String {
        let read = self.model.get().map(|p| p.dag.meta.name.clone());
        let told = read.or_else(|| self.overview().map(|o| o.meta().name.clone()));
        let told = told.flatten();
        let stem = || self.path.file_stem().map(|s| s.to_string_lossy().into());
        told.filter(|name| !name.is_empty())
            .or_else(stem)
            .unwrap_or_else(|| "program".into())
    }

    /// Name of the trace file, without its folder.
    pub fn file_name(&self) -> String {
        let name = self.path.file_name();
        name.map_or_else(String::new, |name| name.to_string_lossy().into())
    }

    /// The progress of loading.
    pub fn stage(&self) -> Stage {
        let stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        stage.clone()
    }

    fn not_yet(&self) -> ApiError {
        match self.failed.get() {
            Some(why) => ApiError::new(500, why.clone()),
            None if self.stage().stopped => ApiError::loading("Loading the run was stopped."),
            None => ApiError::loading(format!("The run is still loading: {}.", self.stage().name)),
        }
    }
}
