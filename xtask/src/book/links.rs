//! Finds links of Markdown pages, rewrites them for the site, and checks them.

use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// `[text](target)` or `![text](target)`.
pub struct Link<'a> {
    pub text: &'a str,
    pub target: &'a str,
    /// The range of the whole link in the page.
    range: Range<usize>,
}

impl Link<'_> {
    /// The target without `#…`.
    pub fn path(&self) -> &str {
        self.target.split('#').next().unwrap_or_default()
    }

    fn anchor(&self) -> Option<&str> {
        self.target.split_once('#').map(|(_, anchor)| anchor)
    }
}

/// The links of a page, outside of code.
pub fn links(page: &str) -> Vec<Link<'_>> {
    let mut found = Vec::new();
    let mut fenced = false;
    let mut start = 0;
    for line in page.split_inclusive('\n') {
        let fence = line.trim_start().starts_with("```");
        if !fenced && !fence && !line.starts_with("    ") {
            line_links(line, start, &mut found);
        }
        fenced ^= fence;
        start += line.len();
    }
    found
}

fn line_links<'a>(line: &'a str, start: usize, found: &mut Vec<Link<'a>>) {
    let mut code = false;
    let mut opened = None;
    let mut at = 0;
    while let Some(character) = line[at..].chars().next() {
        match character {
            '`' => code = !code,
            '[' if !code => opened = Some(at + 1),
            ']' if !code => {
                let begin = opened.take();
                let rest = &line[at + 1..];
                let end = rest.find(')').filter(|_| rest.starts_with('('));
                if let (Some(begin), Some(end)) = (begin, end) {
                    found.push(Link {
                        text: &line[begin..at],
                        target: &rest[1..end],
                        range: start + begin - 1..start + at + 1 + end + 1,
                    });
                }
            }
            _ => {}
        }
        at += character.len_utf8();
    }
}

/// The page for the site: a folder's README is its index there, and a link to a folder without one
/// becomes plain text.
pub fn relinked(page: &str, is_bare_folder: impl Fn(&str) -> bool) -> String {
    let mut text = String::with_capacity(page.len());
    let mut from = 0;
    for link in links(page) {
        text.push_str(&page[from..link.range.start]);
        from = link.range.end;
        let path = link.path();
        if is_bare_folder(path) {
            text.push_str(link.text);
            continue;
        }
        let path = match path.strip_suffix("README.md") {
            Some(folder) => format!("{folder}index.md"),
            None => path.to_owned(),
        };
        let anchor = link.anchor().map(|anchor| format!("#{anchor}"));
        let anchor = anchor.unwrap_or_default();
        text.push_str(&format!("[{}]({path}{anchor})", link.text));
    }
    text.push_str(&page[from..]);
    text
}

/// Links of the staged pages whose file or heading does not exist, each with its page.
pub fn dead(folder: &Path, pages: &[PathBuf]) -> Result<Vec<String>> {
    let mut dead = Vec::new();
    for page in pages {
        let text = read(page)?;
        for link in links(&text) {
            if link.target.contains("://") || link.target.starts_with("mailto:") {
                continue;
            }
            let page_folder = page.parent().unwrap_or(folder);
            let file = match link.path() {
                "" => page.clone(),
                path => page_folder.join(path),
            };
            let file = if file.is_dir() {
                file.join("index.md")
            } else {
                file
            };
            let is_page = file.extension().is_some_and(|e| e == "md");
            let whole = match link.anchor() {
                _ if !file.is_file() => false,
                Some(anchor) if is_page => anchors(&read(&file)?).contains(anchor),
                _ => true,
            };
            if !whole {
                let page = page.strip_prefix(folder).unwrap_or(page);
                dead.push(format!("{}: {}", page.display(), link.target));
            }
        }
    }
    Ok(dead)
}

fn read(page: &Path) -> Result<String> {
    fs::read_to_string(page).with_context(|| page.display().to_string())
}

/// The anchors of headings.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let mut found = BTreeSet::new();
    for line in page.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let heading = line.trim_start_matches('#');
        if !fenced && heading.len() < line.len() && heading.starts_with(' ') {
            found.insert(anchor(heading.trim()));
        }
    }
    found
}

fn anchor(heading: &str) -> String {
    let is_in_anchor = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let retained = heading.chars().filter(is_in_anchor);
    let words: String = retained.map(|c| if c == ' ' { '-' } else { c }).collect();
    words.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_in_code_are_none() {
        let page = "a [one](x.md#y) `[two](z.md)`\n    [three](c.md)\n```\n[four](d.md)\n```\n![five](e.png)\n";
        let targets: Vec<&str> = links(page).iter().map(|link| link.target).collect();
        assert_eq!(targets, ["x.md#y", "e.png"]);
    }

    #[test]
    fn a_readme_is_an_index_and_a_bare_folder_no_link() {
        let page = "[a](../README.md#b), [c](d) and [e](f.md).";
        let text = relinked(page, |path| path == "d");
        assert_eq!(text, "[a](../index.md#b), c and [e](f.md).");
    }

    #[test]
    fn a_missing_file_or_heading_is_dead() {
        let folder = std::env::temp_dir().join(format!("workspan-links-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let page = folder.join("a.md");
        let text = "# What it is: a page\n[x](#what-it-is-a-page) [y](#else) [z](gone.md)\n";
        fs::write(&page, text).unwrap();
        let found = dead(&folder, &[page]).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found, ["a.md: #else", "a.md: gone.md"]);
    }
}
