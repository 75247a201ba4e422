//! The runs that are looked at.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use workspan_analysis::{Options, report, stolen_strands, strand_facts_and_sites};
use workspan_dag::{Dag, OpenOptions};

use crate::failure::Failure;
use crate::run::{Codes, Facts, Picture, Rest, Rows, Run, Sites, Stage};
use crate::timeline;

/// Runs that one session can hold: their ids are single letters.
pub const MOST_RUNS: usize = 26;

/// How runs are read and measured.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// How to open the traces.
    pub opening: OpenOptions,
    /// How to measure.
    pub measured: Options,
    /// Folders whose files may be shown where a trace names them, besides the folder the trace was recorded in.
    pub source_dirs: Vec<PathBuf>,
}

/// One or more runs, and how they are looked at.
#[derive(Debug)]
pub struct Session {
    /// The runs; the first is `"a"`.
    pub runs: Vec<Run>,
    /// As given.
    pub settings: Settings,
    /// Who answers.
    pub mode: Mode,
}

/// Who answers: a server everything, a report what it carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The server.
    Server,
    /// A single-file report.
    Report {
        /// The finest tile level it carries for the whole run.
        finest_level: u32,
    },
}

impl Session {
    /// Of the traces at `paths`; nothing is read but their sizes. [`Session::load`] does the rest.
    ///
    /// # Errors
    /// There is no path, or there are more than [`MOST_RUNS`], or one is no file.
    pub fn new(paths: &[PathBuf], settings: Settings) -> Result<Session, Failure> {
        if paths.is_empty() || paths.len() > MOST_RUNS {
            return Err(Failure::wrong(format!(
                "{} traces were given; between 1 and {MOST_RUNS} can be looked at together.",
                paths.len()
            )));
        }
        let run = |(letter, path): (char, &PathBuf)| {
            let size = std::fs::metadata(path).map(|m| m.len());
            Ok(Run {
                id: letter.to_string(),
                path: path.clone(),
                bytes: size.map_err(|e| Failure::absent(format!("{}: {e}", path.display())))?,
                stage: Mutex::new(Stage::default()),
                failed: OnceLock::new(),
                picture: OnceLock::new(),
                timeline: OnceLock::new(),
                tree: OnceLock::new(),
                rest: OnceLock::new(),
            })
        };
        let runs = ('a'..='z').zip(paths).map(run);
        Ok(Session {
            runs: runs.collect::<Result<_, Failure>>()?,
            settings,
            mode: Mode::Server,
        })
    }

    /// Of a run that was read already, called `path`, loaded.
    ///
    /// # Errors
    /// It can't be measured.
    pub fn of_dag(path: PathBuf, dag: Dag, settings: Settings) -> Result<Session, Failure> {
        let session = Session {
            runs: vec![Run {
                id: "a".to_owned(),
                path,
                bytes: 0,
                stage: Mutex::new(Stage::default()),
                failed: OnceLock::new(),
                picture: OnceLock::new(),
                timeline: OnceLock::new(),
                tree: OnceLock::new(),
                rest: OnceLock::new(),
            }],
            settings,
            mode: Mode::Server,
        };
        let measured = session.measure(&session.runs[0], dag, |_, _| {});
        measured.map_err(|why| Failure::new(500, why))?;
        Ok(session)
    }

    /// The run called `id`.
    ///
    /// # Errors
    /// There is none.
    pub fn run(&self, id: &str) -> Result<&Run, Failure> {
        let found = self.runs.iter().find(|run| run.id == id);
        found.ok_or_else(|| Failure::absent("There is no such run here."))
    }

    /// Loads all runs, one after the other, on this thread. What goes wrong is kept and answered to whoever asks for the run.
    pub fn load(&self) {
        for run in &self.runs {
            if let Err(why) = self.load_run(run) {
                let _ = run.failed.set(why);
            }
        }
    }

    fn load_run(&self, run: &Run) -> Result<(), String> {
        let at = |done, name| {
            let of = 5;
            if let Ok(mut stage) = run.stage.lock() {
                *stage = Stage { name, done, of };
            }
        };
        at(0, "reading the trace");
        let dag = open(&run.path, &self.settings.opening)?;
        self.measure(run, dag, at)
    }

    /// All stages but the reading; `at` hears which has begun.
    fn measure(&self, run: &Run, dag: Dag, at: impl Fn(u32, &'static str)) -> Result<(), String> {
        at(1, "measuring the strands");
        let picture = picture(dag, &self.settings.measured).map_err(|e| e.to_string())?;
        at(2, "drawing the timeline");
        let index = timeline::Index::new(&picture);
        let dag = picture.dag.clone();
        let _ = run.picture.set(picture);
        let _ = run.timeline.set(index);
        at(3, "making the report");
        let report = report(&dag, &self.settings.measured).map_err(|e| e.to_string())?;
        let _ = run.rest.set(Rest::new(report));
        at(5, "done");
        Ok(())
    }
}

fn open(path: &Path, opening: &OpenOptions) -> Result<Dag, String> {
    workspan_dag::open(path, opening).map_err(|e| e.to_string())
}

/// The first stage of a run.
///
/// # Errors
/// As [`strand_facts_and_sites`].
pub fn picture(dag: Dag, measured: &Options) -> Result<Picture, workspan_analysis::Error> {
    let (facts, sites) = strand_facts_and_sites(&dag, measured)?;
    let facts = Facts::new(facts);
    let begin = dag.strands.start.first().copied().unwrap_or(0);
    let end = dag.strands.end.iter().copied().max().unwrap_or(begin);
    let sites = sites.iter().map(|row| row.site).collect();
    Ok(Picture {
        rows: Rows::new(&dag),
        sites: Sites::new(sites, dag.places.len()),
        steals: stolen_strands(&dag).len() as u64,
        codes: Codes::new(&dag, |s| facts.weight(s)),
        facts,
        begin,
        end,
        measured: measured.clone(),
        dag: Arc::new(dag),
    })
}
