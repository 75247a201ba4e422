//! Samples of the code, their stacks, and the stacks' frames.

use super::Events;
use crate::text::line::Line;
use workspan_dag::Error;
use workspan_dag::NONE;
use workspan_dag::pools::{Member, Pool};
use workspan_dag::samples::{Frame, RawSample, RawStop, WaitCause};
use workspan_trace::entry::WaitKind;

/// The largest depth of a stack, because every sample of a stack is examined frame by frame.
/// Profilers truncate stacks far below this.
const MAX_STACK_DEPTH: usize = 10_000;

impl Events {
    pub(super) fn frame(&mut self, line: &Line<'_>) -> Result<(), Error> {
        let id = line.whole("frame")?;
        let index = self.raw.samples.frames.len() as u32;
        if self.frames.insert(id, index).is_some() {
            return line.fail(format!(
                "frame {id} is there already; expected a new number"
            ));
        }
        self.raw.samples.frames.push(Frame {
            function: line.text("function")?.to_owned(),
            file: line.text_or_none("file")?.map(str::to_owned),
            line: match line.given("line") {
                Some(_) => Some(line.small("line")?),
                None => None,
            },
            runtime: line.flag("runtime")?,
        });
        Ok(())
    }

    pub(super) fn stack(&mut self, line: &Line<'_>) -> Result<(), Error> {
        let id = line.whole("stack")?;
        let mut frames = Vec::new();
        let numbers = line.wholes("frames")?;
        if numbers.len() > MAX_STACK_DEPTH {
            return line.fail(format!(
                "a stack of {} frames; expected at most {MAX_STACK_DEPTH}",
                numbers.len()
            ));
        }
        for frame in numbers {
            match self.frames.get(&frame) {
                Some(&index) => frames.push(index),
                None => {
                    return line.fail(format!(
                        "no frame {frame}; expected a `frame` line with that number before"
                    ));
                }
            }
        }
        let index = self.raw.samples.stacks.len() as u32;
        if self.stacks.insert(id, index).is_some() {
            return line.fail(format!(
                "stack {id} is there already; expected a new number"
            ));
        }
        self.raw.samples.stacks.push(frames);
        Ok(())
    }

    pub(super) fn sample(&mut self, line: &Line<'_>) -> Result<(), Error> {
        let (t, stack) = (line.time("t")?, self.known_stack(line)?);
        if line.given("w").is_none() {
            self.raw.samples.others.push((t, stack));
            return Ok(());
        }
        let thread = self.thread(line, "w")?;
        self.raw.samples.list.push(RawSample { t, thread, stack });
        Ok(())
    }

    pub(super) fn stop(&mut self, line: &Line<'_>) -> Result<(), Error> {
        let (t, thread) = (line.time("t")?, self.thread(line, "w")?);
        let (stack, ticks) = (self.known_stack(line)?, line.time("ticks")?);
        self.raw.samples.stops.push(RawStop {
            t,
            thread,
            stack,
            ticks,
            wait: self.waited(line, ticks)?,
        });
        Ok(())
    }

    /// The reason of a stop.
    fn waited(&self, line: &Line<'_>, ticks: u64) -> Result<Option<WaitCause>, Error> {
        if line.given("on").is_none() {
            return Ok(None);
        }
        let by = match line.given("by") {
            Some(_) => self.thread(line, "by")?,
            None => NONE,
        };
        let released_at = match line.given("released") {
            Some(_) => self.stack_of(line, "released")?,
            None => NONE,
        };
        Ok(Some(WaitCause {
            kind: WaitKind::ALL[line.word("on", &WaitKind::NAMES)?],
            object: line.whole_or("object", 0)?,
            by,
            released_at,
            held: line.whole_or("held", ticks)?.min(ticks.saturating_add(1)),
        }))
    }

    fn known_stack(&self, line: &Line<'_>) -> Result<u32, Error> {
        self.stack_of(line, "stack")
    }

    fn stack_of(&self, line: &Line<'_>, key: &str) -> Result<u32, Error> {
        let id = line.whole(key)?;
        match self.stacks.get(&id) {
            Some(&stack) => Ok(stack),
            None => line.fail(format!(
                "no stack {id}; expected a `stack` line with that number before"
            )),
        }
    }

    pub(super) fn pool(&mut self, line: &Line<'_>) -> Result<(), Error> {
        let (from, to) = (line.time("t")?, line.time("to")?);
        let (number, next) = (line.whole("pool")?, self.raw.pools.list.len() as u64);
        if number != next {
            return line.fail(format!(
                "`pool` is {number}; expected {next}, as pools are numbered in their order"
            ));
        }
        self.raw.pools.list.push(Pool {
            size: line.small("size")?,
            from,
            to,
            built: line.text_or_none("at")?.map(str::to_owned),
        });
        Ok(())
    }

    pub(super) fn worker(&mut self, line: &Line<'_>) -> Result<(), Error> {
        let (from, to) = (line.time("t")?, line.time("to")?);
        let (thread, pool) = (self.thread(line, "w")?, line.whole("pool")?);
        let pools = self.raw.pools.list.len() as u64;
        if pool >= pools {
            return line.fail(format!(
                "no pool {pool}; expected a `pool` line with that number before"
            ));
        }
        self.raw.pools.members.push(Member {
            thread,
            from,
            to,
            pool: pool as u32,
        });
        Ok(())
    }
}
