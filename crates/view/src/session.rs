//! The runs that the page shows.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use workspan_analysis::{Options, report, stolen_strands, strand_facts_and_sites};
use workspan_dag::{Dag, TaskSizes, cancel, memory};
use workspan_reader::OpenOptions;

use crate::api_error::ApiError;
use crate::loading::Loading;
use crate::overview::Overview;
use crate::run::parts::has_room;
use crate::run::{Codes, Rows, Run, RunAnalyses, RunModel, Sites, Stage};
use crate::source_file::unite;
use crate::timeline;

/// Maximum number of runs in a session: their ids are single letters.
pub const MAX_RUNS: usize = 26;

/// How runs are read and measured.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The options for opening the traces.
    pub opening: OpenOptions,
    /// The options for measuring the runs.
    pub measured: Options,
    /// Folders whose source files may be shown if a trace names them, in addition to the folder
    /// that the trace was recorded in.
    pub source_dirs: Vec<PathBuf>,
    /// Minimum size in bytes of a recorded trace that gets a preview before it is read in full.
    /// Smaller traces can be read about as fast.
    pub overview_from: u64,
}

/// The size of a trace that takes about half a second to read, in bytes.
const OVERVIEW_FROM: u64 = 2 << 20;

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            opening: OpenOptions::default(),
            measured: Options::default(),
            source_dirs: Vec::new(),
            overview_from: OVERVIEW_FROM,
        }
    }
}

/// One or more runs, and the settings for them.
#[derive(Debug)]
pub struct Session {
    /// The runs; the first is `"a"`.
    pub runs: Vec<Run>,
    /// The settings given by the user.
    pub settings: Settings,
    /// What answers the requests.
    pub mode: Mode,
    /// The control of loading.
    pub(crate) loading: Loading,
}

/// What answers the requests: a server, which answers all, or a report, which has some answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The server.
    Server,
    /// A single-file report.
    Report {
        /// The finest tile level that the report contains for the whole run.
        finest_level: u32,
    },
}

impl Session {
    /// Creates a session of the traces at `paths`. Only their sizes are read; [`Session::load`]
    /// does the rest.
    ///
    /// # Errors
    /// There are no paths or more than [`MAX_RUNS`], or one of them is not a file.
    pub fn new(paths: &[PathBuf], settings: Settings) -> Result<Session, ApiError> {
        if paths.is_empty() || paths.len() > MAX_RUNS {
            return Err(ApiError::bad_request(format!(
                "{} traces were given; between 1 and {MAX_RUNS} can be looked at together.",
                paths.len()
            )));
        }
        let run = |(letter, path): (char, &PathBuf)| {
            let size = std::fs::metadata(path).map(|m| m.len());
            let size = size.map_err(|e| ApiError::not_found(format!("{}: {e}", path.display())))?;
            Ok(Run::new(letter.to_string(), path.clone(), size))
        };
        let runs = ('a'..='z').zip(paths).map(run);
        Ok(Session {
            runs: runs.collect::<Result<_, ApiError>>()?,
            settings,
            mode: Mode::Server,
            loading: Loading::default(),
        })
    }

    /// Creates a loaded session of a run that was read already; `path` gives its name.
    ///
    /// # Errors
    /// The run can't be measured.
    pub fn of_dag(path: PathBuf, dag: Dag, settings: Settings) -> Result<Session, ApiError> {
        let session = Session {
            runs: vec![Run::new("a".to_owned(), path, 0)],
            settings,
            mode: Mode::Server,
            loading: Loading::default(),
        };
        let measured = session.measure(&session.runs[0], dag, None);
        measured.map_err(|why| ApiError::new(500, why))?;
        Ok(session)
    }

    /// The size of all traces together.
    pub fn trace_bytes(&self) -> u64 {
        self.runs.iter().map(|run| run.bytes).sum()
    }

    /// The run with the given `id`.
    ///
    /// # Errors
    /// There is no such run.
    pub fn run(&self, id: &str) -> Result<&Run, ApiError> {
        if let Some((of, _)) = id.split_once('~') {
            return self.part(self.run(of)?, id);
        }
        let found = self.runs.iter().find(|run| run.id == id);
        found.ok_or_else(|| ApiError::not_found("There is no such run here."))
    }

    /// A part of a run, as a run. It is made at the first request.
    fn part<'a>(&'a self, of: &'a Run, id: &str) -> Result<&'a Run, ApiError> {
        let model = of.model()?;
        let all = of.parts()?;
        let part = all.iter().find(|part| part.run.id == id);
        let part = part.ok_or_else(|| ApiError::not_found("There is no such part of the run."))?;
        if part.made.get().is_none() && !has_room(all) {
            return Err(ApiError::bad_request(
                "The parts of this run that are open already take as much memory as they may.",
            )
            .remedy("Start `workspan view` anew."));
        }
        let made = part.made.get_or_init(|| {
            let (dag, tasks) = part.dag(model)?;
            self.measure(&part.run, dag, Some(part.section(model)?))?;
            Ok(tasks)
        });
        match made {
            Ok(_) => Ok(&part.run),
            Err(why) => Err(ApiError::new(500, why.clone())),
        }
    }

    /// The first run on one worker of the same program as `run`, according to the programs' names.
    /// Other runs are measured against it. Simulated runs are compared with simulated ones only, as
    /// the ratio of a model's time and a machine's time is not a speedup.
    ///
    /// # Errors
    /// A run is loading, or can't be read.
    pub(crate) fn serial_of(&self, run: &Run) -> Result<Option<&Run>, ApiError> {
        let own = &run.model()?.dag.meta;
        let name = &own.name;
        let mut found = None;
        for other in &self.runs {
            let meta = &other.model()?.dag.meta;
            let foreign = name.is_some() && meta.name.is_some() && *name != meta.name;
            let alike = is_simulated(meta) == is_simulated(own);
            if meta.workers == 1 && !foreign && alike && found.is_none() {
                found = Some(other);
            }
        }
        Ok(found)
    }

