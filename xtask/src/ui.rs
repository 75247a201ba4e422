//! The viewer's page: builds it, checks it, drives it in a browser, and takes screenshots.

mod runs;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};

use crate::workspace::{root, succeed, target};

/// Minimum version of Node: vite's own requirement.
const OLDEST_NODE: (u32, u32) = (20, 19);

/// Builds `ui/dist/index.html` if one of its sources is newer; the crate that embeds it notices the
/// change.
pub fn build() -> Result<()> {
    if let Some(why) = lacking() {
        bail!("the viewer's page can't be built: {why}");
    }
    let ui = root().join("ui");
    let built = modified(&ui.join("dist/index.html"));
    if built.is_some() && built >= newest(&ui)? {
        return Ok(());
    }
    install()?;
    println!("== the viewer's page");
    succeed(npm().args(["run", "--silent", "build"]))?;
    let page = ui.join("dist/index.html");
    if modified(&page).is_none() {
        bail!("{}: the build made no page", page.display());
    }
    Ok(())
}

/// The reason why the page can't be built here, if any.
pub fn lacking() -> Option<String> {
    let said = Command::new("node").arg("--version").output().ok();
    let text = said.map(|s| String::from_utf8_lossy(&s.stdout).trim().to_owned());
    let Some(text) = text.filter(|t| t.starts_with('v')) else {
        return Some("there is no node (20.19 or later, with npm)".into());
    };
    let mut numbers = text[1..].split('.').map(|n| n.parse::<u32>().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version < OLDEST_NODE {
        return Some(format!("node is {text}; 20.19 or later is needed"));
    }
    let npm = npm().arg("--version").stdout(Stdio::null()).status();
    (!npm.is_ok_and(|s| s.success())).then(|| "there is no npm".into())
}

fn npm() -> Command {
    let mut npm = Command::new("npm");
    npm.current_dir(root().join("ui"));
    // Do not report newer versions of npm.
    npm.env("npm_config_update_notifier", "false");
    npm
}

/// Downloads the packages in the lock file, if it has changed.
fn install() -> Result<()> {
    let ui = root().join("ui");
    let done = modified(&ui.join("node_modules/.package-lock.json"));
    if done.is_some() && done >= modified(&ui.join("package-lock.json")) {
        return Ok(());
    }
    println!("== npm ci");
    succeed(npm().args(["ci", "--no-audit", "--no-fund", "--loglevel", "error"]))
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|m| m.modified()).ok()
}

/// Modification time of the page's newest source.
fn newest(ui: &Path) -> Result<Option<SystemTime>> {
    let mut newest = None;
    let mut folders = vec![ui.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let listed = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
        for entry in listed {
            let entry = entry?;
            let (path, name) = (entry.path(), entry.file_name());
            let made = ["node_modules", "dist", "e2e"].iter().any(|n| name == *n);
            if path.is_dir() && !made {
                folders.push(path);
            } else if path.is_file() {
                newest = newest.max(modified(&path));
            }
        }
    }
    Ok(newest)
}

/// The outcome of a part of the page's tests.
pub enum Part {
    /// All tests passed: their number, and the tests that passed only on the second attempt, alone.
    Passed(usize, Vec<String>),
    /// Some tests failed; these did.
    Failed(String),
    /// The part was not run, for this reason.
    Skipped(String),
}

/// The checks of the page that `npm run` performs by itself, each with its name in the results.
const SCRIPTS: [(&str, &str); 4] = [
    ("the page's format", "format:check"),
    ("the page's lints", "lint"),
    ("the page's types", "check"),
    ("the page's tests", "test"),
];
const IN_BROWSER: &str = "the page in a browser";

/// Runs format, lints, types, unit tests, and the tests in a browser, each with its name. The CLI
/// of `profile` must have been built, with the page inside.
pub fn test(profile: &str) -> Result<Vec<(&'static str, Part)>> {
    if let Some(why) = lacking() {
        let skip = |name| (name, Part::Skipped(why.clone()));
        let names = SCRIPTS.iter().map(|(name, _)| *name).chain([IN_BROWSER]);
        return Ok(names.map(skip).collect());
    }
    install()?;
    let run = |script: &str| -> Result<Part> {
        let status = npm().args(["run", "--silent", script]).status()?;
        Ok(match status.success() {
            true => Part::Passed(1, Vec::new()),
            false => Part::Failed(format!("npm run {script} ({status})")),
        })
    };
    println!("== the page's format, lints, types and tests");
    let mut parts = Vec::new();
    for (name, script) in SCRIPTS {
        parts.push((name, run(script)?));
    }
    println!("== {IN_BROWSER}");
    parts.push((IN_BROWSER, in_browser(profile)?));
    Ok(parts)
}

