//! `teams` on the host: libgomp runs the league's teams one after the other on the calling thread, each an inline task in one
//! group scope, as nothing orders them.

use workspan_recorder::adapter;
use workspan_recorder::wire::{create, primitive};

use super::frame::{self, Frame, Share};
use super::real::{self, ALWAYS, ANYWHERE, Entry};
use super::region::run;
use super::shim::{Call, entries};
use super::{budget, chunk, pool};
use crate::runtimes::Instance;
use crate::sites;

struct League {
    function: usize,
    data: *mut u8,
    site: u32,
    scope: u64,
    runtime: *const Instance,
}

entries! { leagues, teams, by_function ALWAYS | ANYWHERE; GOMP_teams_reg = 0 }

unsafe extern "C-unwind" fn teams(call: &mut Call, entry: &Entry) -> usize {
    let h = adapter::handle();
    // SAFETY: the arguments are the entry point's, the handle is this thread's; the league outlives the call.
    unsafe {
        if h.is_null() {
            return call.forward(entry.real());
        }
        pool::tell_runtime();
        let paused = budget::pause(frame::current());
        let function = call.argument(0);
        let site = sites::at(function, primitive::PARALLEL, false);
        let mut league = League {
            function,
            data: call.argument(1) as *mut u8,
            site,
            scope: adapter::scope_open(h, false),
            runtime: real::called(),
        };
        call.set_argument(0, team as *const () as usize);
        call.set_argument(1, (&raw mut league) as usize);
        let result = call.forward(entry.real());
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
        let below = frame::current();
        let mut share = Share::new(0, 0);
        let mut here = Frame {
            share: &raw mut share,
            runtime: league.runtime,
            ..Frame::new(below, h, league.function)
        };
        frame::set_current(&raw mut here);
        run(league.function, league.data);
        frame::set_current(below);
        chunk::close(h, &mut share);
        adapter::task_end(h);
    }
}
