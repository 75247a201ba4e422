//! The pages of the site: the repository's Markdown at its own paths, and the files that it links
//! to.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};

use super::gallery;
use super::links::{links, relinked};

/// The pages from which others are found, together with all of docs/: every page that one of them
/// links to is a page too.
const FIRST: [&str; 5] = [
    "README.md",
    "docs/README.md",
    "ARCHITECTURE.md",
    "COMPARE.md",
    "CHANGELOG.md",
];

/// Copies the pages and writes their list, `SUMMARY.md`. Returns the pages' paths in `to`.
pub fn copy(from: &Path, to: &Path) -> Result<Vec<PathBuf>> {
    let mut pages: BTreeMap<PathBuf, String> = BTreeMap::new();
    let mut pending: Vec<PathBuf> = FIRST.iter().map(PathBuf::from).collect();
    documents(from, Path::new("docs"), &mut pending)?;
    let mut files: BTreeSet<PathBuf> = BTreeSet::new();
    while let Some(path) = pending.pop() {
        if pages.contains_key(&path) {
            continue;
        }
        let file = from.join(&path);
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        for link in links(&text) {
            let Some(linked) = within(&path, link.path()) else {
                continue;
            };
            let there = from.join(&linked);
            if linked.extension().is_some_and(|e| e == "md") && there.is_file() {
                pending.push(linked);
            } else if there.join("README.md").is_file() {
                pending.push(linked.join("README.md"));
            } else if there.is_file() {
                files.insert(linked);
            }
        }
        pages.insert(path, text);
    }
    for file in &files {
        let copied = to.join(file);
        fs::create_dir_all(copied.parent().unwrap_or(to))?;
        fs::copy(from.join(file), &copied)?;
    }
    let mut written = Vec::new();
    for (path, text) in &pages {
        let page = to.join(as_page(path));
        fs::create_dir_all(page.parent().unwrap_or(to))?;
        let folder = |linked: &str| {
            let there = within(path, linked).map(|linked| from.join(linked));
            there.is_some_and(|there| there.is_dir() && !there.join("README.md").is_file())
        };
        fs::write(&page, relinked(text, folder))?;
        written.push(page);
    }
    fs::write(to.join("SUMMARY.md"), summary(&pages))?;
    Ok(written)
}

/// The Markdown below a folder.
fn documents(from: &Path, folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(from.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if entry.path().is_dir() {
            documents(from, &path, found)?;
        } else if path.extension().is_some_and(|e| e == "md") {
            found.push(path);
        }
    }
    Ok(())
}

/// A page's path on the site: a folder's README is its index.
fn as_page(path: &Path) -> PathBuf {
    match path.file_name() {
        Some(name) if name == "README.md" => path.with_file_name("index.md"),
        _ => path.to_path_buf(),
    }
}

/// A link's path in the repository, from the page that contains it; `None` if it leads out of it.
fn within(page: &Path, link: &str) -> Option<PathBuf> {
    if link.is_empty() || link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let mut path = page.parent()?.to_path_buf();
    for part in Path::new(link).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::ParentDir if !path.pop() => return None,
            _ => {}
        }
    }
    Some(path)
}

/// mdBook's list of chapters: the sections of docs/README.md in their order, then the pages that it
/// does not name. Each page is listed once.
fn summary(pages: &BTreeMap<PathBuf, String>) -> String {
    let mut listed: BTreeSet<PathBuf> = BTreeSet::from(["README.md".into()]);
    let mut text = String::from("# Summary\n\n[workspan](index.md)\n");
    let index = Path::new("docs/README.md");
    for line in pages.get(index).map_or("", String::as_str).lines() {
        if let Some(section) = line.strip_prefix("## ") {
            text.push_str(&format!("\n# {section}\n\n"));
        }
        for link in links(line) {
            let Some(linked) = within(index, link.path()) else {
                continue;
            };
            if pages.contains_key(&linked) {
                chapter(&mut text, &mut listed, &linked, link.text);
                continue;
            }
            // A folder represents its pages.
            for (path, page) in pages
                .iter()
                .filter(|(path, _)| path.parent() == Some(&linked))
            {
                chapter(&mut text, &mut listed, path, title(page));
            }
        }
    }
    text.push_str(&format!("\n# Gallery\n\n- [Reports]({})\n", gallery::PAGE));
    text.push_str("\n# The project\n\n- [Crates](crates.md)\n");
    for (path, page) in pages {
        chapter(&mut text, &mut listed, path, title(page));
    }
    text
}

/// A page's first heading.
fn title(page: &str) -> &str {
    let mut lines = page.lines();
    lines
        .find_map(|line| line.strip_prefix("# "))
        .unwrap_or("Page")
}

fn chapter(text: &mut String, listed: &mut BTreeSet<PathBuf>, path: &Path, title: &str) {
    if listed.insert(path.to_path_buf()) {
        let title: String = title.chars().filter(|c| !"[]`".contains(*c)).collect();
        let mut characters = title.chars();
        let first = characters.next().map(|c| c.to_uppercase().to_string());
        let title = first.unwrap_or_default() + characters.as_str();
        text.push_str(&format!("- [{title}]({})\n", as_page(path).display()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_from_the_page_that_has_them() {
        let page = Path::new("docs/measured/a.md");
        assert_eq!(within(page, "../b.md"), Some("docs/b.md".into()));
        assert_eq!(within(page, "../../README.md"), Some("README.md".into()));
        assert_eq!(within(page, "https://example.invalid/"), None);
        assert_eq!(within(page, "../../../x.md"), None);
    }

    #[test]
    fn the_summary_lists_each_page_once_in_the_order_of_the_docs() {
        let pages = BTreeMap::from([
            (PathBuf::from("README.md"), "# workspan\n".to_owned()),
            (
                PathBuf::from("docs/README.md"),
                "# Documentation\n\n## How to\n\n* [record](b.md), [look](a.md); [again](b.md#x)\n"
                    .to_owned(),
            ),
            (PathBuf::from("docs/a.md"), "# A\n".to_owned()),
            (PathBuf::from("docs/b.md"), "# B\n".to_owned()),
        ]);
        let text = summary(&pages);
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("- ")).collect();
        let expected = [
            "- [Record](docs/b.md)",
            "- [Look](docs/a.md)",
            "- [Reports](gallery/index.md)",
            "- [Crates](crates.md)",
            "- [Documentation](docs/index.md)",
        ];
        assert_eq!(lines, expected);
    }
}
