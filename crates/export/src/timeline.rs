//! Draws a range of the run in characters: one row per thread, with rows of busy workers and ready
//! strands below.

use workspan_analysis::{BinnedTimeline, ThreadTrack};
use workspan_dag::Dag;

use crate::Charset;
use crate::page::{Page, Piece, Tone, columns, plain, strong};
use crate::position::site_cell;
use crate::quantity::{ratio, time};
use crate::text::busy_strip::{level, levels};

/// The content of the cells of a thread's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cells {
    /// The share of the time in which the thread worked.
    #[default]
    Load,
    /// The site whose strands ran longest, as a letter.
    Site,
}

/// The format of the timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineOptions {
    /// Number of columns of a line, at least 60.
    pub width: usize,
    /// ANSI colours.
    pub color: bool,
    /// The characters that may be used.
    pub charset: Charset,
    /// The content of the cells.
    pub cells: Cells,
}

/// Number of columns of the names before the cells; the next constant is that of the numbers after
/// them.
const NAME_COLUMNS: usize = 12;
const NUMBER_COLUMNS: usize = 10;

/// Number of columns of cells that fit into `width`, which is the number of bins to use.
pub fn timeline_bins(width: usize) -> usize {
    width.max(60) - NAME_COLUMNS - NUMBER_COLUMNS - 2
}

/// The timeline of `timeline`, which has at most [`timeline_bins`] bins.
pub fn timeline_text(dag: &Dag, timeline: &BinnedTimeline, options: &TimelineOptions) -> String {
    let mut page = Page::new(options.width, options.color, options.charset);
    let name = dag.meta.name.as_deref().filter(|n| !n.is_empty());
    let begin = dag.strands.start.iter().copied().min().unwrap_or(0);
    let at = |t: u64| time(&dag.meta, t.saturating_sub(begin) as f64);
    let bins = timeline.running.len();
    if bins == 0 {
        page.line(&[plain("  Nothing ran in this range.")]);
        return page.finish();
    }
    let column = (timeline.to - timeline.from) as f64 / bins as f64;
    page.line(&[
        plain("  "),
        strong(name.unwrap_or("program")),
        plain(format!(
            "  {} to {}, {} per column",
            at(timeline.from),
            at(timeline.to),
            time(&dag.meta, column)
        )),
    ]);
    page.blank();
    let workers = f64::from(dag.meta.workers.max(1));
    strip(&mut page, "busy", &timeline.busy, workers, Tone::Bar);
    let most = timeline.ready.iter().copied().fold(0.0, f64::max);
    strip(&mut page, "ready", &timeline.ready, most, Tone::Bad);
    page.blank();
    let unread = unread_bin(dag, timeline);
    for track in &timeline.threads {
        let kind = if dag.is_worker(track.thread) {
            "worker"
        } else {
            "thread"
        };
        let mut pieces = vec![plain(row_name(&format!("{kind} {}", track.thread)))];
        let own = unread.filter(|_| dag.is_worker(track.thread));
        pieces.extend(cells(&page, timeline, track, (options.cells, own)));
        let least = if own.is_some() { ">=" } else { "" };
        pieces.push(plain(format!("  {least}{:.0} %", track.busy * 100.0)));
        page.line(&pieces);
    }
    if timeline.more_threads > 0 {
        let text = format!("  {} more threads", timeline.more_threads);
        page.line(&[(Tone::Faint, text)]);
    }
    axis(&mut page, bins, &at(timeline.from), &at(timeline.to));
    page.blank();
    legend(dag, &mut page, timeline, options.cells);
    page.finish()
}

/// The first bin of which all lies behind the first record that is missing, in a trace that could
/// be read in part.
fn unread_bin(dag: &Dag, timeline: &BinnedTimeline) -> Option<usize> {
    let bins = timeline.running.len() as u128;
    let length = u128::from(timeline.to - timeline.from).max(1);
    let from = u128::from(dag.unread_from()?.saturating_sub(timeline.from));
    let bin = (from * bins).div_ceil(length);
    (bin < bins).then_some(bin as usize)
}

fn row_name(name: &str) -> String {
    format!("  {name:<w$}", w = NAME_COLUMNS - 2)
}

