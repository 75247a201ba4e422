//! The numbers behind a figure.

use std::fmt::Write;

use super::figure::{Figure, HorizontalAxis, Mark, Scale};

/// `series,x,y` with a heading; for a bar, x is its name.
pub fn csv(figure: &Figure) -> String {
    let mut out = String::from("series,x,y\r\n");
    for series in &figure.series {
        for &(x, y) in &series.points {
            let x = match &figure.horizontal {
                HorizontalAxis::Categories { names, .. } => {
                    names.get(x as usize).cloned().unwrap_or_default()
                }
                HorizontalAxis::Numbers { .. } => number(x),
            };
            let _ = write!(
                out,
                "{},{},{}\r\n",
                csv_field(&series.name),
                csv_field(&x),
                number(y)
            );
        }
    }
    out
}

/// A number with ten digits, which hides rounding errors of unit conversions.
fn number(v: f64) -> String {
    let rounded: f64 = format!("{v:.9e}").parse().unwrap_or(v);
    rounded.to_string()
}

/// A field of a CSV file (RFC 4180), quoted if necessary.
pub fn csv_field(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// A gnuplot script that contains the numbers, for the user to change and run: `gnuplot -p
/// x.gnuplot`.
pub fn gnuplot(figure: &Figure) -> String {
    let mut out = String::from("# Made by workspan plot.\nset encoding utf8\n");
    let _ = writeln!(out, "set title {}", quoted(&figure.title));
    let _ = writeln!(out, "set ylabel {}", quoted(&figure.up));
    out.push_str("set key outside below\nset grid ytics\n");
    match &figure.horizontal {
        HorizontalAxis::Numbers {
            title,
            from,
            to,
            log2,
        } => {
            let _ = writeln!(out, "set xlabel {}", quoted(title));
            if *log2 {
                out.push_str("set logscale x 2\n");
            }
            let _ = writeln!(out, "set xrange [{from}:{to}]");
        }
        HorizontalAxis::Categories { lying, .. } => {
            let style = if *lying { "clustered" } else { "rowstacked" };
            let _ = writeln!(
                out,
                "set style data histograms\nset style histogram {style}\nset boxwidth 0.7 relative\n\
                 set style fill solid\nset xtics rotate by -30"
            );
        }
    }
    if figure.scale == Scale::Log2 {
        out.push_str("set logscale y 2\n");
    } else {
        out.push_str("set yrange [0:*]\n");
    }
    blocks(figure, &mut out);
    out
}

/// Writes one data block for all bars, otherwise one per series. Areas are stacked here, as gnuplot
/// has no such style.
fn blocks(figure: &Figure, out: &mut String) {
    if let HorizontalAxis::Categories { names, .. } = &figure.horizontal {
        out.push_str("$data << EOD\n");
        for (i, name) in names.iter().enumerate() {
            let _ = write!(out, "{}", quoted(name));
            for series in &figure.series {
                let y = series.points.iter().find(|p| p.0 as usize == i);
                let _ = write!(out, " {}", number(y.map_or(0.0, |p| p.1)));
            }
            out.push('\n');
        }
        out.push_str("EOD\nplot ");
        let series = figure.series.iter().enumerate().map(|(i, s)| {
            let ticks = if i == 0 { ":xtic(1)" } else { "" };
            format!(
                "$data using {}{ticks} title {} lc rgb \"#{:06x}\"",
                i + 2,
                quoted(&s.name),
                s.fill.color.0
            )
        });
        let _ = writeln!(out, "{}", series.collect::<Vec<_>>().join(", \\\n  "));
        return;
    }
    let mut below: Vec<f64> = Vec::new();
    let mut plots = Vec::new();
    for (i, series) in figure.series.iter().enumerate() {
        let _ = writeln!(out, "$data{i} << EOD");
        below.resize(below.len().max(series.points.len()), 0.0);
        for (j, &(x, y)) in series.points.iter().enumerate() {
            if series.mark == Mark::Area {
                let low = below[j];
                below[j] += y;
                let (x, low, high) = (number(x), number(low), number(below[j]));
                let _ = writeln!(out, "{x} {low} {high}");
            } else {
                let _ = writeln!(out, "{} {}", number(x), number(y));
            }
        }
        out.push_str("EOD\n");
        let style = match series.mark {
            Mark::Area => "using 1:2:3 with filledcurves",
            Mark::Points => "with points pt 7",
            Mark::Rings => "with points pt 6",
            Mark::Dashed => "with lines dt 2 lw 2",
            Mark::Dotted => "with lines dt 3 lw 2",
            Mark::Line | Mark::Bars => "with lines lw 2",
        };
        plots.push(format!(
            "$data{i} {style} title {} lc rgb \"#{:06x}\"",
            quoted(&series.name),
            series.fill.color.0
        ));
    }
    let _ = writeln!(out, "plot {}", plots.join(", \\\n  "));
}

/// A text in gnuplot's double quotes, without anything that gnuplot would execute or take as
/// markup.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push('\''),
            '\\' | '_' | '^' | '{' | '}' | '@' | '&' => {
                out.push_str("\\\\");
                out.push(c);
            }
            '`' => out.push('\''),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