/// Runs the end-to-end tests of `ui/e2e`, on runs recorded for them.
fn in_browser(profile: &str) -> Result<Part> {
    let Some(browser) = headless().or_else(browser) else {
        return Ok(Part::Skipped("there is no Chromium".into()));
    };
    let runs = runs::record(profile)?;
    let mut node = Command::new("node");
    node.arg(root().join("ui/e2e/run.mjs"))
        .current_dir(root().join("ui"))
        .env("WORKSPAN", target().join(profile).join("workspan"))
        .env("RUNS", &runs)
        .env("CHROMIUM", browser)
        .env("SHOTS", target().join("workspan/shots"))
        .stderr(Stdio::inherit());
    let said = node.output().with_context(|| format!("{node:?}"))?;
    let text = String::from_utf8_lossy(&said.stdout);
    print!("{text}");
    // Single skipped tests are listed already; the others count.
    let none = |line| str::strip_prefix(line, "skipped: the page in a browser: ");
    if let Some(why) = text.lines().find_map(none) {
        return Ok(Part::Skipped(why.to_owned()));
    }
    let count = text.lines().rev().find_map(|line| {
        let (passed, _) = line.split_once(" passed, ")?;
        passed.trim().parse().ok()
    });
    let named = |word: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|line| line.strip_prefix(word));
        lines.map(str::to_owned).collect()
    };
    Ok(match (said.status.success(), count) {
        (true, Some(passed)) => Part::Passed(passed, named("flaky: the page in a browser: ")),
        _ => Part::Failed(format!(
            "node e2e/run.mjs ({}): {}",
            said.status,
            named("failed: ").join("; ")
        )),
    })
}

/// The first installed Chromium.
pub fn browser() -> Option<PathBuf> {
    installed(&["chromium", "chromium-browser", "google-chrome"])
}

/// The headless Chromium: the same engine for half the CPU time, as the tests don't need the rest
/// of a browser.
pub fn headless() -> Option<PathBuf> {
    installed(&["chromium-headless-shell"])
}

/// The browser in `CHROMIUM`, or the first installed program with one of these names.
fn installed(names: &[&str]) -> Option<PathBuf> {
    let folders = ["/usr/bin", "/usr/local/bin", "/snap/bin"];
    let all = folders
        .iter()
        .flat_map(|folder| names.iter().map(move |name| Path::new(folder).join(name)));
    let given = std::env::var_os("CHROMIUM").map(PathBuf::from);
    given.into_iter().chain(all).find(|path| path.is_file())
}

/// Takes pictures of the page for the README and docs/viewer.md, in docs/pictures, each below
/// 250 KB.
pub fn screenshots() -> Result<()> {
    const MOST_BYTES: u64 = 250_000;
    build()?;
    let Some(browser) = browser().or_else(headless) else {
        bail!("there is no Chromium to take pictures with: apt-get install chromium");
    };
    crate::workspace::build_release(true)?;
    let runs = runs::record("release")?;
    runs::simulate("release", &runs)?;
    let pictures = root().join("docs/pictures");
    fs::create_dir_all(&pictures)?;
    let mut node = Command::new("node");
    node.arg(root().join("ui/e2e/screenshots.mjs"))
        .current_dir(root().join("ui"))
        .env("WORKSPAN", target().join("release/workspan"))
        .env("RUNS", &runs)
        .env("CHROMIUM", browser)
        .env("PICTURES", &pictures);
    succeed(&mut node)?;
    for entry in fs::read_dir(&pictures)? {
        let path = entry?.path();
        let bytes = fs::metadata(&path)?.len();
        if path.extension().is_some_and(|e| e == "png") && bytes > MOST_BYTES {
            bail!(
                "{}: has {bytes} bytes, more than {MOST_BYTES}",
                path.display()
            );
        }
        println!("{} ({bytes} bytes)", path.display());
    }
    Ok(())
}
