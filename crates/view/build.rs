//! Embeds the built page:
//!
//! * in a checkout: `ui/dist/index.html`, which `cargo xtask ui` builds. An optimised build without
//!   it (`cargo install --path` or `--git`) builds the page with npm, in a copy of `ui/` inside
//!   cargo's target folder;
//! * elsewhere: `page/index.html` beside this file, which the published package contains. A
//!   checkout has that file only while it is packaged, or after packaging was interrupted; it may
//!   be out of date.
//!
//! An optimised build that gets no page fails with the one command that is missing. Otherwise a
//! user could install a tool whose `view` and `html` do nothing. `WORKSPAN_PAGE=none` builds
//! without a page on purpose. Debug builds embed an empty page if there is none, so that
//! contributors do not need Node.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// The minimum version of Node, which is that of Vite.
const MIN_NODE: (u32, u32) = (20, 19);

const REMEDY: &str = "the viewer's page is not built, and an installed workspan needs it: install Node 20.19 or \
     later with npm and repeat this command (WORKSPAN_PAGE=none builds without the page)";

fn main() {
    println!("cargo::rerun-if-env-changed=WORKSPAN_PAGE");
    println!("cargo::rerun-if-changed=build.rs");
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    match page(&here, &out) {
        Ok(page) => {
            let embedded = out.join("index.html");
            if let Err(error) = fs::write(&embedded, page) {
                println!("cargo::error={}: {error}", embedded.display());
            }
        }
        Err(why) => println!("cargo::error={why}"),
    }
}

fn page(here: &Path, out: &Path) -> Result<Vec<u8>, String> {
    let ui = here.join("../../ui");
    let built = match ui.join("package.json").is_file() {
        true => ui.join("dist/index.html"),
        false => here.join("page/index.html"),
    };
    // A file that does not exist makes cargo run this script at every build, so a page that is
    // built later is noticed.
    println!("cargo::rerun-if-changed={}", built.display());
    if built.is_file() {
        return fs::read(&built).map_err(|error| format!("{}: {error}", built.display()));
    }
    let has_page = env::var_os("WORKSPAN_PAGE").is_none_or(|value| value != "none");
    let optimised = env::var_os("PROFILE").is_some_and(|profile| profile == "release");
    if !optimised || !has_page {
        return Ok(Vec::new());
    }
    build_page(&ui, &out.join("ui"))
}

/// Builds the page from a copy of `sources`, because cargo's own checkouts must not be written to.
fn build_page(sources: &Path, copy: &Path) -> Result<Vec<u8>, String> {
    if !sources.join("package.json").is_file() {
        return Err(format!(
            "{}: the sources of the page are missing; {REMEDY}",
            sources.display()
        ));
    }
    if node_version().is_none_or(|version| version < MIN_NODE) {
        return Err(REMEDY.into());
    }
    copy_sources(sources, copy).map_err(|error| format!("{}: {error}", copy.display()))?;
    npm(copy, &["ci", "--no-audit", "--no-fund", "--loglevel=error"])?;
    npm(copy, &["run", "--silent", "build"])?;
    let page = copy.join("dist/index.html");
    fs::read(&page).map_err(|error| format!("{}: {error}", page.display()))
}

fn node_version() -> Option<(u32, u32)> {
    let said = Command::new("node").arg("--version").output().ok()?;
    let text = String::from_utf8(said.stdout).ok()?;
    let mut numbers = text.trim().strip_prefix('v')?.split('.');
    let major = numbers.next()?.parse().ok()?;
    Some((major, numbers.next()?.parse().ok()?))
}

fn npm(folder: &Path, arguments: &[&str]) -> Result<(), String> {
    let what = format!("`npm {}` for the viewer's page", arguments.join(" "));
    let done = Command::new("npm")
        .args(arguments)
        .current_dir(folder)
        .output();
    let done = done.map_err(|error| format!("{what}: {error}; {REMEDY}"))?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    // A cargo directive is one line.
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    Err(format!("{what}: {}: {said}", done.status))
}

fn copy_sources(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if ["node_modules", "dist", "e2e"].iter().any(|n| name == *n) {
            continue;
        }
        let target = to.join(&name);
        if entry.file_type()?.is_dir() {
            copy_sources(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
