//! The checks that need all lines: names, ends, threads. Then builds the DAG.

use super::events::Events;
use super::line::fault;
use crate::formats;
use workspan_dag::Dag;
use workspan_dag::Error;
use workspan_dag::build::{At, Fault, Mode, assemble};
use workspan_dag::meta::UnreadPart;
use workspan_dag::raw::{RawEnd, RawTrace};

/// Finishes reading. In `tolerant` mode, open or undefined items are dropped and reported.
pub(super) fn finish(
    mut events: Events,
    tolerant: bool,
    damage: Option<String>,
) -> Result<Dag, Error> {
    let mut raw = events.close();
    let mut faults = Faults {
        first: None,
        count: 0,
    };
    resolve(&events, &mut raw, &mut faults);
    let unexplained = faults.count;
    unfinished(&events, &raw, &mut faults);
    if raw.tasks.is_empty() {
        let what = "no task at all; expected at least one `begin` and `end`";
        return Err(fault(events.lines, None, what));
    }
    if tolerant {
        raw.meta.unread = damage.is_some().then_some(UnreadPart {
            damaged: 1,
            off_cpu: true,
            ..UnreadPart::default()
        });
        raw.meta.warnings.extend(damage);
        close_offs(&mut events, &mut raw);
        let mut dag = assemble(raw, Mode::Repair).map_err(|f| place(&events, f))?;
        if unexplained > 0 {
            let what = format!(
                "Tasks, scopes and signals named in what was read but not told of there, left out: {unexplained}."
            );
            dag.meta.warnings.push(what);
        }
        events.places.settle(&mut dag);
        return Ok(dag);
    }
    // A recorded or imported run was repaired before it was exported, and its warnings say so.
    let recorded_warnings = raw.meta.warnings.len();
    let repaired = raw.meta.recorded || formats::is_imported(&raw.meta);
    if !repaired {
        overlaps(&events, &raw, &mut faults);
    }
    if let Some((_, error)) = faults.first {
        return Err(error);
    }
    let mode = if repaired { Mode::Repair } else { Mode::Strict };
    let mut dag = assemble(raw, mode).map_err(|f| place(&events, f))?;
    dag.meta.warnings.truncate(recorded_warnings);
    events.places.settle(&mut dag);
    Ok(dag)
}

/// The fault on the earliest line, and the number of faults.
struct Faults {
    first: Option<(usize, Error)>,
    count: u64,
}

impl Faults {
    fn add(&mut self, line: usize, task: Option<u64>, what: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.as_ref().is_none_or(|f| line < f.0) {
            self.first = Some((line, fault(line, task, what())));
        }
    }
}

/// Resolves names that a later line may have defined.
fn resolve(events: &Events, raw: &mut RawTrace, faults: &mut Faults) {
    let unresolved = &events.unresolved;
    let number_of =
        |raw: &RawTrace, strand: u32| raw.tasks[raw.strands.task[strand as usize] as usize].number;
    for &(task, scope, line) in &unresolved.creates {
        match events.scopes.get(&scope) {
            Some(&s) => raw.tasks[task as usize].scope = s,
            None => {
                let creator = raw.tasks[raw.tasks[task as usize].parent as usize].number;
                faults.add(line, Some(creator), || {
                    format!("creates into the unknown scope {scope}; expected a `scope` line that opens it")
                });
            }
        }
    }
    for &(strand, scope, line) in &unresolved.scope_waits {
        let number = number_of(raw, strand);
        faults.add(line, Some(number), || match events.scopes.get(&scope) {
            Some(&s) => {
                let opened = events.scope_states[s as usize].opened;
                let opener = raw.tasks[raw.scopes[s as usize].opener as usize].number;
                format!("waits for scope {scope}, which task {opener} opens later, at line {opened}; expected its opener to close it, after opening it")
            }
            None => format!("waits for the unknown scope {scope}; expected a `scope` line that opens it"),
        });
    }
    for (strand, numbers, line) in &unresolved.task_waits {
        let mut tasks = Vec::with_capacity(numbers.len());
        for on in numbers {
            match events.tasks.get(on) {
                Some(&t) => tasks.push(t),
                None => faults.add(*line, Some(number_of(raw, *strand)), || {
                    format!(
                        "waits for the unknown task {on}; expected a line that creates or begins it"
                    )
                }),
            }
        }
        raw.strands.end_op[*strand as usize] = RawEnd::WaitTasks(raw.wait_tasks.len() as u32);
        raw.wait_tasks.push(tasks);
    }
    for &(strand, list, line) in &unresolved.signal_waits {
        for &signal in raw.wait_signals.get(list as usize) {
            if events.signal_lines[signal as usize] == 0 {
                let id = raw.signals[signal as usize];
                faults.add(line, Some(number_of(raw, strand)), || {
                    format!(
                        "waits for the unknown signal {id}; expected a `signal` line that sets it"
                    )
                });
            }
        }
    }
    for &(task, on, line) in &unresolved.depends {
        match (events.tasks.get(&task), events.tasks.get(&on)) {
            (Some(&t), Some(&o)) => raw.depends.push((t, o)),
            (t, _) => {
                let unknown = if t.is_none() { task } else { on };
                faults.add(line, Some(task), || {
                    format!("`depend` names the unknown task {unknown}; expected a line that creates or begins it")
                });
            }
        }
    }
    for &(i, task, line) in &unresolved.steals {
        match events.tasks.get(&task) {
            Some(&t) => raw.steals[i].task = t,
            None => faults.add(line, Some(task), || {
                "`steal` names this unknown task; expected a line that creates or begins it"
                    .to_owned()
            }),
        }
    }
}

