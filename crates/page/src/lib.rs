//! Finds out where a build of the tool gets the viewer's page from.
//!
//! Two build scripts ask: that of `workspan-view`, which embeds the page, and that of this crate,
//! which only stops a build that could not embed it. Cargo begins with the crates for which most
//! others wait. Few wait for `workspan-view`, so its script runs after minutes. All crates of the
//! tool wait for this one, through the feature `page` of `workspan-trace`, so its script runs after
//! seconds. Only the package `workspan` turns the feature on: programs and tools that depend on
//! other crates of the workspace build without Node.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The minimum version of Node, which is that of Vite.
const MIN_NODE: (u32, u32) = (20, 19);

/// What to do about a page that can't be built.
pub const REMEDY: &str = "the viewer's page is not built, and an installed workspan needs it: install Node 20.19 or \
     later with npm (Debian 13: apt-get install npm; other systems: nodejs.org) and repeat this command \
     (WORKSPAN_PAGE=none builds without the page)";

/// Where the page comes from.
#[derive(Debug, PartialEq, Eq)]
pub enum PageSource {
    /// This file is the page.
    Built(PathBuf),
    /// npm builds it from a copy of this folder.
    Npm(PathBuf),
    /// The build has no page, on purpose.
    None,
}

/// The file that would be the page, whether it exists or not, for the folder of `workspan-view`: in
/// a checkout what `cargo xtask ui` builds, in a package of a registry the file that it carries. A
/// checkout has that file only while it is packaged, or after packaging was interrupted.
pub fn built_page(view: &Path) -> PathBuf {
    let ui = ui_sources(view);
    match is_checkout(view) {
        true => ui.join("dist/index.html"),
        false => view.join("page/index.html"),
    }
}

/// Whether the folder of `workspan-view` is in a checkout, which has the sources of the page.
pub fn is_checkout(view: &Path) -> bool {
    ui_sources(view).join("package.json").is_file()
}

fn ui_sources(view: &Path) -> PathBuf {
    view.join("../../ui")
}

/// Where the page of the folder of `workspan-view` comes from in this build.
///
/// An optimised build has a page, unless `WORKSPAN_PAGE=none` asks for none. Others have it if it
/// is built already, so that contributors do not need Node.
///
/// # Errors
/// The build needs the page, and it is neither built nor can be. The text names the remedy.
pub fn page_source(view: &Path) -> Result<PageSource, String> {
    let built = built_page(view);
    if built.is_file() {
        return Ok(PageSource::Built(built));
    }
    let is_wanted = env::var_os("WORKSPAN_PAGE").is_none_or(|value| value != "none");
    let is_optimised = env::var_os("PROFILE").is_some_and(|profile| profile == "release");
    if !is_wanted || !is_optimised {
        return Ok(PageSource::None);
    }
    let sources = ui_sources(view);
    if !is_checkout(view) {
        return Err(format!(
            "{}: the sources of the page are missing; {REMEDY}",
            sources.display()
        ));
    }
    let node = version_printed_by("node");
    if node.is_none_or(|version| version < MIN_NODE) || version_printed_by("npm").is_none() {
        return Err(REMEDY.into());
    }
    Ok(PageSource::Npm(sources))
}

fn version_printed_by(program: &str) -> Option<(u32, u32)> {
    let said = Command::new(program).arg("--version").output().ok()?;
    version(&String::from_utf8(said.stdout).ok()?)
}

/// Major and minor number of a printed version: `v20.19.1` of Node, `10.8.2` of npm.
fn version(text: &str) -> Option<(u32, u32)> {
    let text = text.trim();
    let mut numbers = text.strip_prefix('v').unwrap_or(text).split('.');
    let major = numbers.next()?.parse().ok()?;
    Some((major, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_node_and_npm_are_read() {
        assert_eq!(version("v20.19.1\n"), Some((20, 19)));
        assert_eq!(version("10.8.2\n"), Some((10, 8)));
        assert_eq!(version("node: not found"), None);
    }

    #[test]
    fn this_checkout_builds_the_page_and_a_package_carries_it() {
        let view = Path::new(env!("CARGO_MANIFEST_DIR")).join("../view");
        assert!(is_checkout(&view));
        assert!(built_page(&view).ends_with("ui/dist/index.html"));
        let package = Path::new("/package/workspan-view-0.1.0");
        assert!(!is_checkout(package));
        assert_eq!(built_page(package), package.join("page/index.html"));
    }
}
