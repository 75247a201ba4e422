//! Formats a what-if profile as lines of text.

use workspan_analysis::{FasterSite, Metric, Outcome};

use super::WhatIfView;
use crate::compare::CompareOptions;
use crate::limits;
use crate::page::{Page, Piece, Tone, plain, strong};
use crate::position::label;
use crate::quantity::{NBSP, amount, ratio, share};
use crate::section::titled;

/// Number of columns of a speedup on some workers.
const BOUND_COLUMNS: usize = 14;
/// Number of columns before the speedups.
const FIRST_COLUMNS: usize = 36;

/// Formats the profile as lines of at most `looks.width` columns: each target by itself, then all
/// together.
pub fn what_if_text(view: &WhatIfView, looks: &CompareOptions) -> String {
    let mut page = Page::new(looks.width, looks.color, looks.charset);
    let result = view.result;
    page.blank();
    page.prose(
        "  ",
        2,
        &[
            strong(titled(&view.dag.meta, "program")),
            plain(format!(
                ": work {}, span {}, parallelism {}",
                view.amount(result.work as f64),
                view.amount(result.now.span),
                ratio(result.now.parallelism())
            )),
        ],
    );
    for (target, name) in result.targets.iter().zip(view.names) {
        let about = if target.work == 0 {
            String::new()
        } else {
            let part = target.work as f64 * 100.0 / (result.work.max(1)) as f64;
            format!(
                ": {}, {} of the work",
                view.amount(target.work as f64),
                share(part)
            )
        };
        view.table(
            &mut page,
            &[(Tone::Path, name.clone()), plain(about)],
            &target.outcomes,
        );
        if let Some(site) = target.keep {
            let how = match view.dag.meta.read_folding {
                Some(_) => "Ask again with --full.".to_owned(),
                None => {
                    let site = super::quoted(label(view.dag, site));
                    format!("Record the program again with --keep {site}.")
                }
            };
            let text = format!("Folded strands hide how much of it is on the critical path. {how}");
            page.prose("    ", 4, &[(Tone::Bad, text)]);
        }
        if is_without_effect(&target.outcomes, &result.now) {
            let text = "Faster code there does not shorten the critical path.";
            page.prose("    ", 4, &[plain(text)]);
        }
    }
    if result.targets.len() > 1 {
        view.table(&mut page, &[strong("All together")], &result.all);
    }
    if let Some((factor, sites)) = view.sites {
        view.by_site(&mut page, factor, sites);
    }
    page.blank();
    let note = "The work stays the same; the span is computed with the code spread over that many workers. Speedups are lower and upper bounds.";
    page.prose("  ", 2, &[(Tone::Faint, note.to_owned())]);
    limits::show(
        &mut page,
        view.limits,
        limits::region(view.dag, view.limits),
    );
    page.finish()
}

fn is_without_effect(outcomes: &[Outcome], now: &Outcome) -> bool {
    let same = |o: &Outcome| o.least_span >= now.span * (1.0 - 1e-9);
    !outcomes.is_empty() && outcomes.iter().all(|o| o.factor > 1.0 && same(o))
}

impl WhatIfView<'_> {
    fn amount(&self, v: f64) -> String {
        let counter = match &self.measured.metric {
            Metric::Time => None,
            Metric::Counter(name) => Some(name.as_str()),
        };
        amount(&self.dag.meta, counter, v)
    }

    /// The profile by spawn site now and then.
    fn by_site(&self, page: &mut Page, factor: f64, sites: &[FasterSite]) {
        page.blank();
        let title = format!("Spawn sites, now > {factor}x as fast");
        page.prose("  ", 4, &[strong(title)]);
        let head = format!(
            "{:>11}{:>11}{:>11}{:>15}{:>17}  {}",
            "work", "span", "then", "parallelism", "of critical path", "site"
        );
        page.line(&[(Tone::Faint, head)]);
        let now: f64 = sites.iter().map(|row| row.critical_work).sum();
        let then: f64 = sites.iter().map(|row| row.critical_work_then).sum();
        let cell = |v: f64| format!("{:>11}", self.amount(v).replace(NBSP, " "));
        let part = |v: f64, total: f64| {
            let part = 100.0 * v / total.max(f64::MIN_POSITIVE);
            share(part).replace(NBSP, " ")
        };
        for row in sites {
            let parallelism = format!(
                "{} > {}",
                ratio(row.parallelism()),
                ratio(row.parallelism_then())
            );
            let critical = format!(
                "{} > {}",
                part(row.critical_work, now),
                part(row.critical_work_then, then)
            );
            let cells = format!(
                "{}{}{}{parallelism:>15}{critical:>17}  ",
                cell(row.work as f64),
                cell(row.span as f64),
                cell(row.span_then)
            );
            let site = label(self.dag, row.site).to_owned();
            page.line(&[plain(cells), (Tone::Path, site)]);
        }
    }

    /// One row per factor. Uses several tables if the numbers of workers do not fit side by side.
    fn table(&self, page: &mut Page, title: &[Piece], outcomes: &[Outcome]) {
        page.blank();
        page.prose("  ", 4, title);
        let room = (page.width().saturating_sub(FIRST_COLUMNS) / BOUND_COLUMNS).max(1);
        let mut sets: Vec<&[u32]> = self.workers.chunks(room).collect();
        if sets.is_empty() {
            sets.push(&[]);
        }
        for workers in sets {
            let mut head = format!("{:>10}{:>12}{:>14}", "faster", "span", "parallelism");
            for p in workers {
                let unit = if *p == 1 { "worker" } else { "workers" };
                head.push_str(&format!("{:>BOUND_COLUMNS$}", format!("{p} {unit}")));
            }
            page.line(&[(Tone::Faint, head)]);
            for outcome in outcomes {
                page.line(&[plain(self.row(outcome, workers))]);
            }
        }
    }

    fn row(&self, outcome: &Outcome, workers: &[u32]) -> String {
        let span = self.amount(outcome.span).replace(NBSP, " ");
        let mut parallelism = ratio(outcome.parallelism());
        if outcome.least_span < outcome.span {
            parallelism = format!("{parallelism}-{}", ratio(outcome.most_parallelism()));
        }
        let factor = format!("{}x", outcome.factor);
        let mut row = format!("{factor:>10}{span:>12}{parallelism:>14}");
        for &p in workers {
            let (lower, upper) = outcome.speedup(p);
            let bounds = format!("{}-{}", ratio(lower), ratio(upper));
            row.push_str(&format!("{bounds:>BOUND_COLUMNS$}"));
        }
        row
    }
}
