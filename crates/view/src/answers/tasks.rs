//! `tasks`: the sums in the report on a selection: the tasks of a site, or a task with all its
//! descendants.

use std::collections::BTreeMap;

use serde::Serialize;
use workspan_analysis::ready_event;
use workspan_dag::{StrandId, TaskId};

use super::summary::show;
use crate::answer::Reply;
use crate::api_error::ApiError;
use crate::run::{Run, RunModel};
use crate::timeline::Index;

/// Maximum number of codes given one by one.
const MAX_CODES: usize = 64;

/// The selection of tasks.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TaskSelection {
    /// The tasks created at a site, given by its number in `RunMeta.sites`.
    Site(u16),
    /// A task with all its descendants.
    Subtree(TaskId),
}

/// The contract's `TasksReport`.
#[derive(Serialize)]
struct TasksReport {
    tasks: u64,
    sums: Sums,
    active: u64,
    codes: Vec<OfCode>,
    more_codes: usize,
    steals: Steals,
    findings: Vec<usize>,
}

/// Sums over strands; times in ticks.
#[derive(Default, Serialize)]
struct Sums {
    strands: u64,
    /// First start and last end of the strands.
    start: u64,
    end: u64,
    work: u64,
    recording: u64,
    descheduled: u64,
    blocked: u64,
    /// Work on the critical path.
    critical: u64,
    /// Sum of the times from when each strand was ready until it started.
    ready: u64,
}

#[derive(Serialize)]
struct OfCode {
    code: u16,
    work: u64,
    strands: u64,
}

#[derive(Default, Serialize)]
struct Steals {
    stolen: u64,
    leaps: u64,
    robbed: u64,
    most: Option<Pair>,
}

#[derive(Serialize)]
struct Pair {
    thief: u16,
    victim: u16,
    count: u64,
}

/// Answers the request. Takes O(strands of the run) for a site, and for a task O((own strands +
/// steals of the run) · log own strands).
///
/// # Errors
/// The site or task does not exist, or the run is loading.
pub(crate) fn answer(run: &Run, of: TaskSelection) -> Result<Reply, ApiError> {
    let (model, analyses, tree) = (run.model()?, run.analyses()?, run.tree()?);
    let dag = &*model.dag;
    let (tasks, strands) = match of {
        TaskSelection::Site(site) if usize::from(site) < model.sites.places.len() => {
            let place = |t: TaskId| model.sites.of(dag.tasks.site[t as usize]);
            let all = 0..dag.strands.len() as StrandId;
            let own = all.filter(|&s| place(dag.strands.task[s as usize]) == site);
            let row = analyses.report.sites.get(usize::from(site));
            (row.map_or(0, |row| row.count), own.collect())
        }
        TaskSelection::Subtree(task) if (task as usize) < dag.tasks.len() => {
            let tasks = tree.with_descendants(task).iter();
            let mut own: Vec<StrandId> = tasks.flat_map(|&t| tree.strands_of(dag, t)).collect();
            own.sort_unstable();
            (tree.subtrees.tasks.get(task as usize), own)
        }
        TaskSelection::Site(_) => {
            return Err(ApiError::not_found("There is no such site in this run."));
        }
        TaskSelection::Subtree(_) => {
            return Err(ApiError::not_found("There is no such task in this run."));
        }
    };
    let has = |s: StrandId| strands.binary_search(&s).is_ok();
    let findings = analyses.report.causes.findings_program_first();
    let inside = findings.into_iter().enumerate();
    let inside = inside.filter(|(_, (_, f))| show(model, f).strand.is_some_and(has));
    let mut codes = codes(model, &strands);
    let more_codes = codes.len().saturating_sub(MAX_CODES);
    codes.truncate(MAX_CODES);
    Reply::json(&TasksReport {
        tasks,
        sums: sums(model, &strands),
        active: active(model, &strands),
        codes,
        more_codes,
        findings: inside.map(|(i, _)| i).collect(),
        steals: steals(model, run.timeline()?, &strands),
    })
}

fn sums(model: &RunModel, strands: &[StrandId]) -> Sums {
    let (all, facts) = (&model.dag.strands, &model.facts);
    let mut sums = Sums {
        start: u64::MAX,
        ..Sums::default()
    };
    for &s in strands {
        let i = s as usize;
        let weight = model.weight(s);
        sums.strands += 1;
        sums.start = sums.start.min(all.start[i] - model.begin);
        sums.end = sums.end.max(all.end[i] - model.begin);
        sums.work = sums.work.saturating_add(weight);
        sums.recording += facts.recording.get(i);
        sums.descheduled += facts.descheduled.get(i);
        sums.blocked += facts.blocked.get(i);
        if model.critical(s) {
            sums.critical = sums.critical.saturating_add(model.path_weight(s));
        }
        if let Some((ready, _)) = model.ready(s) {
            sums.ready += all.start[i].saturating_sub(ready);
        }
    }
    sums.start = sums.start.min(sums.end);
    sums
}

/// Ticks in which at least one of the strands ran.
fn active(model: &RunModel, strands: &[StrandId]) -> u64 {
    let all = &model.dag.strands;
    let mut times: Vec<(u64, u64)> = strands
        .iter()
        .map(|&s| (all.start[s as usize], all.end[s as usize]))
        .collect();
    times.sort_unstable();
    let mut until = 0;
    times.into_iter().fold(0, |sum, (start, end)| {
        let from = start.max(until);
        until = until.max(end);
        sum + end.saturating_sub(from)
    })
}

/// Sums by code, those with most work first.
fn codes(model: &RunModel, strands: &[StrandId]) -> Vec<OfCode> {
    let mut by: BTreeMap<u16, (u64, u64)> = BTreeMap::new();
    for &s in strands {
        let (work, count) = by.entry(model.codes.of(s)).or_default();
        *work = work.saturating_add(model.weight(s));
        *count += 1;
    }
    let of = |(code, (work, strands))| OfCode {
        code,
        work,
        strands,
    };
    let mut codes: Vec<OfCode> = by.into_iter().map(of).collect();
    codes.retain(|c| c.work > 0);
    codes.sort_by_key(|c| (std::cmp::Reverse(c.work), c.code));
    codes
}

/// Steals of the strands themselves, and of strands that they made ready.
fn steals(model: &RunModel, index: &Index, strands: &[StrandId]) -> Steals {
    let dag = &*model.dag;
    let mut steals = Steals::default();
    let mut pairs: BTreeMap<(u16, u16), u64> = BTreeMap::new();
    for &(s, victim) in index.arcs.stolen() {
        let own = strands.binary_search(&s).is_ok();
        let maker = ready_event(dag, s).map(|ready| ready.by);
        steals.robbed += u64::from(maker.is_some_and(|by| strands.binary_search(&by).is_ok()));
        if !own {
            continue;
        }
        steals.stolen += 1;
        steals.leaps += u64::from(index.arcs.is_leap(s));
        let thief = model.rows.of(dag.strands.thread[s as usize]);
        *pairs.entry((thief, model.rows.of(victim))).or_default() += 1;
    }
    let most = pairs
        .into_iter()
        .max_by_key(|&(pair, count)| (count, std::cmp::Reverse(pair)));
    steals.most = most
        .filter(|&(_, count)| count > 1)
        .map(|((thief, victim), count)| Pair {
            thief,
            victim,
            count,
        });
    steals
}
