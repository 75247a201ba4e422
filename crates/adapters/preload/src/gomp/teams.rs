//! `teams` on the host: libgomp runs the league's teams one after the other on the calling thread, each an inline task in one
//! group scope, as nothing orders them.

use workspan_recorder::adapter;
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
    let h = adapter::handle();
    // SAFETY: the arguments are the entry point's, the handle is this thread's; the league outlives the call.
    unsafe {
        if h.is_null() {
            return call.forward(entry.next_symbol());
        }
        pool::note_runtime();
        let paused = budget::pause(task_frame::current());
        let function = call.argument(0);
        let site = site_cache::at(function, primitive::PARALLEL, false);
        let mut league = League {
            function,
            data: call.argument(1) as *mut u8,
            site,
            scope: adapter::scope_open(h, false),
            runtime: next_symbol::called(),
        };
        call.set_argument(0, team as *const () as usize);
        call.set_argument(1, (&raw mut league) as usize);
        let result = call.forward(entry.next_symbol());
        adapter::wait_scope(h, site, league.scope);
        adapter::resume(h);
        budget::go_on(paused);
        result
    }
}

/// What libgomp calls for each team.
unsafe extern "C-unwind" fn team(league: *mut League) {
    // SAFETY: the league lies below on this thread's stack; the handle is this thread's.
    unsafe {
        let league = &*league;
        let h = adapter::handle();
        if h.is_null() {
            return run(league.function, league.data);
        }
        let task = adapter::task_create(h, create::INLINE, league.site, league.scope);
        adapter::task_begin(h, task);
        let below = task_frame::current();
        let mut implicit = ImplicitTask::new(0, 0);
        let mut here = TaskFrame {
            implicit: &raw mut implicit,
            runtime: league.runtime,
            ..TaskFrame::new(below, h, league.function)
        };
        task_frame::set_current(&raw mut here);
        run(league.function, league.data);
        task_frame::set_current(below);
        worksharing::close(h, &mut implicit);
        adapter::task_end(h);
    }
}
