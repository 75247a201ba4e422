//! The timeline in characters, and figures as SVG, PNG, CSV and gnuplot scripts. The texts are
//! under `runs/`.

use std::path::Path;

use workspan_analysis::{Options, Report, binned_timeline, report};
use workspan_dag::Dag;
use workspan_export::plot::{self, Figure, Page, PlotRun};
use workspan_export::{Cells, Charset, TimelineOptions, timeline_bins, timeline_text};
use workspan_reader::OpenOptions;

const TRACES: [&str; 9] = [
    "example_a",
    "serial_merge",
    "balanced",
    "counters_and_off",
    "hostile_names",
    "near_2_63",
    "no_time",
    "one_task",
    "buried",
];

fn read(name: &str) -> (Dag, Report) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(format!("{name}.jsonl"));
    let dag = workspan_reader::open(&path, &OpenOptions::default()).unwrap();
    let report = report(&dag, &Options::default()).unwrap();
    (dag, report)
}

fn run<'a>(name: &str, (dag, report): &'a (Dag, Report)) -> PlotRun<'a> {
    PlotRun {
        name: name.into(),
        dag,
        report,
    }
}

fn figures(read: &(Dag, Report)) -> [Figure; 4] {
    let runs = [run("first", read), run("second", read)];
    [
        plot::breakdown(&runs, false),
        plot::profile(&runs[0]),
        plot::speedup(&runs),
        plot::sites(&runs[0], 12),
    ]
}

fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../runs");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

fn timeline(name: &str, charset: Charset, cells: Cells, color: bool) -> String {
    let (dag, _) = read(name);
    let timeline = binned_timeline(&dag, (0, u64::MAX), timeline_bins(80));
    let options = TimelineOptions {
        width: 80,
        color,
        charset,
        cells,
    };
    timeline_text(&dag, &timeline, &options)
}

#[test]
fn timelines_are_as_they_were() {
    snapshot(
        "timeline_load",
        &timeline("serial_merge", Charset::Unicode, Cells::Load, false),
    );
    snapshot(
        "timeline_site",
        &timeline("counters_and_off", Charset::Ascii, Cells::Site, false),
    );
}

#[test]
fn a_timeline_keeps_to_its_width_and_never_steers_the_terminal() {
    for name in TRACES {
        for charset in [Charset::Unicode, Charset::Ascii, Charset::Strict] {
            for cells in [Cells::Load, Cells::Site] {
                let text = timeline(name, charset, cells, false);
                let wide = text.lines().find(|l| l.chars().count() > 80);
                assert_eq!(wide, None, "{name}:\n{text}");
                assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{name}");
                if charset == Charset::Strict {
                    assert!(text.is_ascii(), "{name}:\n{text}");
                }
            }
        }
    }
    assert!(timeline("serial_merge", Charset::Ascii, Cells::Load, true).contains('\u{1b}'));
}

/// The merge of `serial_merge` runs alone in the last two thirds: one worker's row is full there,
/// the others' are empty.
#[test]
fn a_timeline_shows_who_ran() {
    let (dag, _) = read("serial_merge");
    let end = dag.strands.end.iter().copied().max().unwrap();
    let timeline = binned_timeline(&dag, (end - 1000, end), 10);
    let full: Vec<usize> = (0..timeline.threads.len())
        .filter(|&i| timeline.threads[i].working.iter().all(|&v| v == 1.0))
        .collect();
    assert_eq!(full.len(), 1);
    assert_eq!(timeline.running, [1.0; 10]);
    let others = timeline
        .threads
        .iter()
        .enumerate()
        .filter(|(i, _)| *i != full[0]);
    assert!(
        others
            .into_iter()
            .all(|(_, l)| l.working.iter().all(|&v| v == 0.0))
    );
}

#[test]
fn figures_are_whole_for_every_trace() {
    for name in TRACES {
        let read = read(name);
        for figure in figures(&read) {
            let svg = plot::svg(&figure, &Page::with_size(640.0, 400.0));
            for (open, close) in [("<text", "</text>"), ("<svg", "</svg>")] {
                assert_eq!(
                    svg.matches(open).count(),
                    svg.matches(close).count(),
                    "{name}"
                );
            }
            assert!(
                !svg.contains("NaN") && !svg.contains("inf"),
                "{name}: {svg}"
            );
            assert!(!svg.chars().any(|c| c.is_control() && c != '\n'), "{name}");
            let png = plot::png(&figure, &Page::with_size(300.0, 200.0), 1.0).unwrap();
            assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n", "{name}");
            assert!(plot::csv(&figure).starts_with("series,x,y\r\n"), "{name}");
            assert!(plot::gnuplot(&figure).contains("plot "), "{name}");
        }
    }
}

