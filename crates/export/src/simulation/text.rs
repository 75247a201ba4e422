//! Formats simulated runs as lines of text.

use super::{SimulationRow, SimulationView};
use crate::compare::CompareOptions;
use crate::limits;
use crate::page::{Page, Tone, plain, strong};
use crate::quantity::{NBSP, percent_of, ratio, time};
use crate::section::titled;

/// The runs as lines of at most `looks.width` columns.
pub fn simulation_text(view: &SimulationView, looks: &CompareOptions) -> String {
    let mut page = Page::new(looks.width, looks.color, looks.charset);
    let meta = &view.dag.meta;
    page.blank();
    let Some(first) = view.rows.first() else {
        return page.finish();
    };
    let seeds = match first.runs.len() {
        1 => "one seed".to_owned(),
        n => format!("{n} seeds"),
    };
    let about = format!(
        ", simulated {}: {} per steal, {} per spawn, {seeds}",
        first.setup.policy,
        time(meta, first.setup.steal_cost as f64),
        time(meta, view.spawn_cost as f64)
    );
    page.prose("  ", 2, &[strong(titled(meta, "program")), plain(about)]);
    for fix in view.fixes {
        page.prose(
            "  ",
            2,
            &[plain("with the fix "), (Tone::Path, fix.clone())],
        );
    }
    page.blank();
    page.line(&[(
        Tone::Faint,
        format!(
            "{:>8}{:>10}{:>8}{:>14}{:>14} |{:>5}{:>6}{:>6}{:>5}",
            "workers", "elapsed", "speedup", "spread", "bounds", "work", "delay", "sched", "prog"
        ),
    )]);
    for row in &view.rows {
        page.line(&[plain(cells(view, row))]);
    }
    page.blank();
    let note = "bounds: lower and upper bound of the speedup (MODEL.md 2). work, delay, sched, prog: percent of workers x elapsed spent \
        in work, in delay, and without work because of the scheduler or the program.";
    page.prose("  ", 2, &[(Tone::Faint, note.to_owned())]);
    limits::show(
        &mut page,
        &view.limits,
        limits::region(view.dag, &view.limits),
    );
    if view
        .rows
        .iter()
        .flat_map(|r| &r.runs)
        .any(|r| r.unstuck > 0)
    {
        let text = "The simulated run deadlocked under this policy: every worker waited for a task below another one on a stack. \
        One of these tasks was allowed to continue, against the policy.";
        page.prose("  ", 2, &[(Tone::Bad, text.to_owned())]);
    }
    page.finish()
}

fn cells(view: &SimulationView, row: &SimulationRow) -> String {
    let (mean, least, most) = row.speedup(view.work);
    let b = &row.breakdown;
    let all = u128::from(b.workers) * u128::from(b.elapsed());
    let part = |v: u128| format!("{:.0}", percent_of(v, all));
    let elapsed = time(&view.dag.meta, row.elapsed()).replace(NBSP, " ");
    let spread = format!("{}-{}", ratio(least), ratio(most));
    let bounds = format!("{}-{}", ratio(row.bounds.0), ratio(row.bounds.1));
    format!(
        "{:>8}{elapsed:>10}{:>8}{spread:>14}{bounds:>14} |{:>5}{:>6}{:>6}{:>5}",
        row.setup.workers,
        ratio(mean),
        part(b.work),
        part(b.delay),
        part(b.no_work_sched),
        part(b.no_work_app)
    )
}
