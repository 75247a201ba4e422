//! A recorded run and what is known of it, in stages.

pub mod codes;
pub(crate) mod parts;
pub mod rows;
pub mod sites;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use workspan_analysis::statistics::{Statistics, statistics};
use workspan_analysis::{Error, Options, Report, StrandFacts};
use workspan_dag::{Dag, EdgeKind, StrandId, memory};
use workspan_reader::recorded::expand::Expander;

use crate::api_error::ApiError;
use crate::overview::Overview;
use crate::{dag_view, timeline};
pub use codes::Codes;
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
    pub facts: StrandFacts,
    /// First start and last end of any strand, absolute ticks. Requests and answers count from
    /// `begin`.
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

    /// Weight (MODEL.md §2) of strand `s`.
    pub fn weight(&self, s: StrandId) -> u64 {
        self.facts.weight.get(s as usize)
    }

    /// Ticks that strand `s` was off the CPU inside.
    pub fn off(&self, s: StrandId) -> u64 {
        let (facts, i) = (&self.facts, s as usize);
        facts.descheduled.get(i) + facts.blocked.get(i)
    }

    /// Strand `s` lies on the critical path (MODEL.md §3).
    pub fn critical(&self, s: StrandId) -> bool {
        self.facts.critical.has(s)
    }

    /// When strand `s` was ready (absolute) and by which edge; `None` when it started the moment it
    /// was.
    pub fn ready(&self, s: StrandId) -> Option<(u64, EdgeKind)> {
        self.facts.ready.of(&self.dag, s)
    }

    /// Level at which one tile holds the whole run, its last moment included.
    pub fn top_level(&self) -> u32 {
        top_level(self.elapsed())
    }
}

/// Level at which one tile holds so many ticks.
pub(crate) fn top_level(elapsed: u64) -> u32 {
    let bins = elapsed / timeline::TILE_BINS + 1;
    bins.next_power_of_two().trailing_zeros()
}

/// The second stage: what needs all of the analyses.
#[derive(Debug)]
pub struct Rest {
    /// The report.
    pub report: Report,
    /// What the report is of, where that is not the picture's run: of a part, the same strands and
    /// tasks by the part's own clock.
    section: Option<Dag>,
    statistics: OnceLock<Result<Statistics, Error>>,
    /// Answers that take long to make.
    pub(crate) json: OnceLock<String>,
    pub(crate) sites: OnceLock<Vec<u8>>,
}

impl Rest {
    /// Of `report`, which is of the run, or of `section` where that is given.
    pub fn new(report: Report, section: Option<Dag>) -> Rest {
        Rest {
            report,
            section,
            statistics: OnceLock::new(),
            json: OnceLock::new(),
            sites: OnceLock::new(),
        }
    }

    /// The run that the report is of.
    pub fn dag<'a>(&'a self, picture: &'a Picture) -> &'a Dag {
        self.section.as_ref().unwrap_or(&picture.dag)
    }

    /// The statistics, made when first asked for.
    ///
    /// # Errors
    /// As [`statistics`].
    pub fn statistics(&self, picture: &Picture) -> Result<&Statistics, &Error> {
        let made = self.statistics.get_or_init(|| {
            let made = statistics(self.dag(picture), &picture.measured);
            // They are small; what they took is not.
            memory::give_back();
            made
        });
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
    /// Loading ended because a page asked for it.
    pub stopped: bool,
}

impl Stage {
    /// Stages there are: looking over, reading, measuring, drawing, reporting.
    pub const OF: u32 = 5;

    /// Loading was stopped.
    pub const STOPPED: Stage = Stage {
        name: "stopped",
        done: 0,
        of: Stage::OF,
        stopped: true,
    };

    /// After `done` stages; `name` says what is done now.
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
    /// Its id in requests.
    pub id: String,
    /// Its trace file.
    pub path: PathBuf,
    /// Size of the file in bytes.
    pub bytes: u64,
    pub(crate) stage: Mutex<Stage>,
    pub(crate) failed: OnceLock<String>,
    /// What ran when, from a first look at the trace until the run is read.
    overview: Mutex<Option<Arc<Overview>>>,
    pub(crate) picture: OnceLock<Picture>,
    pub(crate) timeline: OnceLock<timeline::Index>,
    pub(crate) tree: OnceLock<dag_view::Index>,
    pub(crate) rest: OnceLock<Rest>,
    /// The trace, where strands of the run stand for subtrees of it that were folded while it was
    /// read.
    pub(crate) records: OnceLock<Option<Expander>>,
    /// Folded strands that were opened.
    pub(crate) opened: crate::inside::tree::Open,
    /// Parts of it that can be looked at alone.
    parts: OnceLock<Vec<parts::Part>>,
}

impl Run {
    /// A run that nothing is known of.
    pub(crate) fn new(id: String, path: PathBuf, bytes: u64) -> Run {
        Run {
            id,
            path,
            bytes,
            stage: Mutex::new(Stage::default()),
            failed: OnceLock::new(),
            overview: Mutex::new(None),
            picture: OnceLock::new(),
            timeline: OnceLock::new(),
            tree: OnceLock::new(),
            rest: OnceLock::new(),
            records: OnceLock::new(),
            opened: Default::default(),
            parts: OnceLock::new(),
        }
    }

    /// Parts of it that can be looked at alone.
    ///
    /// # Errors
    /// As [`Run::picture`].
    pub(crate) fn parts(&self) -> Result<&[parts::Part], ApiError> {
        let picture = self.picture()?;
        Ok(self.parts.get_or_init(|| parts::parts(self, picture)))
    }

    /// It is a part of another run: what its workers did outside of the part is not in its picture.
    pub(crate) fn is_part(&self) -> bool {
        self.id.contains('~')
    }

    /// Loaded, or known not to be loadable.
    pub(crate) fn is_settled(&self) -> bool {
        self.rest.get().is_some() || self.failed.get().is_some()
    }

    /// Loading has got so far.
    pub(crate) fn reach(&self, stage: Stage) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
    }

    /// What ran when, until more is known.
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
    /// It is still loading, or the trace can't be read.
    pub fn picture(&self) -> Result<&Picture, ApiError> {
        self.picture.get().ok_or_else(|| self.not_yet())
    }

    /// What tiles are made from.
    ///
    /// # Errors
    /// As [`Run::picture`].
    pub(crate) fn timeline(&self) -> Result<&timeline::Index, ApiError> {
        self.timeline.get().ok_or_else(|| self.not_yet())
    }

    /// What the DAG's nodes and the details are made from; built when first asked for.
    ///
    /// # Errors
    /// As [`Run::picture`].
    pub(crate) fn tree(&self) -> Result<&dag_view::Index, ApiError> {
        let picture = self.picture()?;
        Ok(self.tree.get_or_init(|| dag_view::Index::new(picture)))
    }

    /// Bytes of what was made for single questions about the DAG and is kept for the next ones:
    /// bounded, whatever is asked.
    pub fn kept(&self) -> usize {
        self.opened.bytes() + self.tree.get().map_or(0, dag_view::Index::kept)
    }

    /// The second stage.
    ///
    /// # Errors
    /// As [`Run::picture`].
    pub fn rest(&self) -> Result<&Rest, ApiError> {
        self.rest.get().ok_or_else(|| self.not_yet())
    }

    /// Short name of the program, else of the file.
    pub fn name(&self) -> String {
        let read = self.picture.get().map(|p| p.dag.meta.name.clone());
        let told = read.or_else(|| self.overview().map(|o| o.meta().name.clone()));
        let told = told.flatten();
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
