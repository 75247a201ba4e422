//! Breaks deadlocks: if no worker can continue under the policy, one continues against it.

use super::{Engine, Frame};

impl Engine<'_> {
    /// Lets one worker continue against the policy. False if there is none that could.
    pub(super) fn break_deadlock(&mut self, t: u64) -> bool {
        let over = |frame: &Frame, members: &[u32]| matches!(frame, Frame::Wait(_, wait) if members[*wait as usize] == 0);
        for w in 0..self.workers.len() {
            let stack = &mut self.workers[w].stack;
            let found = stack.iter().rposition(|f| over(f, &self.members));
            if let Some(Frame::Wait(task, wait)) = found.map(|at| stack.remove(at)) {
                self.parked.remove(&wait);
                self.result.unstuck += 1;
                self.start(w as u32, task, t);
                return true;
            }
        }
        for w in 0..self.workers.len() {
            if let Some(task) = self.workers[w].queue.pop_back() {
                if self.workers[w].queue.is_empty() {
                    self.full.remove(w as u32);
                }
                self.result.unstuck += 1;
                self.start(w as u32, task, t);
                return true;
            }
        }
        for w in 0..self.workers.len() {
            let stack = &mut self.workers[w].stack;
            let found = stack.iter().rposition(|f| matches!(f, Frame::Call(_)));
            if let Some(Frame::Call(task)) = found.map(|at| stack.remove(at)) {
                self.result.unstuck += 1;
                self.start(w as u32, task, t);
                return true;
            }
        }
        // Work-first: the tasks that called a waiting task. Takes the smallest, because the order
        // of a hash map is undefined.
        let Some(&task) = self.callers.keys().min() else {
            return false;
        };
        let mut frames = self.callers.remove(&task).unwrap_or_default();
        let Some(Frame::Call(caller)) = frames.pop() else {
            return true;
        };
        if !frames.is_empty() {
            self.callers.insert(caller, frames);
        }
        self.result.unstuck += 1;
        self.start(0, caller, t);
        true
    }
}
