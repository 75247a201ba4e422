//! `cargo xtask case-studies [NAME…]`: records the runs of docs/case-studies and draws their
//! pictures. Every command that readers can type is printed when it runs.

mod studies;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::ui;
use crate::workspace::{build_release, output, root, succeed, target, workspan};

use studies::STUDIES;

/// A page of docs/case-studies.
struct Study {
    name: &'static str,
    runs: &'static [Run],
    pictures: &'static [Picture],
}

/// A run to record, with two workers.
struct Run {
    /// The trace's name, without its ending.
    name: &'static str,
    built: SuiteBuild,
    /// The suite's arguments.
    words: &'static str,
}

/// How the suite is built.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SuiteBuild {
    /// With workspan.h, on one thread, to be simulated.
    WorkspanHeader,
    Libomp,
}

impl SuiteBuild {
    /// The program's name, its compiler, and flags that select the runtime.
    fn how(
        self,
    ) -> (
        &'static str,
        &'static [&'static str],
        &'static [&'static str],
    ) {
        const GCC: &[&str] = &["g++"];
        match self {
            SuiteBuild::WorkspanHeader => ("suite-told", GCC, &["-DTP_WORKSPAN"]),
            SuiteBuild::Libomp => (
                "suite-libomp",
                &["clang++", "clang++-19"],
                &["-DTP_OPENMP", "-fopenmp=libomp"],
            ),
        }
    }
}

/// A picture, named like its file without the ending. The part `shown` of a timeline is in percent
/// of the measured part.
enum Picture {
    /// The viewer's timeline of a run.
    Recorded {
        file: &'static str,
        run: &'static str,
        shown: [f64; 2],
    },
    /// The viewer's timeline of the run's measured part, simulated.
    Simulated {
        file: &'static str,
        run: &'static str,
        options: &'static str,
        shown: [f64; 2],
    },
    /// The division of workers × elapsed in each run, simulated on eight workers.
    Breakdown {
        file: &'static str,
        runs: &'static [&'static str],
    },
}

/// Maximum size of a picture in bytes.
const MAX_BYTES: u64 = 60_000;

/// Makes the pictures of the studies with these names, or of all.
///
/// # Errors
/// A name is unknown, a compiler or the browser is missing, a run fails, or a picture is too large.
pub fn run(names: &[&str]) -> Result<()> {
    let known: Vec<&str> = STUDIES.iter().map(|study| study.name).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(name)) {
        bail!("no case study `{unknown}`; there are {}", known.join(", "));
    }
    ui::build()?;
    let Some(browser) = ui::browser().or_else(ui::headless) else {
        bail!("there is no Chromium to take pictures with: apt-get install chromium");
    };
    build_release(true)?;
    let chosen: Vec<&Study> = STUDIES
        .iter()
        .filter(|study| names.is_empty() || names.contains(&study.name))
        .collect();
    let folder = target().join("case-studies");
    fs::create_dir_all(&folder)?;
    let runs = chosen.iter().flat_map(|study| study.runs);
    build(runs.map(|run| run.built).collect(), &folder)?;
    let pictures = root().join("docs/case-studies");
    let mut shots = Vec::new();
    for study in &chosen {
        println!("== {}", study.name);
        study.runs.iter().try_for_each(|run| record(run, &folder))?;
        for picture in study.pictures {
            shots.extend(draw(picture, &folder, &pictures)?);
        }
    }
    println!("== timelines");
    let list = folder.join("shots.json");
    fs::write(&list, serde_json::to_string_pretty(&shots)?)?;
    let mut node = Command::new("node");
    node.arg(root().join("ui/e2e/case-studies.mjs"))
        .current_dir(root().join("ui"))
        .env("WORKSPAN", target().join("release/workspan"))
        .env("SHOTS", &list)
        .env("CHROMIUM", browser);
    succeed(&mut node)?;
    let files = chosen.iter().flat_map(|study| study.pictures);
    files.map(Picture::file).try_for_each(|file| {
        let file = pictures.join(file);
        let bytes = fs::metadata(&file)
            .with_context(|| file.display().to_string())?
            .len();
        println!("{} ({bytes} bytes)", file.display());
        if bytes > MAX_BYTES {
            bail!("{}: more than {MAX_BYTES} bytes", file.display());
        }
        Ok(())
    })
}

impl Picture {
    /// The file name with its ending.
    fn file(&self) -> String {
        match self {
            Picture::Recorded { file, .. } | Picture::Simulated { file, .. } => {
                format!("{file}.png")
            }
            Picture::Breakdown { file, .. } => format!("{file}.svg"),
        }
    }
}

