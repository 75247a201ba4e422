//! `cargo xtask book`: the documentation as a site in `target/book/site`, by mdBook: search, the
//! pictures, a gallery of reports, and rustdoc of the published crates.
//!
//! Pages keep their paths in the repository, so that links between them stay as they are. A broken
//! link is an error.

mod gallery;
mod links;
mod pages;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::dependencies;
use crate::package::UNPUBLISHED;
use crate::packages::may_install;
use crate::ui;
use crate::workspace::{build_release, cargo, output, root, succeed, target};

/// Stages the pages and builds the site. The gallery's runs are recorded by the tool of `profile`.
///
/// # Errors
/// A link is broken, a tool is missing, or a run can't be recorded.
pub fn run() -> Result<()> {
    let mdbook = mdbook()?;
    ui::build()?;
    build_release(true)?;
    let book = folder();
    let sources = stage(&book)?;
    println!("== gallery of reports");
    gallery::make("release", &sources.join(gallery::FOLDER))?;
    site(&mdbook, &book)
}

/// The folder of the site and its sources.
fn folder() -> PathBuf {
    target().join("book")
}

/// Copies the pages and the files that they link to, and checks the links. Returns the folder of
/// the copies.
///
/// # Errors
/// A link is broken.
pub fn check() -> Result<()> {
    stage(&folder()).map(drop)
}

fn stage(book: &Path) -> Result<PathBuf> {
    println!("== pages and their links");
    let sources = book.join("src");
    let _ = fs::remove_dir_all(&sources);
    let pages = pages::copy(&root(), &sources)?;
    fs::create_dir_all(sources.join(gallery::FOLDER))?;
    fs::write(sources.join(gallery::PAGE), "# Gallery\n")?;
    fs::write(sources.join(CRATES_PAGE), crates_page())?;
    let dead = links::dead(&sources, &pages)?;
    if !dead.is_empty() {
        bail!("links that lead nowhere:\n  {}", dead.join("\n  "));
    }
    println!("   {} pages", pages.len());
    Ok(sources)
}

/// The page that links to rustdoc.
const CRATES_PAGE: &str = "crates.md";

/// Crates that other programs may use, with their purpose.
const CRATES: [(&str, &str); 6] = [
    ("workspan_api", "marks up a Rust program"),
    ("workspan_reader", "reads traces"),
    (
        "workspan_dag",
        "the model: tasks, strands and edges in columns",
    ),
    ("workspan_analysis", "the analyses of the report"),
    (
        "workspan_export",
        "reports as text and JSON, other viewers' formats",
    ),
    ("workspan_trace", "the file format"),
];

fn crates_page() -> String {
    let mut page = String::from("# Crates\n\nThe documentation of the items of each crate:\n\n");
    for (name, purpose) in CRATES {
        page.push_str(&format!(
            "* [`{name}`](rustdoc/{name}/index.html): {purpose}\n"
        ));
    }
    page
}

/// Builds mdBook's part, then rustdoc's.
fn site(mdbook: &OsString, book: &Path) -> Result<()> {
    println!("== site");
    let configuration = "[book]\ntitle = \"workspan\"\nlanguage = \"en\"\nsrc = \"src\"\n\n\
         [build]\nbuild-dir = \"site\"\ncreate-missing = false\n\n\
         [output.html]\ndefault-theme = \"light\"\nno-section-label = true\n\
         additional-css = [\"wide.css\"]\n";
    fs::write(book.join("book.toml"), configuration)?;
    // Reports are 100 columns wide.
    fs::write(
        book.join("wide.css"),
        ":root { --content-max-width: 960px; }\n",
    )?;
    let site = book.join("site");
    succeed(Command::new(mdbook).arg("build").arg(book))?;
    let searchable = fs::read_dir(&site)?.flatten().any(|entry| {
        let name = entry.file_name();
        name.to_string_lossy().starts_with("searchindex")
    });
    if !searchable {
        bail!("{}: has no search index", site.display());
    }
    println!("== rustdoc");
    let mut doc = cargo();
    doc.args(["doc", "--no-deps", "--workspace"]);
    for name in UNPUBLISHED {
        doc.args(["--exclude", name]);
    }
    succeed(&mut doc)?;
    let rustdoc = site.join("rustdoc");
    fs::create_dir_all(&rustdoc)?;
    output(
        Command::new("cp")
            .arg("-r")
            .arg(target().join("doc/."))
            .arg(&rustdoc),
    )?;
    println!("== {}", site.join("index.html").display());
    Ok(())
}

/// The installed mdBook, or one that may be installed into the target folder.
fn mdbook() -> Result<OsString> {
    let works = |program: &OsString| {
        let asked = Command::new(program).arg("--version").output();
        asked.is_ok_and(|done| done.status.success())
    };
    let tools = target().join("tools");
    let own = tools.join("bin/mdbook").into_os_string();
    if let Some(there) = [OsString::from("mdbook"), own.clone()]
        .into_iter()
        .find(works)
    {
        return Ok(there);
    }
    if may_install() && dependencies::install("mdbook", &tools) && works(&own) {
        return Ok(own);
    }
    None.context("mdBook is missing: cargo install mdbook")
}