    /// Loads all runs, one after the other. After [`Session::stop`] it waits for [`Session::go`].
    /// Errors are stored, and returned by requests for the run.
    pub fn load(&self) {
        let stopped = || {
            for run in self.runs.iter().filter(|run| !run.is_settled()) {
                run.reach(Stage::STOPPED);
            }
            memory::give_back();
        };
        self.loading.until_done(|| self.load_wanted(), stopped);
    }

    /// Stops loading as soon as possible, and frees its memory. Loaded runs stay.
    pub fn stop(&self) {
        self.loading.want(false);
    }

    /// Whether loading was stopped before it was complete.
    pub(crate) fn is_stopped(&self) -> bool {
        self.loading.is_stopped()
    }

    /// Continues loading after [`Session::stop`].
    pub fn go(&self) {
        self.loading.want(true);
    }

    /// Makes previews of the traces that take long to read: enough for a picture of the timeline.
    pub fn look_over(&self) {
        let unseen = |run: &&Run| run.overview().is_none() && run.model.get().is_none();
        let long = |run: &&Run| run.bytes >= self.settings.overview_from && !run.is_settled();
        for run in self.runs.iter().filter(long).filter(unseen) {
            run.reach(Stage::new(0, "looking over the trace"));
            // If a trace has no preview because of an error, reading it reports the error.
            if let Ok(Some(preview)) = workspan_reader::preview(&run.path, &self.settings.opening) {
                run.set_overview(Some(Overview::new(preview)));
            }
        }
    }

    /// Loads the runs that are not loaded; unwinds if loading is stopped.
    fn load_wanted(&self) {
        // All previews come before the first run is read: they take a tenth of the time.
        self.look_over();
        for run in self.runs.iter().filter(|run| !run.is_settled()) {
            if let Err(why) = self.load_run(run) {
                let _ = run.failed.set(why);
            }
        }
    }

    fn load_run(&self, run: &Run) -> Result<(), String> {
        cancel::check();
        if let Some(model) = run.model.get() {
            return self.report(run, model.dag.clone(), None);
        }
        run.reach(Stage::new(1, "reading the trace"));
        let mut dag = open(&run.path, &self.settings.opening)?;
        unite(&mut dag, &self.settings.source_dirs);
        self.measure(run, dag, None)
    }

    /// Runs all stages after reading. The report is of `section`, if that is given.
    fn measure(&self, run: &Run, dag: Dag, section: Option<Dag>) -> Result<(), String> {
        cancel::check();
        run.reach(Stage::new(2, "measuring the strands"));
        let measured = &self.settings.measured;
        let mut model = model(dag, measured).map_err(|e| e.to_string())?;
        if let Some(section) = &section {
            // The part's sites are numbered as in its report.
            let (_, sites) =
                strand_facts_and_sites(section, measured).map_err(|e| e.to_string())?;
            let places = sites.iter().map(|row| row.site).collect();
            model.sites = Sites::new(places, section.places.len());
        }
        cancel::check();
        run.reach(Stage::new(3, "drawing the timeline"));
        let index = timeline::Index::new(&model);
        // A run whose loading was stopped meanwhile must not appear.
        cancel::check();
        let dag = model.dag.clone();
        // The model is set last, so that a run that has one also has its timeline.
        let _ = run.timeline.set(index);
        let _ = run.model.set(model);
        run.set_overview(None);
        self.report(run, dag, section)
    }

    /// Runs the last stage.
    fn report(&self, run: &Run, dag: Arc<Dag>, section: Option<Dag>) -> Result<(), String> {
        cancel::check();
        run.reach(Stage::new(4, "making the report"));
        let of = section.as_ref().unwrap_or(&dag);
        let report = report(of, &self.settings.measured).map_err(|e| e.to_string())?;
        let _ = run.analyses.set(RunAnalyses::new(report, section));
        // Frees the memory that reading and measuring took, as the run may be open for a long time.
        memory::give_back();
        run.reach(Stage::new(Stage::OF, "done"));
        Ok(())
    }
}

fn open(path: &Path, opening: &OpenOptions) -> Result<Dag, String> {
    workspan_reader::open(path, opening).map_err(|e| e.to_string())
}

/// Computes the first stage of a run.
///
/// # Errors
/// The same as those of [`strand_facts_and_sites`].
pub fn model(dag: Dag, measured: &Options) -> Result<RunModel, workspan_analysis::Error> {
    let (facts, sites) = strand_facts_and_sites(&dag, measured)?;
    let begin = dag.strands.start.first().copied().unwrap_or(0);
    let end = dag.strands.end.iter().copied().max().unwrap_or(begin);
    let sites = sites.iter().map(|row| row.site).collect();
    Ok(RunModel {
        rows: Rows::new(&dag),
        sites: Sites::new(sites, dag.places.len()),
        steals: stolen_strands(&dag).len() as u64,
        codes: Codes::new(&dag, |s| facts.weight.get(s as usize)),
        sizes: TaskSizes::new(&dag),
        facts,
        begin,
        end,
        options: measured.clone(),
        dag: Arc::new(dag),
    })
}

/// Whether the run's times were computed by `workspan simulate`, not measured.
pub(crate) fn is_simulated(meta: &workspan_dag::Meta) -> bool {
    let runtime = meta.runtime.as_deref();
    runtime.is_some_and(|runtime| runtime.starts_with("simulated"))
}
