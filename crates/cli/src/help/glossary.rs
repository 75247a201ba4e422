//! The terms of `workspan help`, from the glossary of the documentation.

/// A copy of `docs/glossary.md`, which a packaged crate does not have.
const GLOSSARY: &str = include_str!("glossary.md");

/// An entry of the glossary.
pub struct Term {
    /// The heading.
    pub name: &'static str,
    /// Other words that lead here.
    aliases: Vec<&'static str>,
    /// The first paragraph, as one line.
    pub meaning: String,
    /// Commands, one per line: the paragraph that is indented as code.
    pub examples: Vec<&'static str>,
}

impl Term {
    /// Whether `topic`, in lower case, is a name of the term. A plural is one too, and so are
    /// dashes instead of spaces.
    pub fn is_called(&self, topic: &str) -> bool {
        let is = |name: &str| {
            let name = name.to_lowercase();
            topic == name
                || topic.strip_suffix('s') == Some(&name)
                || topic == name.replace(' ', "-")
        };
        is(self.name) || self.aliases.iter().any(|alias| is(alias))
    }
}

/// All terms, in the order of the glossary. Text without a `##` heading is for contributors.
pub fn terms() -> Vec<Term> {
    let mut terms: Vec<Term> = Vec::new();
    for section in GLOSSARY.split("\n# ") {
        let mut entries = section.split("\n## ");
        let _introduction = entries.next();
        terms.extend(entries.map(term));
    }
    terms
}

/// The term of an entry, which begins with its heading.
fn term(entry: &'static str) -> Term {
    let (name, text) = entry.split_once('\n').unwrap_or((entry, ""));
    let mut paragraphs = text.trim().split("\n\n");
    let meaning = paragraphs.next().unwrap_or_default().replace('\n', " ");
    let also = paragraphs.find_map(|paragraph| paragraph.strip_prefix("Also: "));
    let code = "    ";
    let examples = text
        .split("\n\n")
        .find(|paragraph| paragraph.starts_with(code));
    Term {
        examples: examples
            .unwrap_or_default()
            .lines()
            .map(str::trim)
            .collect(),
        name: name.trim(),
        aliases: also
            .map(|names| names.split(", ").map(str::trim).collect())
            .unwrap_or_default(),
        meaning,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_is_the_glossary_of_the_documentation() {
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/glossary.md");
        let text = std::fs::read_to_string(docs).unwrap_or_else(|e| panic!("{docs}: {e}"));
        assert_eq!(
            text, GLOSSARY,
            "cp docs/glossary.md crates/cli/src/help/glossary.md"
        );
    }

    #[test]
    fn a_term_is_found_by_each_of_its_names() {
        let terms = terms();
        let called = |topic: &str| {
            let found = terms.iter().find(|term| term.is_called(topic));
            found.map(|term| term.name)
        };
        assert_eq!(called("span"), Some("span"));
        assert_eq!(called("spawn-sites"), None);
        assert_eq!(called("spawn-site"), Some("spawn site"));
        assert_eq!(called("strands"), Some("strand"));
        assert_eq!(called("burdened span"), Some("burdened"));
        assert_eq!(called("chunk"), None, "a word for contributors");
        assert!(terms.iter().all(|term| !term.meaning.is_empty()));
        let mut names: Vec<_> = terms.iter().map(|term| term.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), terms.len(), "each is there once");
    }
}
