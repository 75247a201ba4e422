//! The suite as one page of HTML: one row per benchmark with a line for each runtime, and a link to
//! each run's trace.

use std::fmt::Write;

use workspan_export::plot::xml_text;

use super::super::picture::COLORS;
use super::super::result::{PARTS, Parts, median};
use super::super::table::time;
use super::picture;
use super::summary::{Benchmark, MAX_CPU_RATIO, Row, cost};
use super::table::{number, parallelism};

const COLUMNS: [&str; 11] = [
    "benchmark",
    "runtime",
    "elapsed",
    "speedup",
    "loss",
    "work",
    "span",
    "parallelism",
    "where the worker time went",
    "CPU",
    "first finding in the measured part",
];

const NOTE: &str = "Speedup is over the serial elision of the C++ source, by the medians of the bare runs; below it by the slowest and \
                    the fastest. Loss is the share of workers x elapsed that the serial elision would not have taken. CPU is \
                    recorded over bare CPU time of the process at default settings. Work, span, the bar and the finding are \
                    those of the measured part in the fastest recorded run, without input and check (workspan report --only \
                    part:measured FILE); findings about other programs' load are left out. Links lead to that run's \
                    timeline, which shows the measured part first, and to the traces: workspan view FILE opens one, \
                    workspan view FILE FILE compares two.";

/// The whole page.
pub fn html(size: &str, benchmarks: &[Benchmark], about: &[String], warnings: &[String]) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>BOTS and TP-PARSEC, size {size}</title><style>{}</style></head>\n<body>\
         <h1>BOTS and TP-PARSEC, size {size}</h1>\n",
        style()
    );
    for line in about {
        let _ = writeln!(out, "<p class=\"about\">{}</p>", xml_text(line));
    }
    for warning in warnings {
        let _ = writeln!(out, "<p class=\"warning\">{}</p>", xml_text(warning));
    }
    for picture in picture::pictures(benchmarks) {
        out.push_str(&picture.svg);
    }
    if let Some(cost) = cost(benchmarks) {
        let _ = writeln!(out, "<p>{}</p>", xml_text(&cost));
    }
    let _ = writeln!(out, "<p>{}</p>\n<p class=\"legend\">", xml_text(NOTE));
    for (i, (_, what)) in PARTS.iter().enumerate() {
        let _ = write!(
            out,
            "<span><i class=\"p{i}\"></i>{}</span> ",
            xml_text(what)
        );
    }
    out.push_str("</p>\n<table><thead><tr>");
    for column in COLUMNS {
        let _ = write!(out, "<th>{column}</th>");
    }
    out.push_str("</tr></thead>\n");
    for benchmark in benchmarks {
        body(&mut out, benchmark);
    }
    out.push_str("</table>\n</body></html>\n");
    out
}

