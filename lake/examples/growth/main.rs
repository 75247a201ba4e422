//! How long queries take and how much memory they use in lakes of 10^6 rows and more.
//!
//! `cargo run --release --features cluster --example growth -- FOLDER MOST_ROWS RUN.wspan…` makes
//! lakes in `FOLDER` from recorded runs, which are repeated under other names, commits and hosts.
//! It sends queries to each lake and prints a table in Markdown. An existing lake is used as it is.
//! With the folder of Ballista's programs in `WORKSPAN_BALLISTA`, it also measures clusters of one
//! and two executors. Each executor has one CPU and as much memory as this process.

mod ballista;
mod grown;

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ballista::Cluster;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The queries: over a table with one row per run, one per site, and one per strand.
const QUERIES: [(&str, &str); 4] = [
    ("`commits`", "commits"),
    ("`slowest-sites`", "slowest-sites"),
    (
        "work by level",
        "select level, count(*) as strands, sum(time) as time from strands group by level order by level",
    ),
    ("`ready-times`", "ready-times"),
];
/// Memory for each query.
const MEMORY: &str = "1GB";

fn main() -> Result<()> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let [folder, most, traces @ ..] = &given[..] else {
        return Err("usage: growth FOLDER MOST_ROWS RUN.wspan...".into());
    };
    let most: f64 = most.parse()?;
    let folder = Path::new(folder);
    let few = folder.join("recorded");
    if !few.exists() {
        let mut add = Command::new(program()?);
        add.args(["add", "--detail", "--project", "growth"]);
        add.args(["--tag", "commit=c", "--into"]).arg(&few);
        if !add.args(traces).status()?.success() {
            return Err("the runs could not be added".into());
        }
    }
    let recorded = asked(
        &few,
        "select count(*), count(distinct run) from strands",
        None,
    )?;
    let recorded = recorded.lines[0]
        .split_once(',')
        .ok_or("no count of strands")?;
    let per_run = recorded.0.parse::<f64>()? / recorded.1.parse::<f64>()?;
    println!(
        "| strands | runs | size on disk | query | time | memory | one executor | memory | two executors | memory of each |\n\
         |---|---|---|---|---|---|---|---|---|---|"
    );
    let mut rows = 1e6;
    while rows <= most {
        let lake = folder.join(format!("rows-{rows:.0}"));
        let runs = (rows / per_run).ceil() as usize;
        if !lake.exists() {
            let begun = Instant::now();
            grown::grow(&few, &lake, runs)?;
            eprintln!("{}: made in {:.0?}", lake.display(), begun.elapsed());
        }
        let size = format!(
            "{:.2e} | {runs} | {:.0} MB",
            per_run * runs as f64,
            bytes(&lake)? as f64 / 1e6
        );
        measure(&lake, &size)?;
        rows *= 10.0;
    }
    Ok(())
}

/// Runs all queries here, on one executor and on two, and prints a line for each query.
fn measure(lake: &Path, size: &str) -> Result<()> {
    let mut answers: Vec<Vec<Answer>> = Vec::new();
    for executors in 0..=2 {
        let cluster = match executors {
            0 => None,
            _ => Cluster::start(executors, MEMORY)?,
        };
        if executors > 0 && cluster.is_none() {
            continue;
        }
        let of_cluster = QUERIES.iter().map(|(name, query)| {
            let answer = asked(lake, query, cluster.as_ref())?;
            eprintln!("{name}, {executors} executors: {:.2?}", answer.took);
            Ok(answer)
        });
        answers.push(of_cluster.collect::<Result<_>>()?);
    }
    for (i, (name, _)) in QUERIES.iter().enumerate() {
        let mut line = format!("| {size} | {name} |");
        for of_cluster in &answers {
            let (own, answer) = (&answers[0][i], &of_cluster[i]);
            // The last digits of means depend on the order in which an engine adds.
            let same = own.lines == answer.lines || *name == "`commits`";
            if !same || own.lines.len() != answer.lines.len() {
                return Err(format!("{name}: the answers differ").into());
            }
            let (took, memory) = (answer.took.as_secs_f64(), answer.peak as f64 / 1e3);
            line.push_str(&format!(" {took:.2} s | {memory:.0} MB |"));
        }
        for _ in answers.len()..3 {
            line.push_str(" | |");
        }
        println!("{line}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// The path of `workspan-lake` from the same build.
fn program() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let folder = own.parent().and_then(Path::parent);
    Ok(folder.ok_or("no folder of programs")?.join("workspan-lake"))
}

/// The result of a query.
struct Answer {
    /// The rows as text, sorted.
    lines: Vec<String>,
    took: Duration,
    /// The peak memory in kB: of the process, or of the executor that used more.
    peak: u64,
}

fn asked(lake: &Path, query: &str, cluster: Option<&Cluster>) -> Result<Answer> {
    let mut command = Command::new(program()?);
    command.arg("sql").arg(lake).args(["--format", "csv"]);
    match cluster {
        Some(cluster) => command.args(["--cluster", &cluster.address()]),
        None => command.args(["--memory", MEMORY]),
    };
    if query.contains(' ') {
        command.arg(query);
    } else {
        command.args(["--query", query]);
    }
    let out = lake.with_extension("csv");
    let begun = Instant::now();
    let mut child = command
        .stdout(fs::File::create(&out)?)
        .stderr(Stdio::inherit())
        .spawn()?;
    let mut peak = 0;
    let code = loop {
        let executors = cluster.map(Cluster::executors);
        for process in executors.unwrap_or_else(|| vec![child.id()]) {
            peak = peak.max(memory(process));
        }
        if let Some(code) = child.try_wait()? {
            break code;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    if !code.success() {
        return Err(format!("{query}: the query failed").into());
    }
    let took = begun.elapsed();
    let text = fs::read_to_string(&out)?;
    let mut lines: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
    lines.sort();
    Ok(Answer { lines, took, peak })
}

/// The peak memory of a process, in kB.
fn memory(process: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kb = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kb.unwrap_or(0)
}

/// All files below a folder, sorted.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn bytes(folder: &Path) -> Result<u64> {
    let lengths = files(folder)?
        .into_iter()
        .map(|file| Ok(file.metadata()?.len()));
    lengths.sum()
}
