//! Samples of the code, the stacks they name, and the frames of those.

use super::Events;
use crate::error::Error;
use crate::samples::{Frame, RawSample};
use crate::text::line::Line;

/// Every sample of a stack is looked at frame by frame. Profilers cut stacks far below this.
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
        let told = line.wholes("frames")?;
        if told.len() > MAX_STACK_DEPTH {
            return line.fail(format!(
                "a stack of {} frames; expected at most {MAX_STACK_DEPTH}",
                told.len()
            ));
        }
        for frame in told {
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
        let (t, thread) = (line.time("t")?, self.thread(line, "w")?);
        let id = line.whole("stack")?;
        let Some(&stack) = self.stacks.get(&id) else {
            return line.fail(format!(
                "no stack {id}; expected a `stack` line with that number before"
            ));
        };
        self.raw.samples.list.push(RawSample { t, thread, stack });
        Ok(())
    }
}
