//! Targets in the form of the command line.

use workspan_analysis::{Metric, Options, Suggestion, Target};
use workspan_dag::Dag;

use crate::position::label;
use crate::section;

/// `workspan whatif sort.wspan --lines src/sort.rs:43-50` as a list of words, with the options that
/// make it measure like `measured`: so the command prints the number that the report promises.
pub(crate) fn command(
    dag: &Dag,
    file: &str,
    suggestion: &Suggestion,
    measured: &Options,
) -> Vec<String> {
    let mut words = vec!["workspan whatif".to_owned(), quoted(file)];
    match &suggestion.target {
        Target::Site { places, subtree } => {
            let site = places.first().map_or("root", |&p| match p {
                workspan_dag::ROOT_PLACE => "root",
                p => label(dag, p),
            });
            words.push(format!("--site {}", quoted(site)));
            if *subtree {
                words.push("--subtree".to_owned());
            }
        }
        Target::Lines { file, from, to } => {
            let range = if from == to {
                format!("{file}:{from}")
            } else {
                format!("{file}:{from}-{to}")
            };
            words.push(format!("--lines {}", quoted(&range)));
        }
        Target::Region(label) => {
            let name = dag.labels.get(*label as usize).map_or("?", String::as_str);
            words.push(format!("--region {}", quoted(name)));
        }
        Target::Lock(_) => {
            if let Some(line) = &suggestion.block {
                words.push(format!("--lock {}", quoted(line)));
            }
        }
        Target::Block(_) | Target::Strands(_) => {
            if let Some(block) = &suggestion.block {
                words.push(format!("--block {}", quoted(block)));
            }
        }
    }
    words.extend(measuring_options(dag, measured));
    words
}

/// The options that make another command measure the same, as a list of words.
pub(crate) fn measuring_options(dag: &Dag, measured: &Options) -> Vec<String> {
    let mut words: Vec<String> = section::option(&dag.meta).into_iter().collect();
    if let Metric::Counter(name) = &measured.metric {
        words.push(format!("--metric {}", quoted(name)));
    }
    if let Some(burden) = measured.burden {
        words.push(format!("--burden {burden}"));
    }
    let flags = [
        (measured.raw, "--raw"),
        (measured.count_blocked, "--count-blocked"),
    ];
    let flags = flags.iter().filter(|flag| flag.0);
    words.extend(flags.map(|flag| flag.1.to_owned()));
    words
}

/// A word, quoted for a shell.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_./:+-@,=%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_gets_the_word_back() {
        assert_eq!(quoted("src/sort.rs:43-50"), "src/sort.rs:43-50");
        assert_eq!(quoted("read input"), "'read input'");
        assert_eq!(quoted("it's; rm *"), "'it'\\''s; rm *'");
        assert_eq!(quoted(""), "''");
    }
}
