//! Waits of tasks: for scopes, tasks, signals.

use super::{Events, ScopeState};
use crate::text::line::Line;
use workspan_dag::Error;
use workspan_dag::raw::{RawEnd, RawScope};
use workspan_dag::{NONE, ScopeKind};

impl Events {
    pub(super) fn innermost_scope(&mut self, task: u32) -> u32 {
        let scopes = &mut self.task_states[task as usize].scopes;
        while let Some(&top) = scopes.last() {
            if self.scope_states[top as usize].closed == 0 {
                return top;
            }
            scopes.pop();
        }
        NONE
    }

    pub(super) fn scope(&mut self, line: &mut Line<'_>) -> Result<(), Error> {
        let task = self.task_in_strand(line)?;
        let number = line.whole("scope")?;
        let kinds = [ScopeKind::Group, ScopeKind::Tree, ScopeKind::Team];
        let kind = kinds[line.word("kind", &["group", "tree", "team"])?];
        if let Some(&there) = self.scopes.get(&number) {
            let opened = self.scope_states[there as usize].opened;
            return line.fail(format!("opens scope {number}, used already at line {opened}; expected a new id, each is used once"));
        }
        let scope = self.raw.scopes.len() as u32;
        let strand = self.task_states[task as usize].open;
        self.raw.scopes.push(RawScope {
            number,
            kind,
            opener: task,
            strand,
        });
        self.scope_states.push(ScopeState {
            opened: line.number,
            closed: 0,
        });
        self.scopes.insert(number, scope);
        self.task_states[task as usize].scopes.push(scope);
        Ok(())
    }

    pub(super) fn wait(&mut self, line: &mut Line<'_>) -> Result<(), Error> {
        self.ends(line, |events, line, (task, strand)| {
            let named = ["scope", "of", "on"].map(|key| line.given(key).is_some());
            if named.iter().filter(|&&n| n).count() > 1 {
                return line.fail(
                    "more than one of `scope`, `of` and `on`; expected at most one of the three",
                );
            }
            match named {
                [true, ..] => events.wait_scope(line, task, strand),
                [_, true, _] => {
                    let numbers = line.wholes("of")?;
                    events
                        .unresolved
                        .task_waits
                        .push((strand, numbers, line.number));
                    Ok(RawEnd::Yield)
                }
                [_, _, true] => {
                    let numbers = line.wholes("on")?;
                    let signals: Vec<u32> = numbers
                        .into_iter()
                        .map(|n| events.signal_index(n))
                        .collect();
                    let list = events.raw.wait_signals.len() as u32;
                    events.raw.wait_signals.push(signals);
                    events
                        .unresolved
                        .signal_waits
                        .push((strand, list, line.number));
                    Ok(RawEnd::WaitSignals(list))
                }
                _ => Ok(RawEnd::WaitChildren),
            }
        })
    }

    pub(super) fn wait_scope(
        &mut self,
        line: &Line<'_>,
        task: u32,
        strand: u32,
    ) -> Result<RawEnd, Error> {
        let number = line.whole("scope")?;
        let Some(&scope) = self.scopes.get(&number) else {
            self.unresolved
                .scope_waits
                .push((strand, number, line.number));
            return Ok(RawEnd::Yield);
        };
        let state = &mut self.scope_states[scope as usize];
        let opener = self.raw.scopes[scope as usize].opener;
        if opener != task {
            let opener = self.raw.tasks[opener as usize].number;
            return line.fail(format!(
                "waits for scope {number}, opened by task {opener} at line {}; expected its opener to close it",
                state.opened
            ));
        }
        if state.closed != 0 {
            return line.fail(format!(
                "closes scope {number} twice, first at line {}; expected one wait for a scope",
                state.closed
            ));
        }
        state.closed = line.number;
        Ok(RawEnd::WaitScope(scope))
    }

    pub(super) fn signal_index(&mut self, number: u64) -> u32 {
        *self.signals.entry(number).or_insert_with(|| {
            self.raw.signals.push(number);
            self.signal_lines.push(0);
            self.raw.signals.len() as u32 - 1
        })
    }

    pub(super) fn signal(&mut self, line: &mut Line<'_>) -> Result<(), Error> {
        self.ends(line, |events, line, _| {
            let number = line.whole("id")?;
            let signal = events.signal_index(number);
            let set = &mut events.signal_lines[signal as usize];
            if *set != 0 {
                return line.fail(format!("sets signal {number} a second time, after line {set}; expected each to be set once"));
            }
            *set = line.number;
            Ok(RawEnd::Signal(signal))
        })?;
        // The strand is cut: the rest goes on at once on the same thread.
        let task = self.task(line)?;
        let state = &self.task_states[task as usize];
        let (thread, t) = (state.thread, state.t);
        self.start_strand(line, task, thread, t)
    }
}
