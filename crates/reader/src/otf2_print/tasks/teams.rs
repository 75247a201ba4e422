//! Parallel regions: their forks, the implicit tasks of their teams, and their joins.

use workspan_dag::raw::{RawEnd, RawScope};
use workspan_dag::{NONE, ScopeKind, TaskKind};

use super::Tasks;

/// A parallel region that has not ended.
#[derive(Debug)]
pub(super) struct Fork {
    pub(super) task: u32,
    t: u64,
    start: u64,
    pub(super) thread: u32,
    team: Option<u64>,
    pub(super) scope: u32,
    site: u32,
    /// Whether the forking task's strand is in the trace.
    is_started: bool,
}

impl Tasks {
    pub(super) fn fork(&mut self, w: u32, t: u64) {
        let Some(task) = self.current(w, t) else {
            return;
        };
        let Some((start, thread)) = self.tasks[task as usize].open.take() else {
            return;
        };
        let inside = self.tasks[task as usize].regions.last();
        let site = inside
            .and_then(|id| self.known.regions.get(id))
            .map_or(0, |r| r.place);
        let scope = self.raw.scopes.len() as u32;
        self.forks.push(Fork {
            task,
            t,
            start,
            thread,
            team: None,
            scope,
            site,
            is_started: false,
        });
        self.raw.scopes.push(RawScope {
            number: scope.into(),
            kind: ScopeKind::Team,
            opener: task,
            // Set once its strand is known.
            strand: NONE,
        });
    }

    /// The forking task's next strand: the one before the fork, or one of no length after it.
    pub(super) fn at_fork(&mut self, fork: usize, end_op: RawEnd) {
        let fork_state = &mut self.forks[fork];
        let start = if fork_state.is_started {
            fork_state.t
        } else {
            fork_state.start
        };
        fork_state.is_started = true;
        let (task, t, thread, scope) = (
            fork_state.task,
            fork_state.t,
            fork_state.thread,
            fork_state.scope,
        );
        let scope = &mut self.raw.scopes[scope as usize];
        if scope.strand == NONE {
            scope.strand = self.raw.strands.len() as u32;
        }
        self.tasks[task as usize].open = Some((start, thread));
        self.close(task, t, end_op, NONE);
    }

    pub(super) fn team_begins(&mut self, w: u32, t: u64, team: Option<u64>) {
        let own = self
            .forks
            .iter()
            .rposition(|f| f.team == team && team.is_some());
        let fork = own.or_else(|| self.forks.iter().rposition(|f| f.team.is_none()));
        let task = match fork {
            Some(fork) => {
                self.forks[fork].team = team;
                let (parent, site, scope) = {
                    let fork_state = &self.forks[fork];
                    (fork_state.task, fork_state.site, fork_state.scope)
                };
                let task = self.task(parent, TaskKind::Inline, site, scope);
                self.at_fork(fork, RawEnd::Create(task));
                task
            }
            // It was not forked, so it is a thread of its own.
            None => self.task(NONE, TaskKind::Root, 0, NONE),
        };
        let location = &mut self.locations[w as usize];
        location.in_team = true;
        location.base.push(task);
        location.current = Some(task);
        self.run(task, w, t);
    }

    pub(super) fn join(&mut self, w: u32, t: u64) {
        let task = self.locations[w as usize].current;
        let Some(fork) = self.forks.iter().rposition(|f| Some(f.task) == task) else {
            return;
        };
        let scope = self.forks[fork].scope;
        self.at_fork(fork, RawEnd::WaitScope(scope));
        let fork = self.forks.remove(fork);
        self.run(fork.task, w, t);
    }
}
