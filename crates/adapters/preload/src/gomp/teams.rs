//! `teams` on the host. libgomp runs the teams of a league one after the other on the calling
//! thread. Nothing orders them, so each is an inline task in one group scope.

use workspan_recorder::adapter::LiveHandle;
use workspan_recorder::wire::{create, primitive};

use super::entry_points::{Call, entries};
use super::next_symbol::{self, ANY_RUNTIME, ASK_ALWAYS, Entry};
use super::region::run;
use super::task_frame::{self, ImplicitTask, TaskFrame};
use super::{budget, pool, worksharing};
use crate::runtimes::Instance;
use crate::site_cache;

struct League {
    function: usize,
    data: *mut u8,
    site: u32,
    scope: u64,
    runtime: *const Instance,
}

entries! { leagues, teams, by_function ASK_ALWAYS | ANY_RUNTIME; GOMP_teams_reg = 0 }

unsafe extern "C-unwind" fn teams(call: &mut Call, entry: &Entry) -> usize {
    // SAFETY: only this callback uses the handle.
    let h = unsafe { LiveHandle::current() };
    // SAFETY: the arguments are the entry point's; the league outlives the call.
    unsafe {
        let Some(h) = h else {
            return call.forward(entry.next_symbol());
        };
        pool::note_runtime();
        let paused = budget::pause(task_frame::current());
        let function = call.argument(0);
        let site = site_cache::at(function, primitive::PARALLEL, false);
        let mut league = League {
            function,
            data: call.argument(1) as *mut u8,
            site,
            scope: h.scope_open(false),
            runtime: next_symbol::called(),
        };
        call.set_argument(0, team as *const () as usize);
        call.set_argument(1, (&raw mut league) as usize);
        let result = call.forward(entry.next_symbol());
        h.wait_scope(site, league.scope);
        h.resume();
        budget::go_on(paused);
        result
    }
}

/// The function that libgomp calls for each team.
unsafe extern "C-unwind" fn team(league: *mut League) {
    // SAFETY: the league lies below on this thread's stack; only this call uses the handle.
    unsafe {
        let league = &*league;
        let h = LiveHandle::current();
        let Some(h) = h else {
            return run(league.function, league.data);
        };
        let task = h.task_create(create::INLINE, league.site, league.scope);
        h.task_begin(task);
        let below = task_frame::current();
        let mut implicit = ImplicitTask::new(0, 0);
        let mut here = TaskFrame {
            implicit: &raw mut implicit,
            runtime: league.runtime,
            ..TaskFrame::new(below, Some(h), league.function)
        };
        task_frame::set_current(&raw mut here);
        run(league.function, league.data);
        task_frame::set_current(below);
        worksharing::close(h, &mut implicit);
        h.task_end();
    }
}