#[test]
fn a_bar_is_the_breakdown() {
    let read = read("example_a");
    let figure = plot::breakdown(&[run("a", &read)], false);
    assert_eq!(
        plot::csv(&figure),
        "series,x,y\r\nwork,a,175\r\ndelay,a,2\r\n\"no work, program\",a,113\r\n"
    );
    // 175 of 290 ns, in a bar whose scale is its own top.
    let svg = plot::svg(&figure, &Page::with_size(640.0, 400.0));
    let heights: Vec<f64> = svg
        .lines()
        .filter(|l| l.starts_with("<rect") && l.contains("width=\"70\""))
        .map(|l| {
            l.split("height=\"")
                .nth(1)
                .unwrap()
                .split('"')
                .next()
                .unwrap()
                .parse()
                .unwrap()
        })
        .collect();
    assert_eq!(heights.len(), 3);
    let sum: f64 = heights.iter().sum();
    assert!(
        (heights[0] / sum - 175.0 / 290.0).abs() < 0.001,
        "{heights:?}"
    );
}

#[test]
fn the_speedup_figure_takes_a_serial_run_as_the_measure() {
    let (one, mut many) = (read("one_task"), read("serial_merge"));
    many.0.meta.name = one.0.meta.name.clone();
    let csv = plot::csv(&plot::speedup(&[run("many", &many)]));
    assert!(csv.contains("workers busy,4,"), "{csv}");
    let elapsed = |r: &(Dag, Report)| {
        let b = &r.1.breakdown;
        b.elapsed() as f64 / r.0.meta.ticks_per_second as f64
    };
    let csv = plot::csv(&plot::speedup(&[run("many", &many), run("one", &one)]));
    if one.1.breakdown.workers == 1 {
        let line = csv.lines().find(|l| l.starts_with("measured,4,")).unwrap();
        let times: f64 = line.rsplit(',').next().unwrap().parse().unwrap();
        assert!((times / (elapsed(&one) / elapsed(&many)) - 1.0).abs() < 1e-9);
    }
}

/// In greyscale only its dots tell the linear speedup from the dashed lower bound.
#[test]
fn the_lines_of_a_speedup_figure_are_broken_differently() {
    let read = read("serial_merge");
    let svg = plot::svg(&plot::speedup(&[run("a", &read)]), &Page::COLUMN);
    let lines = svg.lines().filter(|line| line.starts_with("<polyline"));
    let strokes: Vec<&str> = lines
        .filter(|line| line.contains("stroke-width=\"1.6\""))
        .map(|line| line.split(" stroke-dasharray=").nth(1).unwrap_or(""))
        .collect();
    for stroke in ["\"1.5,2\"/>", "", "\"5,3\"/>"] {
        // In the figure and in its legend.
        let found = strokes.iter().filter(|s| **s == stroke).count();
        assert_eq!(found, 2, "{stroke}: {svg}");
    }
}

#[test]
fn svg_of_the_profile_is_as_it_was() {
    let read = read("example_a");
    snapshot(
        "profile_svg",
        &plot::svg(
            &plot::profile(&run("a", &read)),
            &Page::with_size(400.0, 240.0),
        ),
    );
    snapshot(
        "sites_gnuplot",
        &plot::gnuplot(&plot::sites(&run("a", &read), 12)),
    );
}

/// Attributes of the shapes of a kind, as numbers.
fn shapes(svg: &str, kind: &str, attributes: &[&str]) -> Vec<Vec<f64>> {
    let lines = svg.lines().filter(|line| line.starts_with(kind));
    let value = |line: &str, name: &&str| {
        let after = line.split(&format!(" {name}=\"")).nth(1)?;
        after.split('"').next()?.parse().ok()
    };
    lines
        .filter_map(|line| attributes.iter().map(|name| value(line, name)).collect())
        .collect()
}