/// Builds the suite in `folder`, as described in docs/suite.md.
fn build(which: BTreeSet<SuiteBuild>, folder: &Path) -> Result<()> {
    for built in which {
        let (name, compilers, flags) = built.how();
        let works = |compiler: &&&str| {
            let asked = Command::new(compiler).arg("--version").output();
            asked.is_ok_and(|done| done.status.success())
        };
        let Some(compiler) = compilers.iter().find(works) else {
            bail!("{name}: there is no {}", compilers[0]);
        };
        let mut build = Command::new(compiler);
        build
            .current_dir(root())
            .args(["-std=c++11", "-O3", "-g", "-Iinclude"])
            .arg("bench/tp/suite/suite.cpp")
            .args(flags)
            .arg("-o")
            .arg(folder.join(name));
        succeed(&mut build)?;
    }
    Ok(())
}

fn trace(folder: &Path, run: &str) -> PathBuf {
    folder.join(run).with_extension("wspan")
}

/// Runs the tool in `folder`, and prints its command.
fn tool(folder: &Path, words: &str) -> Result<()> {
    println!("   workspan {words}");
    let mut command = workspan("release");
    command
        .current_dir(folder)
        .args(words.split(' '))
        .env("OMP_WAIT_POLICY", "passive");
    output(&mut command).map(drop)
}

fn record(run: &Run, folder: &Path) -> Result<()> {
    let _ = fs::remove_file(trace(folder, run.name));
    let (program, _, _) = run.built.how();
    // A simulation needs every task.
    let options = match run.built {
        SuiteBuild::WorkspanHeader => "--max-overhead off ",
        _ => "",
    };
    let workers = match run.built {
        SuiteBuild::WorkspanHeader => "",
        _ => " --workers 2",
    };
    let Run { name, words, .. } = run;
    tool(
        folder,
        &format!("record --no-report {options}-o {name}.wspan -- ./{program} {words}{workers}"),
    )
}

/// Simulates the measured part of a run.
fn simulate(folder: &Path, run: &str, to: &str, options: &str) -> Result<()> {
    let _ = fs::remove_file(folder.join(format!("{to}.jsonl.gz")));
    let fixed = "--only part:measured --steal-cost 1us --seeds 1";
    tool(
        folder,
        &format!("simulate {fixed} {options} -o {to}.jsonl.gz {run}.wspan"),
    )
}

/// Draws a picture, or returns the request for the browser to take it.
fn draw(picture: &Picture, folder: &Path, pictures: &Path) -> Result<Option<serde_json::Value>> {
    let png = pictures.join(picture.file());
    let shot = |trace: PathBuf, shown: [f64; 2]| {
        let shown = shown.map(|percent| percent / 100.0);
        Some(json!({ "trace": trace, "picture": png, "shown": shown }))
    };
    match picture {
        Picture::Recorded { run, shown, .. } => Ok(shot(trace(folder, run), *shown)),
        Picture::Simulated {
            file,
            run,
            options,
            shown,
        } => {
            simulate(folder, run, file, options)?;
            Ok(shot(folder.join(format!("{file}.jsonl.gz")), *shown))
        }
        Picture::Breakdown { runs, .. } => {
            for run in *runs {
                simulate(folder, run, run, "--workers 8 --policy help-first")?;
            }
            let traces = runs.iter().map(|run| format!("{run}.jsonl.gz"));
            let traces = traces.collect::<Vec<_>>().join(" ");
            let names = runs.join(",");
            let out = png.display();
            tool(
                folder,
                &format!("plot --kind breakdown --size 640x260 --name {names} -o {out} {traces}"),
            )?;
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_shows_its_pictures_and_each_picture_is_of_its_runs() {
        let folder = root().join("docs/case-studies");
        for study in &STUDIES {
            let page = folder.join(study.name).with_extension("md");
            let text = fs::read_to_string(&page)
                .unwrap_or_else(|error| panic!("{}: {error}", page.display()));
            assert!(!study.pictures.is_empty(), "{}", study.name);
            for picture in study.pictures {
                let file = picture.file();
                assert!(
                    text.contains(&format!("]({file})")),
                    "{}: {file}",
                    study.name
                );
                let bytes = fs::metadata(folder.join(&file)).map_or(0, |about| about.len());
                assert!((1..=MAX_BYTES).contains(&bytes), "{file}: {bytes} bytes");
                let known = |run: &str| study.runs.iter().any(|r| r.name == run);
                match picture {
                    Picture::Recorded { run, .. } | Picture::Simulated { run, .. } => {
                        assert!(known(run), "{run}");
                    }
                    Picture::Breakdown { runs, .. } => {
                        assert!(runs.iter().all(|run| known(run)), "{file}");
                    }
                }
            }
        }
    }
}
