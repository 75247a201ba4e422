//! The comparison as a picture: a bar for each runtime, whose length is the worker time, divided
//! into its parts.

use std::fmt::Write;
use workspan_export::plot::xml_text;

use super::result::{Comparison, Group, PARTS, Row};
use super::table::{lines, time};
use super::verdict;

const WIDTH: u32 = 900;
const LEFT: u32 = 130;
const BARS: u32 = 500;
const LINE: u32 = 24;
/// Approximate number of characters that fit into the width.
const CHARACTERS: usize = 125;

/// Colours of [`PARTS`] on a light background and on a dark one.
pub const COLORS: [(&str, &str); 7] = [
    ("#2f7d4f", "#4fae78"),
    ("#d1495b", "#ec6a7b"),
    ("#e2964a", "#f0ad69"),
    ("#c9ced6", "#525a67"),
    ("#7b61b5", "#a58be0"),
    ("#3d83b8", "#66aee4"),
    ("#8a8f98", "#8e96a3"),
];

/// The whole picture.
pub fn svg(comparison: &Comparison) -> String {
    let mut body = String::new();
    let mut y = 60;
    for (i, (name, _)) in PARTS.iter().enumerate() {
        let x = 16 + 124 * i as u32;
        let _ = write!(
            body,
            "<rect class=\"p{i}\" x=\"{x}\" y=\"34\" width=\"12\" height=\"12\" rx=\"2\"/>"
        );
        words(&mut body, x + 17, 44, "small", &legend(name));
    }
    for group in &comparison.groups {
        y = self::group(&mut body, group, y);
    }
    if let Some(overall) = verdict::overall(comparison) {
        y = paragraph(&mut body, &overall, y + 12);
    }
    let height = y + 16;
    let title = format!(
        "Worker time by runtime, {} CPUs, medians of {} runs",
        comparison.cpus, comparison.repeat
    );
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         role=\"img\" aria-label=\"{}\">\n<style>{}</style>\n<rect class=\"ground\" width=\"{WIDTH}\" height=\"{height}\"/>",
        xml_text(&title),
        style()
    );
    words(&mut out, 16, 22, "title", &title);
    out.push('\n');
    out.push_str(&body);
    out.push_str("</svg>\n");
    out
}

fn legend(name: &str) -> String {
    match name {
        "no_work_sched" => "no work, scheduler".into(),
        "no_work_app" => "no work, program".into(),
        other => other.into(),
    }
}

fn style() -> String {
    let mut light = String::new();
    let mut dark = String::new();
    for (i, colors) in COLORS.iter().enumerate() {
        let _ = write!(light, ".p{i}{{fill:{}}}", colors.0);
        let _ = write!(dark, ".p{i}{{fill:{}}}", colors.1);
    }
    format!(
        "text{{font:13px system-ui,sans-serif;fill:#1c2024}}.small{{font-size:11px}}.title{{font-weight:600;font-size:15px}}\
         .name{{font-weight:600}}.faint{{fill:#5b6470;font-size:12px}}.ground{{fill:#fff}}.none{{fill:none;stroke:#9aa2ad}}{light}\
         @media(prefers-color-scheme:dark){{text{{fill:#e6e9ee}}.faint{{fill:#a3acb8}}.ground{{fill:#15181d}}{dark}}}"
    )
}

/// Draws a group below `y`. Returns its lower end.
fn group(out: &mut String, group: &Group, y: u32) -> u32 {
    let mut y = y + 26;
    words(
        out,
        16,
        y,
        "name",
        &format!(
            "{} {}, {} workers",
            group.kernel.name,
            group.kernel.arguments.join(" "),
            group.workers
        ),
    );
    let longest = group.rows.iter().map(length).max().unwrap_or(0).max(1);
    for row in &group.rows {
        y += LINE;
        words(out, 16, y, "", row.runtime.title());
        let end = bar(out, row, y - 13, longest);
        let speedup = group
            .speedup(row)
            .map_or_else(String::new, |s| format!(", speedup {s:.2}"));
        let overhead = row
            .overhead()
            .map_or_else(String::new, |o| format!(", recorded {:+.1} %", 100.0 * o));
        words(
            out,
            end + 8,
            y,
            "small",
            &format!("{}{speedup}{overhead}", time(row.elapsed())),
        );
    }
    match verdict::sentence(group) {
        Some(sentence) => paragraph(out, &sentence, y),
        None => y,
    }
}

/// Worker time of a row: that of its trace, or an upper bound.
fn length(row: &Row) -> u64 {
    row.trace
        .as_ref()
        .map_or(row.elapsed(), |t| t.parts.total())
}

/// Draws the bar of a row. Returns its lower end.
fn bar(out: &mut String, row: &Row, y: u32, longest: u64) -> u32 {
    let scaled = |ns: u64| (u128::from(ns) * u128::from(BARS) / u128::from(longest)) as u32;
    let Ok(trace) = &row.trace else {
        let width = scaled(length(row)).max(2);
        let _ = write!(
            out,
            "<rect class=\"none\" x=\"{LEFT}\" y=\"{y}\" width=\"{width}\" height=\"16\"/>"
        );
        return LEFT + width;
    };
    let (mut sum, mut x) = (0, 0);
    for (i, part) in trace.parts.list().into_iter().enumerate() {
        sum += part;
        let end = scaled(sum);
        if end > x {
            let _ = write!(
                out,
                "<rect class=\"p{i}\" x=\"{}\" y=\"{y}\" width=\"{}\" height=\"16\"><title>{}: {}</title></rect>",
                LEFT + x,
                end - x,
                legend(PARTS[i].0),
                time(part)
            );
        }
        x = end;
    }
    LEFT + x
}

/// Draws a text on as many lines as it needs. Returns its lower end.
fn paragraph(out: &mut String, text: &str, mut y: u32) -> u32 {
    for line in lines(text, CHARACTERS) {
        y += 17;
        words(out, 16, y, "faint", &line);
    }
    y
}

fn words(out: &mut String, x: u32, y: u32, class: &str, text: &str) {
    let _ = writeln!(
        out,
        "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>",
        xml_text(text)
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::kernels::KERNELS;
    use crate::bench::result::{Parts, Recorded};
    use crate::bench::runtime::Runtime;

    #[test]
    fn a_bar_is_as_long_as_its_parts_and_none_leaves_the_picture() {
        let row = |runtime, work, delay| Row {
            runtime,
            bare: vec![work],
            recorded: vec![work],
            trace: Ok(Recorded {
                parts: Parts {
                    work,
                    delay,
                    ..Parts::default()
                },
                ..Recorded::default()
            }),
        };
        let mut rows = vec![
            row(Runtime::Serial, 100, 0),
            row(Runtime::Libgomp, 300, 100),
        ];
        rows[0].trace = Err("a & b".into());
        let comparison = Comparison {
            groups: vec![Group {
                kernel: KERNELS[0],
                workers: 2,
                rows,
            }],
            ..Comparison::default()
        };
        let picture = svg(&comparison);
        assert!(
            picture.contains("<rect class=\"none\" x=\"130\" y=\"97\" width=\"125\""),
            "{picture}"
        );
        assert!(
            picture.contains("<rect class=\"p0\" x=\"130\" y=\"121\" width=\"375\""),
            "{picture}"
        );
        assert!(
            picture.contains("<rect class=\"p1\" x=\"505\" y=\"121\" width=\"125\""),
            "{picture}"
        );
        assert_eq!(xml_text("a<b>&\"\n"), "a&lt;b&gt;&amp;&quot; ");
    }
}