/// A row of characters, each as high as its share of `full`, followed by the mean.
fn strip(page: &mut Page, name: &str, values: &[f64], full: f64, tone: Tone) {
    let levels = levels(page);
    let share_of = |v: f64, full: f64| if full > 0.0 { v / full } else { 0.0 };
    let marks: String = values
        .iter()
        .map(|&v| level(share_of(v, full), levels))
        .collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    page.line(&[
        plain(row_name(name)),
        (tone, marks),
        plain(format!("  {}", ratio(mean))),
    ]);
}

/// A thread's cells; neighbours of one tone are combined. From bin `unread` on, cells without a
/// strand are not known.
fn cells(
    page: &Page,
    timeline: &BinnedTimeline,
    track: &ThreadTrack,
    (what, unread): (Cells, Option<usize>),
) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for bin in 0..track.working.len() {
        let inside = track.working[bin] + track.descheduled[bin] + track.blocked[bin];
        let (tone, mark) = match unread {
            Some(first) if bin >= first && inside == 0.0 => (Tone::Faint, '?'),
            _ => cell(page, timeline, track, what, bin),
        };
        match pieces.last_mut() {
            Some((last, text)) if *last == tone => text.push(mark),
            _ => pieces.push((tone, mark.to_string())),
        }
    }
    pieces
}

fn cell(
    page: &Page,
    timeline: &BinnedTimeline,
    track: &ThreadTrack,
    what: Cells,
    bin: usize,
) -> (Tone, char) {
    let working = track.working[bin];
    let off = track.descheduled[bin] + track.blocked[bin];
    if off > working {
        let mark = if track.descheduled[bin] >= track.blocked[bin] {
            'd'
        } else {
            'b'
        };
        return (Tone::Bad, mark);
    }
    match (what, track.site[bin]) {
        (Cells::Site, Some(site)) if working > 0.0 => {
            let rank = timeline.sites.iter().position(|s| s.0 == site);
            (Tone::Bar, letter(rank))
        }
        (Cells::Site, _) => (Tone::Plain, ' '),
        (Cells::Load, _) => {
            let levels = levels(page);
            (Tone::Bar, level(working, levels))
        }
    }
}

/// Letters for the sites that took longest; D and B have other meanings.
const LETTERS: &str = "ACEFGHIJKLMNOPQRSTUVWXYZ";

fn letter(rank: Option<usize>) -> char {
    rank.and_then(|r| LETTERS.chars().nth(r)).unwrap_or('*')
}

fn axis(page: &mut Page, bins: usize, from: &str, to: &str) {
    let gap = bins.saturating_sub(columns(from) + columns(to)).max(1);
    let text = format!("{}{from}{}{to}", " ".repeat(NAME_COLUMNS), " ".repeat(gap));
    page.line(&[(Tone::Faint, text)]);
}

fn legend(dag: &Dag, page: &mut Page, timeline: &BinnedTimeline, what: Cells) {
    let any = |values_of: fn(&ThreadTrack) -> &[f64]| {
        timeline
            .threads
            .iter()
            .any(|l| values_of(l).iter().any(|&v| v > 0.0))
    };
    let mut words = vec!["height: share of the time (busy: of the workers)".to_string()];
    if any(|l| &l.descheduled) {
        words.push("d: mostly descheduled".into());
    }
    if any(|l| &l.blocked) {
        words.push("b: mostly blocked".into());
    }
    if unread_bin(dag, timeline).is_some() {
        words.push("?: not read".into());
    }
    page.prose("  ", 2, &[(Tone::Faint, format!("{}.", words.join("; ")))]);
    if what == Cells::Site {
        for (rank, &(site, ticks)) in timeline.sites.iter().take(LETTERS.len()).enumerate() {
            let width = page.width() - 20;
            page.line(&[
                strong(format!("  {} ", letter(Some(rank)))),
                (Tone::Path, page.fit(&site_cell(dag, site, width), width)),
                plain(format!("{:>12}", time(&dag.meta, ticks as f64))),
            ]);
        }
        if timeline.sites.len() > LETTERS.len() {
            page.line(&[(Tone::Faint, "  * others".to_string())]);
        }
    }
}
