//! Formats tables of results from other tools: TaskProf and Cilkscale.

use serde_json::{Value as Json, json};
use workspan_dag::Meta;
use workspan_reader::cilkscale::Tag;
use workspan_reader::formats::{Format, Table};
use workspan_reader::taskprof::{Profile, Site};

use crate::TextOptions;
use crate::compare::ratio_json;
use crate::json::document;
use crate::page::{Page, Tone, plain, strong};
use crate::quantity::{ratio, share, time};

/// Formats a table as lines of at most `options.width` columns, with at most `options.sites` rows.
pub fn table_text(table: &Table, format: &Format, options: &TextOptions) -> String {
    let mut page = Page::new(options.width, options.color, options.charset);
    page.blank();
    let name = options
        .trace
        .as_ref()
        .map_or("?", |file| file.name.as_str());
    page.prose(
        "  ",
        2,
        &[strong(name.to_owned()), plain(format!(", {}", format.name))],
    );
    page.blank();
    match table {
        Table::Cilkscale(tags) => cilkscale(&mut page, tags, options.sites),
        Table::TaskProf(profile) => taskprof(&mut page, profile, options.sites),
    }
    page.blank();
    for cannot in format.cannot_tell {
        page.prose("  ", 4, &[(Tone::Faint, format!("Not told: {cannot}."))]);
    }
    page.finish()
}

fn cilkscale(page: &mut Page, tags: &[Tag], most: usize) {
    let head = format!(
        "{:>10} {:>10} {:>12} {:>10}  tag",
        "work", "span", "parallelism", "burdened"
    );
    page.line(&[strong(format!("  {head}"))]);
    for tag in tags.iter().rev().take(most.max(1)) {
        let name = match tag.tag.as_str() {
            "" => "(the whole program)",
            name => name,
        };
        let over = |span: f64| {
            if span > 0.0 {
                ratio(tag.work / span)
            } else {
                "-".into()
            }
        };
        let cells = format!(
            "  {:>10} {:>10} {:>12} {:>10}  ",
            seconds(tag.work),
            seconds(tag.span),
            over(tag.span),
            over(tag.burdened_span)
        );
        let room = page.width().saturating_sub(48);
        let name = page.fit(name, room);
        page.line(&[plain(cells), (Tone::Path, name)]);
    }
    more(page, tags.len(), most);
}

fn seconds(value: f64) -> String {
    time(&Meta::default(), value * 1e9)
}

fn taskprof(page: &mut Page, profile: &Profile, most: usize) {
    let (head, sites, is_overhead) = match profile {
        Profile::Parallelism(sites) => ("parallelism", sites, false),
        Profile::Overhead(sites) => ("overhead", sites, true),
        Profile::Regions(regions) => {
            page.line(&[strong("  Regions to make faster".to_owned())]);
            for region in regions.iter().take(most.max(1)) {
                let (start, end) = (&region.start, &region.end);
                let text = format!("    {}:{} to {}:{}", start.0, start.1, end.0, end.1);
                let text = page.fit(&text, page.width());
                page.line(&[(Tone::Path, text)]);
            }
            more(page, regions.len(), most);
            return;
        }
    };
    page.line(&[strong(format!("  {head:>12} {:>10}  site", "critical"))]);
    for site in sites.iter().take(most.max(1)) {
        let value = if is_overhead {
            share(site.value)
        } else {
            ratio(site.value)
        };
        let critical = site.critical_percent.map_or("-".into(), share);
        let room = page.width().saturating_sub(27);
        let name = page.fit(&site_name(site), room);
        page.line(&[
            plain(format!("  {value:>12} {critical:>10}  ")),
            (Tone::Path, name),
        ]);
    }
    more(page, sites.len(), most);
}

fn site_name(site: &Site) -> String {
    match site.line {
        0 => site.file.clone(),
        line => format!("{}:{line}", site.file),
    }
}

fn more(page: &mut Page, all: usize, most: usize) {
    let more = all.saturating_sub(most.max(1));
    if more > 0 {
        page.line(&[(Tone::Faint, format!("  {more} more (--sites N)"))]);
    }
}

/// The table as one JSON object; times are in seconds.
pub fn table_json(table: &Table, format: &Format) -> String {
    let site = |site: &Site, key: &str| {
        json!({
            "file": site.file, "line": site.line, key: ratio_json(site.value),
            "critical_percent": site.critical_percent.map(ratio_json),
        })
    };
    let sites =
        |sites: &[Site], key: &str| -> Json { sites.iter().map(|s| site(s, key)).collect() };
    let (key, rows): (&str, Json) = match table {
        Table::Cilkscale(tags) => ("tags", tags.iter().map(tag_json).collect()),
        Table::TaskProf(Profile::Parallelism(rows)) => ("sites", sites(rows, "parallelism")),
        Table::TaskProf(Profile::Overhead(rows)) => ("sites", sites(rows, "overhead_percent")),
        Table::TaskProf(Profile::Regions(regions)) => {
            let region = |r: &workspan_reader::taskprof::Region| json!({ "start": [r.start.0, r.start.1], "end": [r.end.0, r.end.1] });
            ("regions", regions.iter().map(region).collect())
        }
    };
    document(&json!({
        "workspan_table": 1, "format": format.name, "not_told": format.cannot_tell, key: rows,
    }))
}

fn tag_json(tag: &Tag) -> Json {
    let times = tag.times.iter();
    json!({
        "tag": tag.tag, "work_seconds": ratio_json(tag.work), "span_seconds": ratio_json(tag.span),
        "burdened_span_seconds": ratio_json(tag.burdened_span),
        "times": times.map(|(n, s)| json!({ "workers": n, "seconds": ratio_json(*s) })).collect::<Vec<_>>(),
    })
}