/// Reports tasks without begin or end, and threads left off the CPU.
fn unfinished(events: &Events, raw: &RawTrace, faults: &mut Faults) {
    for (task, state) in raw.tasks.iter().zip(&events.task_states) {
        if state.begun == 0 {
            faults.add(state.created, Some(task.number), || {
                "created, but the task has no begin and no end; expected both in the trace"
                    .to_owned()
            });
        } else if state.ended == 0 {
            faults.add(state.begun, Some(task.number), || {
                "the task has no end; expected an `end` line after the begin".to_owned()
            });
        }
    }
    for (w, off) in &events.open_offs {
        faults.add(off.line, None, || {
            format!("`off` of thread {w} without an `on`; expected an `on` after it")
        });
    }
}

/// Ends off-CPU times that are still open at the last time of the trace.
fn close_offs(events: &mut Events, raw: &mut RawTrace) {
    let last = raw.strands.end.iter().copied().max().unwrap_or(0);
    for (thread, off) in std::mem::take(&mut events.open_offs) {
        let end = last.max(off.t);
        raw.offs.push(workspan_dag::OffCpuInterval {
            thread,
            start: off.t,
            end,
            why: off.why,
            on: off.on,
        });
    }
}

/// Reports strands of one thread that overlap. A strand of no length overlaps nothing.
fn overlaps(events: &Events, raw: &RawTrace, faults: &mut Faults) {
    if faults.count > 0 {
        return;
    }
    let strand = |i: u32| raw.strands.get(i as usize);
    let mut order: Vec<u32> = (0..raw.strands.len() as u32)
        .filter(|&i| strand(i).start < strand(i).end)
        .collect();
    order.sort_unstable_by_key(|&i| (strand(i).thread, strand(i).start, i));
    for pair in order.windows(2) {
        let (a, b) = (strand(pair[0]), strand(pair[1]));
        if a.thread == b.thread && b.start < a.end {
            let (before, number) = (
                raw.tasks[a.task as usize].number,
                raw.tasks[b.task as usize].number,
            );
            let (line, other) = (
                events.strand_lines[pair[1] as usize].0,
                events.strand_lines[pair[0] as usize].0,
            );
            faults.add(line as usize, Some(number), || {
                format!(
                    "a strand from {} on thread {} overlaps task {before}'s from {} to {} (line {other}); expected one strand at a time on a thread",
                    b.start, b.thread, a.start, a.end
                )
            });
        }
    }
}

/// Adds the line to a builder's fault.
fn place(events: &Events, found: Fault) -> Error {
    let strand = |s: u32| {
        events
            .strand_lines
            .get(s as usize)
            .copied()
            .unwrap_or_default()
    };
    let line = match found.at {
        At::Start(s) => strand(s).0 as usize,
        At::End(s) => strand(s).1 as usize,
        At::Task(t) => events
            .task_states
            .get(t as usize)
            .map_or(0, |t| t.begun.max(t.created)),
        At::Scope(s) => events.scope_states.get(s as usize).map_or(0, |s| s.opened),
        At::Whole => 0,
    };
    fault(line, found.task, found.what)
}
