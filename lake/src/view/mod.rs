//! `workspan lake view`: writes a page with a table of the runs, their trends, and how to open
//! them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::json;

use crate::command::{Outcome, runtime};
use crate::engine::Engine;
use crate::history::series::{Selection, rows};
use crate::print::Value;
use crate::root::Root;
use crate::say;
use crate::sql::MEMORY;

/// Writes a page with the runs of a lake
#[derive(Debug, Clone, clap::Args)]
#[command(
    long_about = "Writes a page with the runs of a lake: a table that is filtered by words of tags, commit, host and project, the trend of \
elapsed time, work, span, parallelism or loss, and the commands that open a run or compare two.

It is one file that needs no server and no network. It has the runs as they are now.",
    after_help = "\
Examples:
  workspan lake view ~/lake -o lake.html
  workspan lake view s3://perf/lake --project sort --same branch=main --last 500"
)]
pub struct ViewArgs {
    /// The lake
    #[arg(value_name = "ROOT")]
    root: String,
    /// Which runs
    #[command(flatten)]
    selection: Selection,
    /// Most runs: the latest
    #[arg(long, value_name = "N", default_value_t = 5000)]
    last: usize,
    /// The page; only a page of this kind is replaced
    #[arg(long, short, value_name = "FILE", default_value = "lake.html")]
    output: PathBuf,
}

const PAGE: &str = include_str!("page.html");
/// The text in the page that is replaced by the runs.
const DATA: &str = "/*DATA*/";

/// Runs `workspan lake view`.
///
/// # Errors
/// The lake does not exist, no run is selected, or the page cannot be written.
pub fn run(args: &ViewArgs) -> anyhow::Result<Outcome> {
    must_be_ours(&args.output)?;
    let root = Root::open(&args.root)?;
    let (runs, outcome) = runtime()?.block_on(async {
        let mut engine = Engine::open(root, MEMORY).await?;
        let runs = selected(&mut engine, args).await?;
        let mut outcome = Outcome::Done;
        for damage in engine.left_out() {
            outcome = Outcome::Failed;
            say!("{}: {}; its rows are left out", damage.file, damage.why);
        }
        anyhow::Ok((runs, outcome))
    })?;
    if runs.is_empty() {
        bail!("no run of {} matches", args.root);
    }
    let data = json!({"root": args.root, "runs": runs}).to_string();
    // No text of a run may end the script.
    let page = PAGE.replacen(DATA, &data.replace('<', "\\u003c"), 1);
    std::fs::write(&args.output, page).with_context(|| args.output.display().to_string())?;
    say!("{}: {} runs", args.output.display(), runs.len());
    Ok(outcome)
}

/// Fails if the file is not a page of this kind, so that it is not overwritten.
fn must_be_ours(path: &Path) -> anyhow::Result<()> {
    let start = PAGE.split("<style>").next().unwrap_or(PAGE);
    match std::fs::read(path) {
        Ok(there) if !there.is_empty() && !there.starts_with(start.as_bytes()) => bail!(
            "{}: exists and is not the page of a lake; choose another name with -o, or remove it",
            path.display()
        ),
        _ => Ok(()),
    }
}

/// The selected runs, the oldest first.
async fn selected(engine: &mut Engine, args: &ViewArgs) -> anyhow::Result<Vec<serde_json::Value>> {
    const NAMES: [&str; 14] = [
        "run",
        "day",
        "project",
        "name",
        "commit",
        "branch",
        "host",
        "workers",
        "elapsed",
        "work",
        "span",
        "parallelism",
        "file",
        "lost",
    ];
    let condition = args.selection.condition();
    let columns = NAMES[..13].iter().map(|name| format!("r.\"{name}\""));
    let columns = columns.collect::<Vec<_>>().join(", ");
    let chosen = format!(
        "SELECT {columns}, 100.0 * r.lost / nullif(r.workers * r.elapsed, 0) AS lost FROM runs r WHERE {condition}
ORDER BY coalesce(r.recorded_at, 0) DESC, r.run LIMIT {}",
        args.last
    );
    let mut of_runs = rows(engine, &chosen).await?;
    of_runs.reverse();
    let mut tags: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in rows(engine, "SELECT run, key, value FROM tags ORDER BY run, key").await? {
        let tag = format!("{}={}", row[1].plain(), row[2].plain());
        tags.entry(row[0].plain()).or_default().push(tag);
    }
    let most = "SELECT run, cause FROM (SELECT run, cause, row_number() OVER (PARTITION BY run ORDER BY lost DESC, cause) AS n
  FROM causes WHERE lost > 0) WHERE n = 1";
    let causes = rows(engine, most).await?;
    let causes: BTreeMap<String, Value> = causes
        .into_iter()
        .map(|row| (row[0].plain(), row[1].clone()))
        .collect();
    let runs = of_runs.iter().map(|row| {
        let run = row[0].plain();
        let values = NAMES
            .iter()
            .zip(row)
            .map(|(name, value)| ((*name).to_owned(), value.json()));
        let mut made: serde_json::Map<String, serde_json::Value> = values.collect();
        made.insert(
            "tags".to_owned(),
            json!(tags.get(&run).cloned().unwrap_or_default()),
        );
        made.insert(
            "cause".to_owned(),
            causes.get(&run).map_or(json!(null), Value::json),
        );
        serde_json::Value::Object(made)
    });
    Ok(runs.collect())
}
