//! Measured and predicted speedups as text, as numbers and as a figure.

use workspan_analysis::scale::{
    BareRuns, Logical, RecordedRun, Remark, Runs, Scale, SimulatedRuns, scale,
};
use workspan_export::plot;
use workspan_export::{CompareOptions, ScaleView, scale_csv, scale_json, scale_text};

fn view(scale: &Scale) -> ScaleView<'_> {
    ScaleView {
        program: "sort".into(),
        command: "./sort 1000".into(),
        stretch: "workspan stretch -- ./sort 1000".into(),
        bandwidth: "workspan bandwidth -- ./sort 1000".into(),
        report: "workspan record -- ./sort 1000".into(),
        section: None,
        scale,
        region: None,
        ticks_per_second: 0,
        burden: 0,
        policy: Some("help-first".into()),
        seeds: 3,
        pinned: true,
        cpus: vec![0, 1],
        unrecorded: None,
        kept_folder: Some("runs".into()),
    }
}

/// MODEL.md §8, example C, with its counts of instructions.
fn cilkview() -> Scale {
    scale(Runs {
        cpus: 2,
        logical: Some(Logical {
            work: 5_570_609_776,
            span: 261_374_874,
            burdened_span: 262_078_779,
            spawns: 8_518_398,
            syncs: 8_518_398,
            ..Logical::default()
        }),
        also: vec![2, 4, 8, 16, 32],
        ..Runs::default()
    })
}

fn measured() -> Scale {
    let times = |workers, times: [u64; 3]| BareRuns {
        workers,
        times: times.map(|ms| ms * 1_000_000).to_vec(),
    };
    let recorded = |workers: u32, work: f64| RecordedRun {
        asked: workers,
        workers,
        tasks: 9,
        work,
        descheduled: 0.0,
        blocked: 0.0,
        delay: 0.0,
    };
    scale(Runs {
        cpus: 2,
        bare: vec![
            times(1, [1200, 1210, 1190]),
            times(2, [1000, 1010, 990]),
            times(4, [980, 1100, 990]),
        ],
        logical: Some(Logical {
            work: 1000,
            span: 10,
            burdened_span: 20,
            spawns: 4,
            syncs: 4,
            ..Logical::default()
        }),
        recorded: vec![recorded(2, 1.5e9), recorded(1, 1.0e9)],
        simulated: vec![SimulatedRuns {
            workers: 2,
            mean: 1.98,
            least: 1.97,
            most: 1.99,
        }],
        also: vec![8],
    })
}

fn text(scale: &Scale) -> String {
    scale_text(&view(scale), &CompareOptions::default())
}

#[test]
fn cilkviews_table_comes_out_of_the_same_code() {
    let of = cilkview();
    let text = text(&of);
    for (workers, lower, upper) in [
        ("2*", "1.85", "2.00"),
        ("4*", "3.23", "4.00"),
        ("8*", "5.13", "8.00"),
        ("16*", "7.27", "16.00"),
        ("32*", "9.20", "21.31"),
    ] {
        let words = |line: &str| -> Vec<String> {
            line.split_whitespace().map(ToOwned::to_owned).collect()
        };
        let number = workers.trim_end_matches('*');
        let row = text
            .lines()
            .map(words)
            .find(|w| w.first().is_some_and(|w| w.trim_end_matches('*') == number));
        let row = row.unwrap_or_else(|| panic!("{workers} in {text}"));
        assert_eq!(row[1..], [lower, upper], "{text}");
    }
    let joined: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "parallelism 21.31",
        "burdened 21.26",
        "8,518,398 spawns",
        "average maximal strand 218",
    ] {
        assert!(joined.contains(part), "{part} in {joined}");
    }
}

#[test]
fn what_is_said_names_the_next_command() {
    let of = measured();
    let text: String = text(&of).split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "On 2 workers it is slower than the lower bound",
        "took 1.50 times as long",
        "workspan stretch -- ./sort 1000",
        "workspan bandwidth -- ./sort 1000",
        "* 4 workers shared 2 CPUs",
        "workspan view runs/*.wspan",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let json: serde_json::Value = serde_json::from_str(&scale_json(&view(&of))).unwrap();
    assert_eq!(json["remarks"][0]["kind"], "below");
    assert_eq!(json["remarks"][0]["reason"], "stretch");
    assert_eq!(json["points"][1]["measured"]["median_ns"], 1_000_000_000u64);
    assert_eq!(json["points"][1]["simulated"]["speedup"], 1.98);
    assert_eq!(json["points"][3]["measured"], serde_json::Value::Null);
    assert!(matches!(of.remarks[0], Remark::Below { .. }));
}

/// Every format has the same numbers.
#[test]
fn the_figure_and_the_table_hold_what_was_measured_and_predicted() {
    let of = measured();
    let csv = scale_csv(&of);
    let rows: Vec<Vec<&str>> = csv.lines().map(|l| l.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|n| *n == name).unwrap();
    assert!(rows.iter().all(|r| r.len() == rows[0].len()), "{csv}");
    assert_eq!(rows.len(), 5);
    assert_eq!(rows[2][column("elapsed_ns")], "1000000000");
    assert_eq!(rows[2][column("speedup")], "1.200000");
    assert_eq!(rows[2][column("simulated")], "1.980000");
    assert_eq!(rows[4][column("elapsed_ns")], "");
    let figure = plot::scale("sort", &of);
    let drawn = plot::csv(&figure);
    for line in [
        "measured,2,1.2",
        "simulated,2,1.98",
        "at most,2,2",
        "linear,8,8",
    ] {
        assert!(drawn.contains(&format!("{line}\r\n")), "{line} in {drawn}");
    }
    let svg = plot::svg(&figure, &plot::Page::with_size(640.0, 400.0));
    for word in ["measured", "simulated", "at least", "at most"] {
        assert!(svg.contains(word), "{word}");
    }
    assert!(plot::gnuplot(&figure).contains("set logscale x 2"));
}