fn body(out: &mut String, benchmark: &Benchmark) {
    let workers = match benchmark.workers {
        1 => "1 worker".to_owned(),
        n => format!("{n} workers"),
    };
    let _ = write!(
        out,
        "<tbody id=\"{}-{}\">",
        benchmark.program, benchmark.workers
    );
    for (i, row) in benchmark.rows.iter().enumerate() {
        out.push_str("<tr>");
        if i == 0 {
            let _ = write!(
                out,
                "<th rowspan=\"{}\">{}<small>{}<br>{workers}</small></th>",
                benchmark.rows.len(),
                benchmark.program,
                xml_text(benchmark.about)
            );
        }
        line(out, row);
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n");
}

fn line(out: &mut String, row: &Row) {
    let spread = row.spread.filter(|_| row.bare.len() > 1);
    let spread = spread.map_or_else(String::new, |[slow, fast]| {
        format!("<small>{slow:.2} – {fast:.2}</small>")
    });
    let loss = row
        .loss
        .map_or_else(String::new, |loss| format!("{:.0} %", 100.0 * loss));
    let says = row.says.as_ref();
    let of_trace = |ns: Option<u64>| ns.map_or_else(String::new, time);
    let over = row.cpu_ratio.is_some_and(|ratio| ratio > MAX_CPU_RATIO);
    let _ = write!(
        out,
        "<td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}{spread}</td><td class=\"n\">{loss}</td>\
         <td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td>\
         <td class=\"n{}\">{}</td><td>{}{}</td>",
        xml_text(row.title),
        time(median(&row.bare).unwrap_or(0)),
        number(row.speedup, 2),
        of_trace(says.map(|says| says.work)),
        of_trace(says.map(|says| says.span)),
        number(parallelism(row), 1),
        says.map_or_else(String::new, |says| bar(&says.parts)),
        if over { " over" } else { "" },
        number(row.cpu_ratio, 2),
        xml_text(says.map_or(row.silent.as_deref().unwrap_or(""), |says| &says.says)),
        links(row)
    );
}

fn links(row: &Row) -> String {
    let mut out = String::new();
    if let Some(report) = &row.report {
        // The parameter with which the viewer's page shows a range first.
        let window = row.says.as_ref().and_then(|says| says.window);
        let shown = window.map_or_else(String::new, |[from, to]| {
            format!("#v=1&tab=timeline&t={from},{to}")
        });
        let _ = write!(
            out,
            " <a href=\"{}\">open the fastest run</a>",
            xml_text(&format!("{report}{shown}"))
        );
    }
    for (i, trace) in row.traces.iter().enumerate() {
        let what = match i {
            0 => "trace of the fastest run".to_owned(),
            i => (i + 1).to_string(),
        };
        let trace = xml_text(trace);
        let _ = write!(
            out,
            " <a href=\"{trace}\" title=\"workspan view {trace}\">{what}</a>"
        );
    }
    out
}

fn bar(parts: &Parts) -> String {
    let all = parts.total().max(1) as f64;
    let mut out = String::from("<div class=\"bar\">");
    for (i, part) in parts.list().into_iter().enumerate() {
        let percent = 100.0 * part as f64 / all;
        if percent >= 0.1 {
            let what = xml_text(PARTS[i].1);
            let _ = write!(
                out,
                "<i class=\"p{i}\" style=\"width:{percent:.1}%\" title=\"{what}: {percent:.1} %\"></i>"
            );
        }
    }
    out.push_str("</div>");
    out
}

fn style() -> String {
    let (mut light, mut dark) = (String::new(), String::new());
    for (i, (on_light, on_dark)) in COLORS.iter().enumerate() {
        let _ = write!(light, ".p{i}{{background:{on_light}}}");
        let _ = write!(dark, ".p{i}{{background:{on_dark}}}");
    }
    format!(
        ":root{{color-scheme:light dark}}body{{font:14px system-ui,sans-serif;margin:24px;max-width:1500px}}\
         table{{border-collapse:collapse;width:100%}}th,td{{text-align:left;vertical-align:top;padding:4px 8px;white-space:nowrap}}\
         th[rowspan]{{white-space:normal;min-width:130px}}td:last-child{{white-space:normal;overflow-wrap:anywhere;min-width:260px}}\
         tbody{{border-top:1px solid #8886}}th small,td small{{display:block;font-weight:400;opacity:.75}}\
         .n{{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}}.over{{color:#d1495b;font-weight:600}}\
         .bar{{display:flex;width:220px;height:14px}}.bar i{{height:100%}}.about{{margin:2px 0;opacity:.8}}\
         .warning{{font-weight:600}}.legend span{{margin-right:14px;white-space:nowrap}}\
         .legend i{{display:inline-block;width:12px;height:12px;margin-right:5px}}svg{{max-width:100%;height:auto}}{light}\
         @media(prefers-color-scheme:dark){{{dark}}}"
    )
}

#[cfg(test)]
mod tests {
    use super::super::super::result::Recorded;
    use super::*;

    #[test]
    fn names_of_the_program_are_data() {
        let row = Row {
            runtime: "onetbb",
            title: "oneTBB",
            bare: vec![4, 5],
            recorded: vec![5],
            speedup: Some(1.5),
            spread: Some([1.4, 1.6]),
            loss: Some(0.25),
            cpu_ratio: Some(1.4),
            says: Some(Recorded {
                says: "a<b>".into(),
                window: Some([7, 90]),
                ..Recorded::default()
            }),
            silent: None,
            trace: Some("traces/x.wspan".into()),
            traces: vec!["traces/x.wspan".into()],
            report: Some("reports/x.html".into()),
        };
        let benchmarks = [Benchmark {
            program: "fib",
            about: "a tree",
            workers: 2,
            serial: Some(1),
            rows: vec![row],
        }];
        let page = html("test", &benchmarks, &[], &["<i>".into()]);
        assert!(
            page.contains("a&lt;b&gt;") && page.contains("&lt;i&gt;"),
            "{page}"
        );
        assert!(page.contains("href=\"traces/x.wspan\" title="), "{page}");
        let link = "href=\"reports/x.html#v=1&amp;tab=timeline&amp;t=7,90\">";
        assert!(page.contains(link), "{page}");
        assert!(page.contains("class=\"n over\">1.40"), "{page}");
        assert!(page.contains("1.40 – 1.60"), "{page}");
        for tag in ["tr", "td", "th", "table", "div", "svg"] {
            let count = |tag: String| page.matches(&tag).count();
            let opened = count(format!("<{tag}>")) + count(format!("<{tag} "));
            assert_eq!(opened, count(format!("</{tag}>")), "{tag}");
        }
    }
}
