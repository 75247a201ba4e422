//! The report that fits on a screen: at most 30 lines at any width, with everything that a reader
//! needs to act.

use std::path::{Path, PathBuf};

use unicode_width::UnicodeWidthStr;
use workspan_analysis::causes::{Headline, headline};
use workspan_analysis::{Options, Report, report};
use workspan_dag::Dag;
use workspan_export::{Charset, TextOptions, TraceFile, report_text, screen_text};
use workspan_reader::text;

const WIDTHS: [usize; 4] = [60, 80, 120, 200];
const MAX_LINES: usize = 30;

/// All intact text traces of the repository.
fn traces() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folders = [
        "export/tests/golden",
        "analysis/tests/recorded",
        "analysis/tests/statistics",
    ];
    let files = folders.iter().flat_map(|folder| {
        let folder = crates.join(folder);
        std::fs::read_dir(folder)
            .unwrap()
            .map(|f| f.unwrap().path())
    });
    let mut traces: Vec<PathBuf> = files
        .filter(|f| f.extension().is_some_and(|end| end == "jsonl"))
        .collect();
    traces.sort();
    assert!(traces.len() >= 18);
    traces
}

struct Run {
    name: String,
    dag: Dag,
    report: Report,
}

fn read(trace: &Path) -> Run {
    let dag = text::read(&std::fs::read(trace).unwrap()).unwrap();
    let report = report(&dag, &Options::default()).unwrap();
    let name = trace.file_stem().unwrap().to_str().unwrap().to_owned();
    Run { name, dag, report }
}

impl Run {
    fn options(&self, width: usize) -> TextOptions {
        TextOptions {
            width,
            trace: Some(TraceFile {
                name: format!("{}.jsonl", self.name),
                bytes: 12_345,
                options: Vec::new(),
            }),
            ..TextOptions::default()
        }
    }

    fn screen(&self, width: usize) -> String {
        let options = self.options(width);
        screen_text(&self.dag, &self.report, &Options::default(), &options)
    }

    fn long(&self, width: usize) -> String {
        let options = self.options(width);
        report_text(&self.dag, &self.report, &Options::default(), &options)
    }
}

#[test]
fn it_fits_at_every_width_and_so_does_the_long_report() {
    for run in traces().iter().map(|trace| read(trace)) {
        for width in WIDTHS {
            let screen = run.screen(width);
            let (name, lines) = (&run.name, screen.lines().count());
            assert!(
                lines <= MAX_LINES,
                "{name}, {width}: {lines} lines\n{screen}"
            );
            for line in screen.lines().chain(run.long(width).lines()) {
                let columns = line.width();
                assert!(columns <= width, "{name}: {columns} of {width}: {line}");
                assert_eq!(line, line.trim_end(), "{name}: blanks at the end");
            }
        }
        let looks = TextOptions {
            charset: Charset::Unicode,
            color: true,
            ..run.options(80)
        };
        let colored = screen_text(&run.dag, &run.report, &Options::default(), &looks);
        assert!(colored.lines().count() <= MAX_LINES, "{colored}");
    }
}

/// On a narrow terminal, with folders in front of all places and a long origin of a steal's cost,
/// as in the report of a program that was compiled elsewhere.
#[test]
fn long_places_do_not_make_it_longer_than_a_screen() {
    for trace in traces() {
        let mut run = read(&trace);
        for place in &mut run.dag.places {
            if place.line.is_some() {
                let folder = "/home/someone/projects/simulation/";
                place.label = format!("{folder}{}", place.label);
                place.file = place.file.take().map(|file| format!("{folder}{file}"));
            }
        }
        let cost = "GNU OpenMP (libgomp.so.1), the median of 1932 forced";
        run.dag.meta.run.burden_source = Some(cost.into());
        for width in [60, 70, 80] {
            let screen = run.screen(width);
            let lines = screen.lines().count();
            assert!(
                lines <= MAX_LINES,
                "{}, {width}: {lines} lines\n{screen}",
                run.name
            );
        }
    }
}

/// A finding about the program is shown whatever the machine did, with its remedy and gain.
#[test]
fn each_run_with_tasks_has_a_finding_with_remedy_and_gain() {
    for run in traces().iter().map(|trace| read(trace)) {
        if matches!(headline(&run.report), Headline::NoTime | Headline::OneTask) {
            continue;
        }
        for width in WIDTHS {
            let screen = run.screen(width);
            let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
            let count = |what: &str| words.matches(what).count();
            assert!(words.contains(" 1. "), "{}: {screen}", run.name);
            assert!(!words.contains(" 4. "), "{}: {screen}", run.name);
            assert!(
                (1..=3).contains(&count("Remedy: ")),
                "{}: {screen}",
                run.name
            );
            assert_eq!(count("Remedy: "), count("Gain: "), "{}: {screen}", run.name);
            let first = words.split(" 1. ").nth(1).unwrap();
            assert!(
                !first.starts_with("Other programs"),
                "{}: {screen}",
                run.name
            );
        }
    }
}

/// If other programs used the CPUs, their share is shown next to the limit of the program.
#[test]
fn load_does_not_crowd_the_program_out() {
    let mut trace = String::from(
        "{\"workspan_trace\":1,\"workers\":2,\"time_unit\":\"ns\",\"steals\":\"child\",\"cpus\":2}\n",
    );
    trace.push_str(
        r#"{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"create","t":300,"w":0,"task":0,"child":1,"site":"a.rs:3"}
{"ev":"resume","t":300,"w":0,"task":0}
{"ev":"begin","t":300,"w":1,"task":1}
{"ev":"wait","t":310,"w":0,"task":0}
{"ev":"off","t":400,"w":1,"why":"preempted"}
{"ev":"on","t":3400,"w":1}
{"ev":"end","t":3700,"w":1,"task":1}
{"ev":"resume","t":3700,"w":0,"task":0}
{"ev":"end","t":3800,"w":0,"task":0}
"#,
    );
    let dag = text::read(trace.as_bytes()).unwrap();
    let report = report(&dag, &Options::default()).unwrap();
    let load = report.causes.findings().iter().any(|f| f.cause.is_load());
    assert!(load, "{:#?}", report.causes);
    let options = TextOptions {
        width: 100,
        ..TextOptions::default()
    };
    let screen = screen_text(&dag, &report, &Options::default(), &options);
    let program = screen.find("a.rs:3").unwrap();
    let machine = screen.find("used the CPUs").unwrap();
    assert!(program < machine, "{screen}");
}

#[test]
fn a_label_is_not_cut_where_there_is_room() {
    for run in traces().iter().map(|trace| read(trace)) {
        if run.name == "hostile_names" {
            continue;
        }
        let long = run.long(200);
        for line in long.lines() {
            let is_picture = line.contains("Busy over time");
            assert!(is_picture || !line.contains("..."), "{}: {line}", run.name);
        }
        for place in run.dag.places.iter().filter(|p| p.line.is_some()) {
            let is_site = run.report.sites.iter().any(|row| {
                let at = run.dag.places.get(row.site as usize);
                at.is_some_and(|at| at.label == place.label)
            });
            assert!(
                !is_site || long.contains(&place.label),
                "{}: {}",
                run.name,
                place.label
            );
        }
    }
}

#[test]
fn screens_are_as_they_were() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../golden");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let _bound = settings.bind_to_scope();
    for run in traces()
        .iter()
        .filter(|t| t.parent().unwrap().ends_with("golden"))
    {
        let run = read(run);
        insta::assert_snapshot!(format!("{}_screen", run.name), run.screen(100));
    }
}
