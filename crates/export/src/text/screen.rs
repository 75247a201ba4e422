//! The report that fits on a screen: the limit of the program, up to three findings with their
//! remedies, the worker time as one bar, and the bounds.

use workspan_analysis::causes::{Cause, Finding};
use workspan_analysis::{CriticalBlock, Suggestion};
use workspan_dag::ROOT_PLACE;

use super::notes::Notes;
use super::{View, breakdown, findings, headline, scale, standstill};
use crate::page::{Page, Piece, Tone, plain, strong};
use crate::quantity::{percent_of, ratio, share};
use crate::what_if::measuring_options;

/// Maximum number of lines of the report.
pub(super) const MAX_LINES: usize = 30;

/// The level of detail. The long report has everything that is left out.
#[derive(Clone, Copy)]
struct Detail {
    /// Maximum number of findings.
    findings: usize,
    /// Maximum number of findings with a statement about samples.
    samples: usize,
    /// Whether remedy and gain have lines of their own.
    own_lines: bool,
    /// Maximum number of warnings and further sentences.
    notes: usize,
    /// Maximum number of lines of a finding's sentence.
    lines: usize,
    /// Whether the cost of a steal and its origin follow the burdened parallelism.
    steal_cost: bool,
}

/// From the most detailed level to the least. The first one that fits is used.
const DETAILS: [Detail; 13] = [
    detail(3, 3, true, 4, 9),
    detail(3, 3, true, 2, 9),
    detail(3, 1, true, 2, 9),
    detail(3, 1, true, 1, 9),
    detail(3, 1, false, 1, 9),
    detail(3, 1, false, 1, 9).without_steal_cost(),
    detail(2, 1, true, 1, 9).without_steal_cost(),
    detail(2, 1, false, 1, 9).without_steal_cost(),
    detail(1, 1, true, 1, 9).without_steal_cost(),
    detail(1, 1, false, 1, 6).without_steal_cost(),
    detail(1, 0, false, 0, 4).without_steal_cost(),
    detail(1, 0, false, 0, 3).without_steal_cost(),
    detail(1, 0, false, 0, 2).without_steal_cost(),
];

const fn detail(
    findings: usize,
    samples: usize,
    own_lines: bool,
    notes: usize,
    lines: usize,
) -> Detail {
    Detail {
        findings,
        samples,
        own_lines,
        notes,
        lines,
        steal_cost: true,
    }
}

impl Detail {
    const fn without_steal_cost(self) -> Detail {
        Detail {
            steal_cost: false,
            ..self
        }
    }
}

/// The report in at most [`MAX_LINES`] lines.
pub(super) fn text(view: &View) -> String {
    let mut shown = String::new();
    for detail in DETAILS {
        let page = page(view, detail);
        let fits = page.lines() <= MAX_LINES;
        shown = page.finish();
        if fits {
            break;
        }
    }
    shown
}

fn page(view: &View, detail: Detail) -> Page {
    let options = view.options;
    let mut page = Page::new(options.width, options.color, options.charset);
    headline::title(view, &mut page);
    let opening = headline::opening(view);
    page.prose_at_most(5, "  ", 2, &opening.verdict);
    if view.report.standstill.is_some() {
        page.blank();
        standstill::show(view, &mut page, "  ! ");
    }
    let items = items(view);
    if !items.is_empty() {
        page.blank();
    }
    for (number, item) in items.iter().take(detail.findings).enumerate() {
        show(view, &mut page, number + 1, item, detail);
    }
    page.blank();
    if view.report.breakdown.elapsed() > 0 {
        breakdown::bar(view, &mut page);
        scale::work_and_span(view, &mut page, detail.steal_cost);
    }
    if view.report.work_span.work > 0 {
        scale::bound_rows(view, &mut page);
    }
    let warnings = Notes::new(view.report).rest().into_iter();
    let warnings = warnings.map(|w| ("  ! ", vec![(Tone::Bad, w.text)]));
    let more = opening.more.into_iter().map(|words| ("  > ", words));
    let notes: Vec<(&str, Vec<Piece>)> = warnings.chain(more).collect();
    for (mark, words) in notes.iter().take(detail.notes) {
        page.prose_at_most(3, mark, 4, words);
    }
    let hidden = [
        (items.len().saturating_sub(detail.findings), "finding"),
        (notes.len().saturating_sub(detail.notes), "note"),
    ];
    more_in_the_long_report(view, &mut page, &hidden);
    page
}

/// A finding on the screen.
enum Item<'a> {
    /// One of the causes, with its index among the findings.
    Cause(usize, &'a Finding),
    /// The largest part of the critical path, for a run whose findings are about the machine, or
    /// that lost nothing.
    Critical(usize, &'a CriticalBlock),
}

/// Items about the program come before those about the machine.
fn items<'a>(view: &View<'a>) -> Vec<Item<'a>> {
    let report = view.report;
    if report.breakdown.elapsed() == 0 || report.work_span.tasks <= 1 {
        return Vec::new();
    }
    let found = report.causes.findings_program_first();
    let mut items: Vec<Item> = found
        .iter()
        .map(|&(number, finding)| Item::Cause(number, finding))
        .collect();
    if let Some(block) = report.suggestion_without_findings() {
        let program = found.iter().take_while(|(_, f)| !f.cause.is_load());
        items.insert(program.count(), Item::Critical(found.len(), block));
    }
    items
}

