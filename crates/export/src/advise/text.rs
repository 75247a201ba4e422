//! Formats advice as lines of text.

use workspan_analysis::advise::{Advice, AdviceStep, Change, GrainAdvice, GrainChange};
use workspan_dag::{Dag, ROOT_PLACE};

use super::{change_words, stop_words};
use crate::compare::CompareOptions;
use crate::limits;
use crate::page::{Page, Piece, Tone, plain, strong};
use crate::position::{end_words, label, owner_words, site_cell, start_words};
use crate::quantity::{NBSP, amount, percent_of, ratio, share, thousands, time};
use crate::section::titled;
use crate::what_if::quoted;

/// Maximum number of sites in the table of grains.
const MAX_GRAIN_ROWS: usize = 10;

/// The advice as lines of at most `looks.width` columns.
pub fn advise_text(
    dag: &Dag,
    advice: &Advice,
    counter: Option<&str>,
    looks: &CompareOptions,
) -> String {
    let mut page = Page::new(looks.width, looks.color, looks.charset);
    let goal = &advice.goal;
    page.blank();
    page.prose(
        "  ",
        2,
        &[
            strong(titled(&dag.meta, "program")),
            plain(": parallelism "),
            strong(ratio(advice.now.parallelism())),
            plain(format!(
                ", target {} on {} {}",
                ratio(goal.parallelism),
                thousands(goal.cores.into()),
                if goal.cores == 1 { "core" } else { "cores" }
            )),
        ],
    );
    page.blank();
    for (number, step) in advice.steps.iter().enumerate() {
        show(dag, advice, counter, number + 1, step, &mut page);
    }
    let fine = advice.grain.iter().find(|row| row.is_too_fine());
    let stop = stop_words(advice.stop, &advice.limits, fine.is_some());
    page.prose("  ", 2, &[plain(stop)]);
    if let Some(row) = fine {
        too_fine(dag, row, &mut page);
    }
    limits::show(
        &mut page,
        &advice.limits,
        limits::region(dag, &advice.limits),
    );
    right_size(dag, advice, &mut page);
    folded(dag, advice, counter, &mut page);
    elsewhere(advice, &mut page);
    grain(dag, &advice.grain, &mut page);
    page.finish()
}

fn show(
    dag: &Dag,
    advice: &Advice,
    counter: Option<&str>,
    number: usize,
    step: &AdviceStep,
    page: &mut Page,
) {
    let block = &step.block;
    let many = step.strands > 1 && block.site != ROOT_PLACE;
    let mut words: Vec<Piece> = owner_words(dag, block.site, many);
    words.push(plain(", from "));
    words.extend(start_words(dag, block, many));
    words.push(plain(" to "));
    words.extend(end_words(dag, block, many));
    let part = percent_of(step.critical, advice.now.span_ticks());
    words.push(plain(": "));
    let unit = counter.map_or(String::new(), |name| format!(" {name}"));
    let weight = amount(&dag.meta, counter, step.critical as f64);
    words.push(strong(format!("{weight}{unit}")));
    words.push(plain(format!(
        " of the critical path, {}. {}",
        share(part),
        change_words(step.change)
    )));
    page.prose(&format!("  {number}. "), 5, &words);
    let p = advice.goal.cores.max(1);
    let (lower, upper) = step.outcome.speedup(p);
    let at = |speedup: f64| {
        let each = step.outcome.work as f64 / speedup.max(1e-9);
        amount(&dag.meta, counter, each.round())
    };
    let parts = match step.change {
        Change::MoreThreads => format!("Divided among {p}"),
        _ => format!("Split into {} parts", ratio(step.factor)),
    };
    let cores = if p == 1 { "core" } else { "cores" };
    let text = format!(
        "{parts}: parallelism {}; on {p} {cores} a speedup of {} to {} ({} to {}).",
        ratio(step.outcome.parallelism()),
        ratio(lower),
        ratio(upper),
        at(upper),
        at(lower)
    );
    page.prose("     ", 5, &[plain(text)]);
}

/// Says that tasks are too small, which splitting code cannot cure.
fn too_fine(dag: &Dag, row: &GrainAdvice, page: &mut Page) {
    let mut words = vec![
        strong("The tasks are too small"),
        plain(": those created at "),
        (Tone::Path, label(dag, row.site).to_owned()),
        plain(format!(
            " take {} each{}, and creating and stealing them costs {}{} on top of that.",
            time(&dag.meta, row.now.work),
            if row.cost_is_inside {
                " without the runtime's own time"
            } else {
                ""
            },
            if row.cost_is_least { "at least " } else { "" },
            share(row.now.lost_percent())
        )),
    ];
    if let GrainChange::Coarsen(n) = row.change {
        words.push(plain(format!(
            " Make them {} as large: use a cutoff, with_min_len or a grain size.",
            times(n)
        )));
    }
    page.prose("  ", 2, &words);
}

