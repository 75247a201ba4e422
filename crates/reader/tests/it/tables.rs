//! Tables of results: Cilkscale's and TaskProf's CSV.

use std::path::Path;

use workspan_reader::OpenOptions;
use workspan_reader::cilkscale::{self, Tag};
use workspan_reader::formats::{Format, Table, table};
use workspan_reader::open::read;
use workspan_reader::taskprof::{self, Profile, Region, Site};

const CILKSCALE: &str = "\
tag,work (seconds),span (seconds),parallelism,burdened_span (seconds),burdened_parallelism,2c time (seconds),1c time (seconds)
sort,3,0.5,6,0.6,5,2,3.5
,4,1,4,1.25,3.2,2.5,4.5
";

#[test]
fn cilkscale_gives_tags_with_their_times_by_workers() {
    let tags = cilkscale::read(CILKSCALE.as_bytes()).unwrap();
    let whole = Tag {
        tag: String::new(),
        work: 4.0,
        span: 1.0,
        burdened_span: 1.25,
        times: vec![(1, 4.5), (2, 2.5)],
    };
    assert_eq!(tags.len(), 2);
    assert_eq!((tags[0].tag.as_str(), &tags[1]), ("sort", &whole));
}

#[test]
fn taskprof_gives_sites_or_regions() {
    let text = "Source file,Line number,Parallelism\nmain,0,8.5,30\n\"a,b.c\",12,3\n";
    let site = |file: &str, line, value, critical_percent| Site {
        file: file.into(),
        line,
        value,
        critical_percent,
    };
    let sites = vec![
        site("main", 0, 8.5, Some(30.0)),
        site("a,b.c", 12, 3.0, None),
    ];
    let read = |text: &str| taskprof::read(text.as_bytes());
    assert_eq!(read(text).unwrap(), Profile::Parallelism(sites.clone()));
    let overhead = text.replace("Parallelism", "Tasking Overhead Percent");
    assert_eq!(read(&overhead).unwrap(), Profile::Overhead(sites));
    let regions = "Start File, Start Line, End File, End Line\na.c,1,a.c,9\n";
    let region = Region {
        start: ("a.c".into(), 1),
        end: ("a.c".into(), 9),
    };
    assert_eq!(read(regions).unwrap(), Profile::Regions(vec![region]));
}

#[test]
fn damage_is_told_with_its_line() {
    let cilkscale = |from: &str, to: &str| {
        let changed = CILKSCALE.replacen(from, to, 1);
        cilkscale::read(changed.as_bytes()).unwrap_err().to_string()
    };
    let message = cilkscale("sort,3", "sort,inf");
    assert_eq!(
        message,
        "line 2: the work is `inf`; expected a number, not negative"
    );
    assert!(cilkscale("2c time", "2c clock").starts_with("line 1: a column"));
    assert!(cilkscale(",2.5,4.5", ",2.5").starts_with("line 3: 7 cells; expected 8"));
    let head = CILKSCALE.lines().next().unwrap();
    let message = cilkscale::read(head.as_bytes()).unwrap_err().to_string();
    assert!(message.contains("no row after the head"), "{message}");
    let taskprof = |text: &str| taskprof::read(text.as_bytes()).unwrap_err().to_string();
    let message = taskprof("Source file,Line number,Parallelism\nmain,x,1\n");
    assert!(message.starts_with("line 2: a line number"), "{message}");
    let message = taskprof("Source file,Line number,Speed\nmain,0,1\n");
    assert!(message.starts_with("line 1: a third column"), "{message}");
    assert!(taskprof("Start File,x\n\"a").contains("a quote without its end"));
}

#[test]
fn a_table_is_recognised_and_is_not_a_trace() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.csv");
    std::fs::write(&path, CILKSCALE).unwrap();
    let (found, format) = table(&path).unwrap().unwrap();
    assert!(matches!(found, Table::Cilkscale(tags) if tags.len() == 2));
    assert_eq!(format.name, "Cilkscale's CSV");
    let message = read(
        Path::new("x.csv"),
        CILKSCALE.as_bytes(),
        &OpenOptions::default(),
    );
    let message = message.unwrap_err().to_string();
    assert!(
        message.contains("a table of results without a timeline"),
        "{message}"
    );
    assert!(message.contains("`workspan scale --from`"), "{message}");
    assert!(Format::detect(b"tag,work").is_none());
}
