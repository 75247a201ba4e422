//! A thread whose first records are not in the trace: the tasks on its stack become roots.

use workspan_trace::event::References;
use workspan_trace::thread_state::TaskState;

use super::frame::Frame;
use super::{Replay, ReplayThread, State};
use workspan_dag::raw::RawTask;
use workspan_dag::{NONE, ROOT_PLACE, TaskKind};

impl<'a> Replay<'a, '_> {
    /// Puts roots on the stack, for a thread's first record only. Later restart records repeat what
    /// is known.
    pub(super) fn restart(
        &mut self,
        lane: &mut ReplayThread<'a>,
        number: usize,
        t: u64,
        stack: References<'a>,
    ) {
        if !self.counts.restarts(number) || lane.restarted {
            return;
        }
        lane.restarted = true;
        for (_, code) in stack.iter() {
            let task = self.raw.tasks.len() as u32;
            self.raw.tasks.push(RawTask {
                number: u64::from(task),
                parent: NONE,
                kind: TaskKind::Root,
                site: ROOT_PLACE,
                scope: NONE,
            });
            self.log.before += 1;
            let place = TaskState::from_code(code);
            let mut frame = Frame::new(task, t);
            frame.stopped = place != TaskState::Running;
            frame.interrupted = place == TaskState::Interrupted;
            self.states.push(if frame.stopped {
                State::Stopped
            } else {
                State::Running
            });
            // When it stopped, and at what, is before the window: it begins where it continues.
            lane.stack.push(frame);
        }
    }
}
