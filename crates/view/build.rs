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
//! user could install a tool whose `view` and `html` do nothing. The crate `workspan-page` decides
//! that, and says it at the beginning of the build. `WORKSPAN_PAGE=none` builds without a page on
//! purpose. Debug builds embed an empty page if there is none, so that contributors do not need
//! Node.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use workspan_page::{PageSource, REMEDY, built_page, page_source};

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
    // A file that does not exist makes cargo run this script at every build, so a page that is
    // built later is noticed.
    println!("cargo::rerun-if-changed={}", built_page(here).display());
    match page_source(here)? {
        PageSource::Built(page) => {
            fs::read(&page).map_err(|error| format!("{}: {error}", page.display()))
        }
        PageSource::Npm(sources) => build_page(&sources, &out.join("ui")),
        PageSource::None => Ok(Vec::new()),
    }
}

/// Builds the page from a copy of `sources`, because cargo's own checkouts must not be written to.
fn build_page(sources: &Path, copy: &Path) -> Result<Vec<u8>, String> {
    copy_sources(sources, copy).map_err(|error| format!("{}: {error}", copy.display()))?;
    npm(copy, &["ci", "--no-audit", "--no-fund", "--loglevel=error"])?;
    npm(copy, &["run", "--silent", "build"])?;
    let page = copy.join("dist/index.html");
    fs::read(&page).map_err(|error| format!("{}: {error}", page.display()))
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
