//! The table of processes: the time of each rank, and who waited for it.

use workspan_analysis::ProcessRow;
use workspan_dag::Process;

use super::View;
use crate::page::{Page, Tone, plain, strong};
use crate::quantity::thousands;

/// Number of columns for the numbers.
const NUMBER_COLUMNS: usize = 68;
/// Maximum number of processes shown.
const MAX_PROCESSES: usize = 16;

pub(super) fn table(view: &View, page: &mut Page) {
    let rows = &view.report.processes;
    if rows.is_empty() {
        return;
    }
    let has_mpi = rows.iter().any(|row| row.waited + row.awaited > 0);
    let label = page.width().saturating_sub(NUMBER_COLUMNS + 2);
    page.blank();
    let has_ranks = view
        .dag
        .meta
        .processes
        .list
        .iter()
        .any(|p| p.rank.is_some());
    let head = page.fit(if has_ranks { "Ranks" } else { "Processes" }, label);
    page.line(&[
        strong(format!("  {head}")),
        (
            Tone::Faint,
            format!(
                "{:>8}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}",
                "workers", "elapsed", "work", "no CPU", "blocked", "waited", "awaited"
            ),
        ),
    ]);
    for row in shown(rows, has_mpi) {
        let Some(process) = view.dag.meta.processes.list.get(row.process) else {
            continue;
        };
        let time = |ticks: u128| view.time(ticks as f64);
        let of_mpi = |ticks: u128| match has_mpi {
            true => time(ticks),
            false => "-".to_owned(),
        };
        page.line(&[
            (
                Tone::Path,
                format!("  {}", page.fit(&title(view, process), label)),
            ),
            plain(format!(
                "{:>8}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}",
                thousands(process.workers.into()),
                time(row.elapsed.into()),
                time(row.work),
                time(row.descheduled),
                time(row.blocked.saturating_sub(row.waited)),
                of_mpi(row.waited),
                of_mpi(row.awaited),
            )),
        ]);
    }
    let rest = rows.len().saturating_sub(MAX_PROCESSES);
    if rest > 0 {
        page.line(&[(Tone::Faint, format!("  and {rest} more (report --json)"))]);
    }
    clocks(view, page);
}

/// The name of a process, with its host if there are several.
fn title(view: &View, process: &Process) -> String {
    match &process.host {
        Some(host) if !view.dag.meta.processes.clocks.is_empty() => {
            format!("{} on {host}", process.title())
        }
        _ => process.title(),
    }
}

/// The clocks of the hosts, if there are several.
fn clocks(view: &View, page: &mut Page) {
    let all = &view.dag.meta.processes;
    let Some(first) = all.list.first().filter(|_| !all.clocks.is_empty()) else {
        return;
    };
    let first = first.host.as_deref().unwrap_or("the first host");
    page.blank();
    page.line(&[
        strong("  Clocks".to_owned()),
        (Tone::Faint, format!("   to that of {first}")),
    ]);
    for clock in all.clocks.iter().take(MAX_PROCESSES) {
        page.line(&[
            (Tone::Path, format!("  {}", clock.host)),
            plain(format!("   {}", clock.describe())),
        ]);
    }
    let rest = all.clocks.len().saturating_sub(MAX_PROCESSES);
    if rest > 0 {
        page.line(&[(Tone::Faint, format!("  and {rest} more (report --json)"))]);
    }
}

/// The processes shown. If there are too many, those that others waited for most, or that worked
/// most; in the order of their ranks.
fn shown(rows: &[ProcessRow], has_mpi: bool) -> Vec<&ProcessRow> {
    let mut shown: Vec<&ProcessRow> = rows.iter().collect();
    if shown.len() > MAX_PROCESSES {
        shown.sort_by_key(|row| {
            let most = if has_mpi { row.awaited } else { row.work };
            std::cmp::Reverse(most)
        });
        shown.truncate(MAX_PROCESSES);
        shown.sort_by_key(|row| row.process);
    }
    shown
}
