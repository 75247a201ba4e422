//! Measures a run of ten million tasks. It prints the measurements and asserts nothing about them.
//! `cargo test --release -p workspan-view --test it pictures::bench::ten_million -- --ignored
//! --nocapture`

use std::time::Instant;

use workspan_view::session::Settings;
use workspan_view::{Session, answer};

use crate::pictures::look::{tiles, top_level};
use crate::pictures::runs::{Shape, make};

/// Resident memory of this process in MB, from proc(5) status.
fn resident(what: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix(what));
    let kb = line.and_then(|l| l.trim_start_matches(':').split_whitespace().next());
    kb.and_then(|n| n.parse::<u64>().ok()).unwrap_or(0) / 1024
}

#[test]
#[ignore = "takes 5 GB and a minute"]
fn ten_million_tasks() {
    let depth = std::env::var("WORKSPAN_DEPTH").map_or(22, |depth| depth.parse().unwrap_or(22));
    let shape = Shape {
        workers: 8,
        threads: 8,
        depth,
        offs: false,
        ..Shape::default()
    };
    let dag = make(1, shape);
    println!(
        "{} tasks, {} strands: {} MB",
        dag.tasks.len(),
        dag.strands.len(),
        resident("VmRSS")
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large.jsonl");
    if std::env::var_os("WORKSPAN_FROM_FILE").is_some() {
        let out = std::fs::File::create(&file).unwrap();
        workspan_reader::text::write(&dag, &mut std::io::BufWriter::new(out)).unwrap();
        let (start, session) = (
            Instant::now(),
            Session::new(&[file], Settings::default()).unwrap(),
        );
        session.load();
        println!("text trace to report: {:.2?}", start.elapsed());
        return;
    }
    let start = Instant::now();
    let session = Session::of_dag("large".into(), dag, Settings::default()).unwrap();
    println!(
        "measuring, pyramid, report: {:.2?}; {} MB now, {} MB at most",
        start.elapsed(),
        resident("VmRSS"),
        resident("VmHWM")
    );
    for what in ["rows", "profile", "strands", "arcs", "path", "dag"] {
        let mut line = format!("{what}:");
        for level in (0..=top_level(&session)).rev() {
            let count = tiles(&session, level);
            let mut worst = 0.0f64;
            for index in [0, count / 3, count / 2, count - 1] {
                let url = match what {
                    "dag" if level == 0 => "api/v1/dag?run=a&ids=r".to_owned(),
                    "dag" => continue,
                    "path" => format!("api/v1/path?run=a&kind=ready&level={level}&index={index}"),
                    _ => format!("api/v1/{what}?run=a&level={level}&index={index}"),
                };
                let start = Instant::now();
                let reply = answer(&session, &url).unwrap();
                worst = worst.max(start.elapsed().as_secs_f64() * 1e3);
                assert!(!reply.bytes().is_empty());
            }
            line += &format!(" {worst:.1}");
        }
        println!("{line} ms by level, the whole run first");
    }
    println!("{} MB with the DAG's nodes", resident("VmRSS"));
}