#[test]
fn names_of_points_lie_over_no_other_point() {
    let (one, mut many) = (read("one_task"), read("serial_merge"));
    many.0.meta.name = one.0.meta.name.clone();
    let names = ["a name that takes the room of a second point", "b"];
    let figure = plot::speedup(&[run(names[0], &one), run(names[1], &many)]);
    let svg = plot::svg(&figure, &Page::COLUMN);
    let points = shapes(&svg, "<circle", &["cx", "cy"]);
    assert!(points.len() > 2, "the legend's and two more: {svg}");
    let grounds = shapes(&svg, "<rect", &["x", "y", "width", "height"]);
    for ground in &grounds[1..] {
        let (x, y) = (ground[0], ground[1]);
        let over = |p: &&Vec<f64>| {
            (x..x + ground[2]).contains(&p[0]) && (y..y + ground[3]).contains(&p[1])
        };
        assert_eq!(points.iter().find(over), None, "{svg}");
    }
}

#[test]
fn the_level_of_a_profile_is_named_beside_the_plot() {
    let read = read("serial_merge");
    let svg = plot::svg(
        &plot::profile(&run("a", &read)),
        &Page::with_size(640.0, 400.0),
    );
    let name = svg.lines().find(|line| line.contains("P = ")).unwrap();
    let at = shapes(name, "<text", &["x"])[0][0];
    let level = svg.lines().find(|line| line.contains("stroke-dasharray"));
    let points = level.unwrap().split("points=\"").nth(1).unwrap();
    let ends = points.split('"').next().unwrap().split([' ', ',']);
    let right: f64 = ends.rev().nth(1).unwrap().parse().unwrap();
    assert!((at - right - 4.0).abs() < 0.02, "{at} beside {right}");
}

#[test]
fn a_name_cannot_leave_its_text() {
    let read = read("hostile_names");
    for figure in figures(&read) {
        let svg = plot::svg(&figure, &Page::with_size(640.0, 400.0));
        assert!(
            !svg.contains("<script") && !svg.contains("onload="),
            "{svg}"
        );
        let script = plot::gnuplot(&figure);
        assert!(!script.contains('`'), "{script}");
    }
}

/// The look of a textured figure in SVG and PNG, and its description of the run.
#[test]
fn a_figure_has_the_pages_textures_and_says_its_run() {
    let read = read("serial_merge");
    let svg = plot::svg(
        &plot::profile(&run("a", &read)),
        &Page::with_size(640.0, 400.0),
    );
    assert!(
        svg.contains("fill=\"url(#diagonal-eceef2-b9bfc8)\""),
        "{svg}"
    );
    assert!(svg.contains(">P = 4</text>"), "{svg}");
    assert!(svg.contains(" of 4 workers busy"), "{svg}");
    let (width, column) = (Page::COLUMN.width, Page::COLUMN);
    let small = plot::svg(&plot::breakdown(&[run("a", &read)], true), &column);
    assert!(small.contains(&format!("width=\"{width}\"")), "{small}");
    // Seven points of text: the page has 252 * 11 / 7 units.
    assert!(small.contains("viewBox=\"0 0 396 "), "{small}");
}

/// A long title loses its end, not its beginning.
#[test]
fn a_title_begins_with_its_first_word() {
    let mut read = read("serial_merge");
    read.0.meta.name = Some("long ".repeat(80));
    let svg = plot::svg(
        &plot::profile(&run("a", &read)),
        &Page::with_size(300.0, 200.0),
    );
    assert!(svg.contains(">long long"), "{svg}");
    assert!(svg.contains("…</text>"), "{svg}");
}

/// A simulated run is a ring, and is not compared with a machine's serial run.
#[test]
fn simulated_runs_are_told_from_measured_ones() {
    let (one, mut many) = (read("one_task"), read("serial_merge"));
    many.0.meta.runtime = Some("simulated, help-first".into());
    many.0.meta.name = one.0.meta.name.clone();
    let csv = plot::csv(&plot::speedup(&[run("many", &many), run("one", &one)]));
    assert!(csv.contains("\"workers busy, simulated\",4,"), "{csv}");
    assert!(!csv.contains("measured,4,"), "{csv}");
}