fn show(view: &View, page: &mut Page, number: usize, item: &Item, detail: Detail) {
    let mut what = match item {
        Item::Cause(_, finding) => lost(view, finding, number <= detail.samples),
        Item::Critical(_, block) => critical(view, block),
    };
    let number = format!("  {number}. ");
    let [remedy, gain] = match item {
        Item::Cause(index, finding) => [
            vec![plain(findings::words(view, finding).advice)],
            cause_gain(view, finding, *index),
        ],
        Item::Critical(index, block) => [
            critical_remedy(view, block),
            critical_gain(view, block, *index),
        ],
    };
    let remedy = [strong("Remedy: ")].into_iter().chain(remedy);
    let gain = [strong("Gain: ")].into_iter().chain(gain);
    if detail.own_lines {
        page.prose_at_most(detail.lines, &number, 5, &what);
        page.prose_at_most(detail.lines, "     ", 5, &remedy.collect::<Vec<_>>());
        page.prose_at_most(detail.lines, "     ", 5, &gain.collect::<Vec<_>>());
    } else {
        what.push(plain(" "));
        what.extend(remedy);
        what.push(plain(" "));
        what.extend(gain);
        page.prose_at_most(3 * detail.lines, &number, 5, &what);
    }
}

/// What happened and where, and its share of the loss.
fn lost(view: &View, finding: &Finding, samples: bool) -> Vec<Piece> {
    let opening = findings::words(view, finding);
    let mut words = opening.what;
    words.push(strong(format!(": {} of the lost time.", opening.share)));
    if samples && !opening.code.is_empty() {
        words.push(plain(" "));
        words.extend(opening.code);
    }
    words
}

/// The gain from using the lost time, and the gain from faster code.
fn cause_gain(view: &View, finding: &Finding, index: usize) -> Vec<Piece> {
    let gain = view.report.elapsed_gain(view.dag, finding);
    let elapsed = view.report.breakdown.elapsed();
    let least = view.report.least_elapsed(view.dag);
    let cpus = view.dag.meta.cpus;
    let cpus = cpus.filter(|&cpus| cpus < view.report.breakdown.workers && gain == elapsed - least);
    let alone = cpus.map(|cpus| {
        let cpus = match cpus {
            0 | 1 => "one CPU".to_owned(),
            cpus => format!("{cpus} CPUs"),
        };
        format!(
            "its work alone takes {} on {cpus}.",
            view.time(least as f64)
        )
    });
    let is_small = gain < elapsed / 100;
    let mut words = vec![plain(match alone {
        _ if is_small && finding.cause == Cause::Oversubscribed => {
            "none: the CPUs ran other threads meanwhile.".to_owned()
        }
        Some(alone) if gain == 0 => format!("none here: {alone}"),
        alone => format!(
            "without this loss the run would take {} ({}) less.{}",
            view.time(gain as f64),
            share(percent_of(gain.into(), elapsed.into())),
            alone.map_or(String::new(), |alone| format!(
                " {}",
                findings::capital(&alone)
            ))
        ),
    })];
    if let Some(suggestion) = suggested(view, index) {
        words.push(plain(" "));
        words.extend(findings::faster(view, suggestion));
    }
    words
}

fn suggested<'a>(view: &View<'a>, index: usize) -> Option<&'a Suggestion> {
    let suggestion = view.report.suggestion.as_ref();
    suggestion.filter(|s| s.finding == index)
}

fn critical(view: &View, block: &CriticalBlock) -> Vec<Piece> {
    let many = block.strands > 1;
    let mut words = findings::block(view, &block.block, many);
    if let Some(first) = words.first_mut() {
        first.1 = findings::capital(&first.1);
    }
    let is = match many && block.block.site != ROOT_PLACE {
        true => " are ",
        false => " is ",
    };
    let parallelism = ratio(view.report.work_span.parallelism());
    words.push(plain(is));
    words.push(strong(share(block.percent())));
    words.push(plain(match block.is_enough {
        false => format!(" of the critical path, which limits the parallelism to {parallelism}."),
        true => format!(
            " of the critical path. The parallelism of {parallelism} is enough for {}.",
            headline::workers(view.report.breakdown.workers)
        ),
    }));
    words
}

fn critical_remedy(view: &View, block: &CriticalBlock) -> Vec<Piece> {
    let workers = headline::workers(view.report.breakdown.workers);
    vec![plain(match block.is_enough {
        true if view.report.work_span.limits.shares.is_some() => {
            format!("Leave it unchanged for {workers}; divide it among more threads to use more.")
        }
        true => format!("Leave it unchanged for {workers}; make it shorter to use more."),
        false => "Make it parallel or shorter, or overlap it with other work.".into(),
    })]
}

fn critical_gain(view: &View, block: &CriticalBlock, index: usize) -> Vec<Piece> {
    if let Some(suggestion) = suggested(view, index) {
        return findings::faster(view, suggestion);
    }
    let longest = view.amount(block.critical as f64);
    let span = view.amount(block.span as f64);
    vec![plain(format!(
        "without it the span of {span} would be at most {longest} shorter."
    ))]
}

/// Says what was left out, and which commands show more.
fn more_in_the_long_report(view: &View, page: &mut Page, hidden: &[(usize, &str)]) {
    let trace = view.options.trace.as_ref();
    let file = trace.map_or("FILE", |trace| trace.name.as_str());
    let options = trace.iter().flat_map(|trace| trace.options.clone());
    let options = options.chain(measuring_options(view.dag, view.measured));
    let options: String = options.map(|option| format!("{option} ")).collect();
    let hidden: Vec<String> = hidden
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{n} more {what}{}", if *n == 1 { "" } else { "s" }))
        .collect();
    let hidden = match hidden.is_empty() {
        true => "All tables".to_owned(),
        false => format!("{}, all tables", hidden.join(", ")),
    };
    let text = format!(
        "{hidden}: workspan report --long {options}{file}. Timeline and DAG: workspan view {file}. \
         A term: workspan help TERM."
    );
    page.prose_at_most(4, "  ", 2, &[(Tone::Faint, text)]);
}