/// Says how many workers are enough.
fn right_size(dag: &Dag, advice: &Advice, page: &mut Page) {
    let Some(right) = &advice.right_size else {
        return;
    };
    let Some(&(most, of_most, _)) = right.sizes.last() else {
        return;
    };
    let elapsed = right.elapsed(right.workers).unwrap_or(of_most);
    let number = thousands(right.workers.into());
    let mut words = vec![strong(match right.workers {
        n if n == most => format!("Use {number} workers or more"),
        1 => "One worker is enough".to_owned(),
        _ => format!("{number} workers are enough"),
    })];
    words.push(plain(format!(
        ": simulated, the program takes {} on {number}",
        time(&dag.meta, elapsed as f64)
    )));
    if right.workers < most {
        words.push(plain(format!(
            " and {} on {}, of which each more would mostly search for tasks",
            time(&dag.meta, of_most as f64),
            thousands(most.into())
        )));
    }
    words.push(plain(". "));
    let numbers = format!("--workers 1,{}", right.workers.max(2));
    let command = format!("workspan scale {numbers} -- COMMAND").replace(' ', &NBSP.to_string());
    words.push((Tone::Command, command));
    words.push(plain(" measures it."));
    page.prose("  ", 2, &words);
}

/// Maximum number of sites named in the advice about folded strands.
const MAX_FOLDED_SITES: usize = 3;

/// Says what folded strands hide, and how to make it visible.
fn folded(dag: &Dag, advice: &Advice, counter: Option<&str>, page: &mut Page) {
    let Some(folded) = &advice.folded else {
        return;
    };
    let part = percent_of(folded.critical, advice.now.span_ticks());
    let mut words = vec![plain(format!(
        "{} of the critical path lies in folded strands, where only the sites are known",
        share(part)
    ))];
    for (i, site) in folded.sites.iter().take(MAX_FOLDED_SITES).enumerate() {
        words.push(plain(if i == 0 { ": " } else { ", " }));
        words.push((Tone::Path, label(dag, site.site).to_owned()));
        words.push(plain(format!(
            " with {}",
            share(percent_of(site.critical, advice.now.span_ticks()))
        )));
    }
    words.push(plain(". "));
    let known = |p: u32| (p as usize) < dag.places.len();
    if let Some((from, to, work)) = folded.block {
        let at = |p: u32| if known(p) { label(dag, p) } else { "?" };
        words.push(plain(format!(
            "The block with the most work ({}) is from {} to {}. ",
            amount(&dag.meta, counter, work as f64),
            at(from),
            at(to)
        )));
    }
    if let Some(first) = folded.sites.first() {
        let command = match dag.meta.read_folding {
            Some(_) => "workspan advise --full ...".to_owned(),
            None => format!(
                "workspan record --keep {} -- ...",
                quoted(label(dag, first.site))
            ),
        };
        words.push(plain("To see more:  "));
        words.push((Tone::Command, command));
    }
    page.prose("  ", 2, &words);
}

/// Names losses that more parallelism does not cure.
fn elsewhere(advice: &Advice, page: &mut Page) {
    if advice.elsewhere.is_empty() {
        return;
    }
    let names: Vec<&str> = advice.elsewhere.iter().map(|f| f.cause.id()).collect();
    let text = format!(
        "Time is also lost to other causes, which these changes do not cure: {}. `workspan report` says where.",
        names.join(", ")
    );
    page.prose("  ", 2, &[(Tone::Bad, text)]);
}

fn grain(dag: &Dag, rows: &[GrainAdvice], page: &mut Page) {
    if rows.is_empty() {
        return;
    }
    page.blank();
    page.line(&[strong("  Grain, by spawn site")]);
    // The advice takes some forty columns after the numbers.
    let width = page.width().saturating_sub(72).max(26);
    page.line(&[(
        Tone::Faint,
        format!(
            "  {:<width$}{:>10}{:>10}{:>8}  {}",
            "", "tasks", "mean task", "lost", "what to do"
        ),
    )]);
    for row in rows.iter().take(MAX_GRAIN_ROWS) {
        let mean = time(&dag.meta, row.now.work).replace(NBSP, " ");
        let advice = match row.change {
            GrainChange::Keep => "keep".to_owned(),
            GrainChange::Coarsen(n) => format!("{} as large: {}", times(n), size(dag, row)),
            GrainChange::Split(n) => format!("split into {n:.0}: {}", size(dag, row)),
        };
        page.line(&[
            plain("  "),
            (
                Tone::Path,
                page.fit(&site_cell(dag, row.site, width - 1), width),
            ),
            plain(format!(
                "{:>10}{mean:>10}{:>8}  {advice}",
                thousands(row.now.tasks as u128),
                share(row.now.lost_percent()).replace(NBSP, " ")
            )),
        ]);
    }
    let least = match rows.iter().any(|row| row.cost_is_least) {
        true => {
            " (at least: what the runtime and recording add on a task's own thread is part of the mean task, and may be most of a short one)"
        }
        false => "",
    };
    let without = match rows.iter().any(|row| row.cost_is_inside) {
        true => {
            ", without what a join takes that nobody steals, as calibrated (workspan calibrate): that time lies inside of these strands"
        }
        false => "",
    };
    let note = format!(
        "mean task: the work of a task's own strands{without}; lost: the cost of creating and stealing tasks, relative to \
         their work{least}. To make tasks N times as large, use a cutoff, with_min_len or a grain size with N times as many iterations."
    );
    page.prose("  ", 2, &[(Tone::Faint, note)]);
}

fn times(n: f64) -> String {
    format!("{n:.0}x")
}

fn size(dag: &Dag, row: &GrainAdvice) -> String {
    time(&dag.meta, row.then.work).replace(NBSP, " ")
}
