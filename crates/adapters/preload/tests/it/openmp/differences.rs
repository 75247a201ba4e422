//! The canonical text distinguishes graphs, but not schedules.

use std::path::Path;

use workspan_reader::OpenOptions;

use super::canonical::{canonical, squeezed};

/// A root that opens a tree scope, creates two tasks of which the second depends on the first and
/// has a child, waits, and creates a third one.
const RUN: &str = r#"
begin t=0 w=0 task=0
scope task=0 scope=1 kind=tree
create t=1 w=0 task=0 child=1 site=a scope=1
resume t=1 w=0 task=0
create t=2 w=0 task=0 child=2 site=b scope=1
resume t=2 w=0 task=0
depend task=2 on=1
wait t=3 w=0 task=0 scope=1
begin t=4 w=1 task=1
end t=6 w=1 task=1
begin t=7 w=0 task=2
create t=8 w=0 task=2 child=3 site=c
resume t=8 w=0 task=2
wait t=9 w=0 task=2
begin t=10 w=1 task=3
end t=11 w=1 task=3
resume t=12 w=0 task=2
end t=13 w=0 task=2
resume t=14 w=0 task=0
create t=15 w=0 task=0 child=4 site=d
resume t=15 w=0 task=0
wait t=16 w=0 task=0
begin t=17 w=0 task=4
end t=18 w=0 task=4
resume t=19 w=0 task=0
end t=20 w=0 task=0
"#;

/// The text of a run in the format above.
fn canonical_text(run: &str) -> String {
    let mut trace = String::from(
        "{\"workspan_trace\":1,\"workers\":2,\"time_unit\":\"ns\",\"steals\":\"child\"}\n",
    );
    for line in run.lines().filter(|line| !line.is_empty()) {
        let mut words = line.split(' ');
        trace.push_str(&format!("{{\"ev\":\"{}\"", words.next().unwrap()));
        for (key, value) in words.map(|word| word.split_once('=').unwrap()) {
            let plain = value.starts_with(|c: char| c.is_ascii_digit() || c == '[')
                || matches!(value, "true" | "null");
            let quote = if plain { "" } else { "\"" };
            trace.push_str(&format!(",\"{key}\":{quote}{value}{quote}"));
        }
        trace.push_str("}\n");
    }
    let dag =
        workspan_reader::open::read(Path::new("run"), trace.as_bytes(), &OpenOptions::default());
    squeezed(&canonical(&dag.unwrap(), ""))
}

const TEXT: &str = "tree ( task a { } task b after 1 { task c { } wait } ) task d { } wait";

#[test]
fn the_schedule_is_left_out() {
    assert_eq!(canonical_text(RUN), TEXT);
    // With stretched times, exchanged threads, and a yield that does not matter.
    let turned: String = RUN
        .lines()
        .map(|line| {
            let words: Vec<String> = line
                .split(' ')
                .map(|word| match word.split_once('=') {
                    Some(("t", t)) => format!("t={}", t.parse::<u64>().unwrap() * 7),
                    Some(("w", w)) => format!("w={}", 1 - w.parse::<u64>().unwrap()),
                    _ => word.to_owned(),
                })
                .collect();
            words.join(" ") + "\n"
        })
        .collect();
    assert_eq!(canonical_text(&turned), TEXT);
    let yields = RUN.replace(
        "end t=6 w=1 task=1",
        "yield t=5 w=1 task=1\nresume t=5 w=0 task=1\nend t=6 w=0 task=1",
    );
    assert_eq!(canonical_text(&yields), TEXT);
}

#[test]
fn every_difference_of_the_graph_is_seen() {
    let changes: [(&str, &str, &str); 9] = [
        ("the kind of scope", "kind=tree", "kind=group"),
        ("an edge missing", "depend task=2 on=1\n", ""),
        (
            "an edge too many",
            "begin t=17 w=0 task=4",
            "depend task=4 on=2\nbegin t=17 w=0 task=4",
        ),
        (
            "out of the scope",
            "child=2 site=b scope=1",
            "child=2 site=b scope=null",
        ),
        (
            "another parent",
            "task=2 child=3 site=c\nresume t=8 w=0 task=2",
            "",
        ),
        (
            "another kind",
            "child=4 site=d",
            "child=4 site=d inline=true",
        ),
        ("another site", "child=3 site=c", "child=3 site=x"),
        (
            "a wait missing",
            "wait t=9 w=0 task=2",
            "yield t=9 w=0 task=2",
        ),
        (
            "a wait for less",
            "wait t=16 w=0 task=0",
            "wait t=16 w=0 task=0 of=[1]",
        ),
    ];
    for (what, from, to) in changes {
        let run = if what == "another parent" {
            // The third task is the first one's child, not the second's.
            RUN.replace(
                "create t=8 w=0 task=2 child=3 site=c\nresume t=8 w=0 task=2\n",
                "",
            )
            .replace(
                "end t=6 w=1 task=1",
                "create t=5 w=1 task=1 child=3 site=c\nresume t=5 w=1 task=1\nend t=6 w=1 task=1",
            )
        } else {
            assert!(RUN.contains(from), "{what}");
            RUN.replace(from, to)
        };
        assert_ne!(canonical_text(&run), TEXT, "{what} is not seen");
    }
}

#[test]
fn names_are_those_of_the_lines_and_chunks_are_the_teams() {
    let run = r#"
begin t=0 w=0 task=0
scope task=0 scope=1 kind=tree
create t=1 w=0 task=0 child=1 site=p inline=true scope=1
resume t=1 w=0 task=0
create t=1 w=0 task=0 child=2 site=p inline=true scope=1
resume t=1 w=0 task=0
wait t=1 w=0 task=0 scope=1
begin t=2 w=0 task=1
create t=3 w=0 task=1 child=3 site=t
resume t=3 w=0 task=1
end t=4 w=0 task=1
begin t=2 w=1 task=2
end t=4 w=1 task=2
begin t=5 w=1 task=3
end t=6 w=1 task=3
resume t=7 w=0 task=0
end t=8 w=0 task=0
"#;
    // Without primitives it is not a region.
    let plain = "tree ( 2 * inline p { } )";
    assert_ne!(canonical_text(run), squeezed(plain));
    assert_eq!(
        canonical_text(run),
        "tree ( inline p { task t { } } inline p { } )",
        "what two tasks did is not the same"
    );
}
