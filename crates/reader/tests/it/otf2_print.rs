//! The output of otf2-print for an archive, and damage in it.

use std::path::Path;

use workspan_dag::{Dag, TaskKind};
use workspan_reader::OpenOptions;
use workspan_reader::formats::{CANNOT_TELL_KEY, FORMAT_KEY};
use workspan_reader::open::read;

/// The output of otf2-print 3.0.2 for an archive that was written with OTF2's own library: a region
/// of two threads, with two tasks created on the first thread. The second thread takes one of them,
/// which creates one more. Its date and identifier are changed.
pub const TEXT: &str = include_str!("otf2_print.txt");

fn opened(text: &str) -> Dag {
    let options = OpenOptions::default();
    read(Path::new("run.txt"), text.as_bytes(), &options).unwrap()
}

fn error(text: &str) -> String {
    let options = OpenOptions::default();
    let read = read(Path::new("run.txt"), text.as_bytes(), &options);
    read.unwrap_err().to_string()
}

#[test]
fn tasks_strands_and_names_are_those_of_the_archive() {
    let dag = opened(TEXT);
    assert_eq!(dag.meta.warnings, [""; 0]);
    assert_eq!(dag.meta.thread_names, ["Master thread", "OMP thread 1"]);
    let kinds = [
        TaskKind::Root,
        TaskKind::Inline,
        TaskKind::Inline,
        TaskKind::Deferred,
        TaskKind::Deferred,
        TaskKind::Deferred,
    ];
    assert_eq!(dag.tasks.kind, kinds);
    let site = |task: usize| dag.places[dag.tasks.site[task] as usize].label.as_str();
    assert_eq!(site(1), "fib.c:30");
    assert_eq!([site(3), site(4), site(5)], ["fib.c:12"; 3]);
    let strands = dag.strands.start.iter().zip(&dag.strands.end);
    let work: u64 = strands.map(|(start, end)| end - start).sum();
    // The first task on thread 1 until it creates, until it waits, and after that; the one inside;
    // the other on thread 0; the implicit tasks and the main one.
    let first = (70 - 45) + (81 - 72) + (121 - 96);
    let implicit = (30 - 20) + (40 - 33) + (50 - 43) + (140 - 130) + (26 - 25);
    let main = 11 + (200 - 160);
    assert_eq!(work, first + (94 - 82) + (91 - 52) + implicit + main);
    let fact = |key: &str| dag.meta.facts.iter().find(|f| f.0 == key).map(|f| &*f.1);
    assert_eq!(
        fact(FORMAT_KEY),
        Some("otf2-print's text of an OTF2 archive")
    );
    assert!(fact(CANNOT_TELL_KEY).unwrap().contains("taskgroup"));
}

#[test]
fn events_alone_are_enough() {
    let (head, rest) = TEXT.split_once("=== Global").unwrap();
    let (_, events) = rest.split_once("=== Events").unwrap();
    let start = head.split("Content").next().unwrap();
    let dag = opened(&format!("{start}=== Events{events}"));
    assert_eq!(dag.tasks.len(), 6);
    let labels: Vec<&str> = dag.places.iter().map(|p| p.label.as_str()).collect();
    assert!(labels.contains(&"fib.c:12"), "{labels:?}");
    assert!(dag.meta.warnings[0].contains("no definitions"));
}

#[test]
fn damage_is_told_with_its_line() {
    let number = |what: &str| 1 + TEXT.lines().position(|line| line.contains(what)).unwrap();
    let switch = "THREAD_TASK_SWITCH                             1                 1045";
    let line = number(switch);
    let broken = TEXT.replace(switch, &switch.replace("1045", "x"));
    assert!(
        error(&broken).contains(&format!("line {line}")),
        "{}",
        error(&broken)
    );
    let back = TEXT.replace(switch, &switch.replace("1045", "1001"));
    assert!(error(&back).contains("goes back"), "{}", error(&back));
    let unknown = TEXT.replace("Generation Number: 2", "Generation Number: 9");
    let unknown = unknown.replacen("Generation Number: 9", "Generation Number: 2", 1);
    assert!(
        error(&unknown).contains("nobody created"),
        "{}",
        error(&unknown)
    );
    let twice = TEXT.replace(
        "Creating Thread: 1 (\"OMP thread 1\" <1>), Generation Number: 1\nENTER ",
        "Creating Thread: 0 (\"Master thread\" <0>), Generation Number: 2\nENTER ",
    );
    assert!(error(&twice).contains("two threads"), "{}", error(&twice));
    let none = error("=== OTF2-PRINT ===\n");
    assert!(none.contains("no events"), "{none}");
    let options = OpenOptions {
        allow_truncated: true,
        ..OpenOptions::default()
    };
    let dag = read(Path::new("run.txt"), broken.as_bytes(), &options).unwrap();
    let warnings = dag.meta.warnings.join("\n");
    assert!(warnings.contains("damaged"), "{warnings}");
}
