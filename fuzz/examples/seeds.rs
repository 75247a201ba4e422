//! Writes the first inputs of the corpus: `cargo run --example seeds`. Inputs that fuzzers found
//! are in the same folders.

use std::path::Path;
use std::{fs, io};

use craft::{INDEX, NEXT_THREAD, trace};
use workspan_trace::entry::push_varint;
use workspan_trace::header::HEADER_SIZE;
use workspan_trace::wire::Kind;

#[path = "../src/craft.rs"]
#[allow(dead_code, reason = "the fuzzers make files of bytes besides")]
mod craft;
#[path = "../../crates/reader/tests/it/dag_file.rs"]
#[allow(dead_code, reason = "some of it is for the tests of the reader")]
mod dag_file;
#[path = "../../crates/trace/tests/it/sample.rs"]
#[allow(clippy::unwrap_used, reason = "written for tests")]
mod sample;

/// The encoded records of a thread, with a time for each; times count from 0.
fn thread(records: &[(u64, Kind, &[u64])]) -> Vec<u8> {
    let (mut out, mut last) = (vec![0], 0);
    for &(t, kind, operands) in records {
        sample::record(&mut out, kind, t - last, operands);
        last = t;
    }
    out
}

/// Runs with a pool of two workers and a join whose first half is stolen; a region of two threads;
/// a task that yields and continues on another thread.
fn runs() -> [(&'static str, Vec<u8>); 5] {
    let main = thread(&[
        (0, Kind::Root, &[]),
        (5, Kind::Pool, &[0, 2]),
        (10, Kind::Yield, &[0]),
        (90, Kind::Resume, &[]),
        (95, Kind::PoolEnd, &[0]),
        (100, Kind::End, &[]),
    ]);
    let first = thread(&[
        (6, Kind::Worker, &[0, 0]),
        (12, Kind::ResumeYielded, &[0, 0]),
        (20, Kind::Join, &[2]),
        (40, Kind::End, &[]),
        (70, Kind::Resume, &[]),
        (80, Kind::Leave, &[0]),
        (94, Kind::WorkerEnd, &[]),
    ]);
    let thief = thread(&[
        (7, Kind::Worker, &[0, 1]),
        (8, Kind::Sleep, &[]),
        (25, Kind::Wake, &[]),
        (26, Kind::Steal, &[2, 0, 1, 0]),
        (30, Kind::Begin, &[1, 0]),
        (33, Kind::Off, &[1, 2]),
        (65, Kind::End, &[]),
        (93, Kind::WorkerEnd, &[]),
    ]);
    let master = thread(&[
        (0, Kind::Root, &[]),
        (10, Kind::Team, &[1]),
        (11, Kind::Member, &[0, 0, 0, 0]),
        (12, Kind::Create, &[1, 2]),
        (12, Kind::Depends, &[0, 1, 1, 2, 4096]),
        (14, Kind::Create, &[1, 2]),
        (14, Kind::Depends, &[0, 2, 1, 1, 4096]),
        (15, Kind::Wait, &[1, 0]),
        (16, Kind::Begin, &[0, 1]),
        (20, Kind::End, &[]),
        (40, Kind::Resume, &[]),
        (41, Kind::End, &[]),
        (42, Kind::Member, &[0, 0, 1, 0]),
        (50, Kind::End, &[]),
        (60, Kind::Resume, &[]),
        (70, Kind::End, &[]),
    ]);
    let other = thread(&[
        (11, Kind::Member, &[0, 0, 0, 1]),
        (21, Kind::Begin, &[0, 2]),
        (39, Kind::End, &[]),
        (41, Kind::End, &[]),
        (42, Kind::Member, &[0, 0, 1, 1]),
        (60, Kind::End, &[]),
    ]);
    let stops = thread(&[
        (0, Kind::Root, &[]),
        (1, Kind::RegionBegin, &[0, 1]),
        (2, Kind::Scope, &[1]),
        (3, Kind::Create, &[5, 3, 0, 0]),
        (4, Kind::Begin, &[0, 1]),
        (6, Kind::Wait, &[0, 3, 1, 7]),
        (8, Kind::Signal, &[1, 7]),
        (9, Kind::Wait, &[2, 1, 0, 0]),
        (30, Kind::Resume, &[]),
        (31, Kind::RegionEnd, &[0]),
        (32, Kind::End, &[]),
    ]);
    let goes_on = thread(&[
        (10, Kind::ResumeStopped, &[0, 7]),
        (20, Kind::Readings, &[1, 1, 500]),
        (20, Kind::End, &[]),
    ]);
    // A part of a run. It begins inside a join whose first half runs, and includes a folded
    // subtree.
    let part = thread(&[
        (3, Kind::Restart, &[7, 2, 1, 3, 2, 1, 0]),
        (5, Kind::Create, &[1, 3]),
        (6, Kind::Skip, &[40, 20]),
        (8, Kind::Create, &[1, 3]),
        (9, Kind::Wait, &[2, 0]),
        (10, Kind::Begin, &[0, 48]),
        (20, Kind::End, &[]),
        (21, Kind::Begin, &[0, 7]),
        (25, Kind::End, &[]),
        (30, Kind::Resume, &[]),
        (31, Kind::EndResume, &[]),
    ]);
    // A subtree that was not recorded, except for a part on another thread; and a sampled subtree.
    let budgeted = thread(&[
        (0, Kind::Root, &[]),
        (10, Kind::SkipBegin, &[2, 1]),
        (90, Kind::SkipEnd, &[]),
        (91, Kind::SampleBegin, &[2, 1]),
        (92, Kind::Join, &[2]),
        (95, Kind::End, &[]),
        (95, Kind::Next, &[]),
        (99, Kind::EndResume, &[]),
        (100, Kind::End, &[]),
    ]);
    let helper = thread(&[
        (5, Kind::Worker, &[0, 1]),
        (20, Kind::StolenPart, &[0, 0, 2]),
        (60, Kind::End, &[]),
        (93, Kind::WorkerEnd, &[]),
    ]);
    let mut every = vec![0];
    every.extend(sample::events());
    [
        ("join", [main, first, thief].join(NEXT_THREAD)),
        ("region", [master, other].join(NEXT_THREAD)),
        ("part", part),
        ("budgeted", [budgeted, helper].join(NEXT_THREAD)),
        ("stops", [stops, goes_on, every].join(NEXT_THREAD)),
    ]
}

const CILKSCALE: &str = "\
tag,work (seconds),span (seconds),parallelism,burdened_span (seconds),burdened_parallelism,2c time (seconds)
sort,3,0.5,6,0.6,5,2
,4,1,4,1.25,3.2,2.5
";
const TASKPROF: &str = "Source file,Line number,Parallelism\nmain,0,8.5,30\n\"a,b.c\",12,3\n";

fn main() -> io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let write = |target: &str, name: &str, bytes: &[u8]| {
        let folder = corpus.join(target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(name), bytes)
    };
    let every = sample::file();
    write("file", "every-kind", &every)?;
    // The first byte is 0 for a finished file and 3 for one that a process left behind. Then come
    // the chunks.
    for (how, name) in [(0, "finished"), (3, "left")] {
        let mut input = vec![how];
        input.extend_from_slice(&every[HEADER_SIZE..]);
        write("recorded", name, &input)?;
    }
    // One index that matches its trace, and one that does not.
    let runs = runs();
    for (name, of, other) in [("same", 0, 0), ("another", 0, 2), ("folded", 4, 4)] {
        let numbers = [20, 4, 12, 70, 1];
        let input = [&runs[of].1, INDEX, &numbers, &runs[other].1].concat();
        write("index", name, &input)?;
    }
    for (name, threads) in runs {
        write("events", name, &threads)?;
        write("report", name, &threads)?;
        let mut input = vec![0];
        input.extend_from_slice(&trace(&threads)[HEADER_SIZE..]);
        write("recorded", name, &input)?;
    }
    write("entries", "events", &sample::events())?;
    write("entries", "payloads", &every[HEADER_SIZE + 64..])?;
    // A thread goes off the CPU and comes back; then a sample with two addresses, and a rate.
    let mut switches = Vec::new();
    for (tid, flags, word) in [(7u32, 1u32, 100u64), (7, 0, 120), (7, 8 | 2 << 8, 130)] {
        switches.extend_from_slice(&tid.to_le_bytes());
        switches.extend_from_slice(&flags.to_le_bytes());
        switches.extend_from_slice(&word.to_le_bytes());
    }
    switches.extend_from_slice(&[1; 16]);
    switches.extend_from_slice(&[0, 0, 0, 0, 16, 0, 0, 0, 0xe5, 3, 0, 0, 0, 0, 0, 0]);
    write("switches", "one-thread", &switches)?;
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/export/tests/golden");
    for name in ["example_a", "buried", "counters_and_off", "hostile_names"] {
        let text = fs::read(golden.join(name).with_extension("jsonl"))?;
        if text.len() < 8 << 10 {
            write("text", name, &text)?;
        }
    }
    let dag = dag_file::file(2, &dag_file::one_child(), &dag_file::EDGES);
    write("formats", "dag-recorder", &dag)?;
    let dag = dag_file::file(2, &dag_file::folded_child(), &[]);
    write("formats", "dag-recorder-folded", &dag)?;
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/reader/tests/it");
    write(
        "formats",
        "woolplot",
        &fs::read(tests.join("woolplot.log"))?,
    )?;
    write(
        "formats",
        "otf2-print",
        &fs::read(tests.join("otf2_print.txt"))?,
    )?;
    write("formats", "cilkscale", CILKSCALE.as_bytes())?;
    write("formats", "taskprof", TASKPROF.as_bytes())?;
    let mut varints = Vec::new();
    for v in [0, 1, 127, 128, 1 << 20, u64::MAX] {
        push_varint(&mut varints, v);
    }
    write("entries", "varints", &varints)
}
