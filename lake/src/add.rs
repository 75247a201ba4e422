//! `workspan lake add`: puts runs into a lake.
//!
//! Every trace is added independently, so any number of processes may add to one lake at the same
//! time. The files of a run's tables are written first, and the file of `runs` last. Each gets its
//! final name only when it is complete. If a process is killed, its files have no row in `runs`.
//! Nothing reads them, and the next `add` of the trace writes them again.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use object_store::{PutMode, PutPayload};
use workspan_analysis::Options;
use workspan_dag::Dag;
use workspan_reader::OpenOptions;
use workspan_reader::open::{Grain, Index};
use workspan_sql::Run;

use crate::batches::{NewRun, parquet};
use crate::command::{Outcome, runtime};
use crate::layout::{RUNS, RunName, RunPlace, day, project_name};
use crate::root::Root;
use crate::say;
use crate::tables::tables;

/// Adds runs to a lake
#[derive(Debug, Clone, clap::Args)]
#[command(
    long_about = "Adds runs to a lake: one Parquet file a run and table, at ROOT/v1/TABLE/project=…/day=…/RUN.parquet.

A run that is there already is left as it is. Any number of processes may add at the same time.",
    after_help = "\
Examples:
  workspan lake add run.wspan --into ~/lake --tag commit=$(git rev-parse HEAD) --tag branch=main
  workspan lake add runs/*.wspan --into s3://perf/lake --project sort
  workspan lake add run.wspan --into ~/lake --detail    # strands, tasks, samples too
  find . -name '*.wspan' -print0 | xargs -0 -P 8 -n 20 workspan lake add --into ~/lake"
)]
pub struct AddArgs {
    /// The traces of the runs
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The lake: a folder, s3://BUCKET/PREFIX, gs://… or az://…
    #[arg(long, value_name = "ROOT")]
    into: String,
    /// What is known of the runs, as commit=3f1c9a (repeatable)
    #[arg(long, value_name = "KEY=VALUE", value_parser = tag)]
    tag: Vec<(String, String)>,
    /// The project (default: the program's name)
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// Also the tables with a row a task, strand, edge or sample
    #[arg(long)]
    detail: bool,
    /// Read truncated or damaged traces up to the damage
    #[arg(long)]
    allow_truncated: bool,
    /// Say nothing of runs that were added
    #[arg(long, short)]
    quiet: bool,
}

/// Parses `KEY=VALUE`.
pub fn tag(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("expected KEY=VALUE, as branch=main".to_owned()),
    }
}

/// A table that runs with `--detail` have.
const STRANDS: &str = "strands";

/// The outcome of adding a trace.
enum AddOutcome {
    Added,
    /// The lake already has the run, in this project.
    Present(String),
    /// The run is in this project, but without the tables that `--detail` asks for.
    WithoutDetail(String),
}

/// Runs `workspan lake add`.
///
/// # Errors
/// The lake cannot be opened. If a trace cannot be added, this prints why and continues with the
/// others.
pub fn run(args: &AddArgs) -> anyhow::Result<Outcome> {
    let mut tags = args.tag.clone();
    tags.sort();
    if let Some(pair) = tags.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        bail!("--tag {}: is given twice", pair[0].0);
    }
    let root = Root::open(&args.into)?;
    let tokio = runtime()?;
    let mut outcome = Outcome::Done;
    for file in &args.files {
        match add(args, &root, &tokio, &tags, file) {
            Ok((place, AddOutcome::Added)) if !args.quiet => {
                say!(
                    "{}: added as run {} of project {}",
                    file.display(),
                    place.run,
                    place.project
                );
            }
            Ok((place, AddOutcome::Present(project))) if !args.quiet => say!(
                "{}: is in the lake already, as run {} of project {project}",
                file.display(),
                place.run
            ),
            Ok((place, AddOutcome::WithoutDetail(project))) => {
                let place = RunPlace { project, ..place };
                say!(
                    "{}: is in the lake already, as run {} of project {}, without the tables of --detail; \
                     delete {} and add it again to have them",
                    file.display(),
                    place.run,
                    place.project,
                    root.shown(&place.file(&root, RUNS))
                );
            }
            Ok(_) => {}
            Err(error) => {
                say!("{error:#}");
                outcome = Outcome::Failed;
            }
        }
    }
    Ok(outcome)
}

fn add(
    args: &AddArgs,
    root: &Root,
    tokio: &tokio::runtime::Runtime,
    tags: &[(String, String)],
    file: &Path,
) -> anyhow::Result<(RunPlace, AddOutcome)> {
    let name = || file.display().to_string();
    let run_name = RunName::of_trace(file).with_context(name)?;
    let dag = open(file, args)?;
    let project = args.project.as_deref().or(dag.meta.name.as_deref());
    let place = RunPlace {
        project: project_name(project.unwrap_or("_")),
        day: day(dag.meta.run.recorded_at),
        run: run_name,
    };
    if let Some(project) = tokio.block_on(project_of(root, &place))? {
        let there = RunPlace {
            project: project.clone(),
            ..place.clone()
        };
        let strands = there.file(root, STRANDS);
        let has_detail = !args.detail || tokio.block_on(root.has(&strands))?;
        let outcome = match has_detail {
            true => AddOutcome::Present(project),
            false => AddOutcome::WithoutDetail(project),
        };
        return Ok((place, outcome));
    }
    // The path is made absolute, so that the run is the same from whatever folder it is added.
    let path = file.canonicalize().with_context(name)?;
    let run = Run::new(0, path.display().to_string(), dag, &Options::default());
    let run = run.with_context(name)?;
    let added = NewRun {
        name: &place.run,
        run: &run,
        tags,
    };
    let mut tables = tables();
    tables.retain(|table| args.detail || !table.is_detail());
    // The file of `runs` comes last, so whoever sees the run's row sees all of its tables.
    tables.sort_by_key(|table| table.name == RUNS);
    for table in &tables {
        let bytes = parquet(table, &added).with_context(name)?;
        let path = place.file(root, table.name);
        let is_last = table.name == RUNS;
        let mode = if is_last {
            PutMode::Create
        } else {
            PutMode::Overwrite
        };
        let put = root
            .store
            .put_opts(&path, PutPayload::from(bytes), mode.into());
        match tokio.block_on(put) {
            // Another process added the same run meanwhile.
            Err(object_store::Error::AlreadyExists { .. }) if is_last => {
                return Ok((place.clone(), AddOutcome::Present(place.project)));
            }
            put => put.map_err(|error| root.failed(&path, &error))?,
        };
    }
    Ok((place, AddOutcome::Added))
}

fn open(file: &Path, args: &AddArgs) -> anyhow::Result<Dag> {
    let options = OpenOptions {
        allow_truncated: args.allow_truncated,
        grain: if args.detail {
            Grain::None
        } else {
            Grain::Auto
        },
        index: Index::None,
        ..OpenOptions::default()
    };
    workspan_reader::open(file, &options).map_err(|error| match error {
        // This error already contains the name of the file.
        workspan_dag::Error::File { .. } => anyhow::Error::new(error),
        error => anyhow::Error::new(error).context(file.display().to_string()),
    })
}

/// The project of the run in the lake.
async fn project_of(root: &Root, place: &RunPlace) -> anyhow::Result<Option<String>> {
    if root.has(&place.file(root, RUNS)).await? {
        return Ok(Some(place.project.clone()));
    }
    let runs = root.table(RUNS);
    let folders = root.store.list_with_delimiter(Some(&runs)).await;
    let folders = folders.map_err(|error| root.failed(&runs, &error))?;
    for folder in &folders.common_prefixes {
        let project = folder.filename().and_then(|f| f.strip_prefix("project="));
        let Some(project) = project.filter(|project| *project != place.project) else {
            continue;
        };
        let other = RunPlace {
            project: project.to_owned(),
            ..place.clone()
        };
        if root.has(&other.file(root, RUNS)).await? {
            return Ok(Some(other.project));
        }
    }
    Ok(None)
}
