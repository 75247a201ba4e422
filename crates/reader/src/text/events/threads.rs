//! Lines about threads instead of tasks: off-CPU times, steals, the scheduler's events and samples.

use super::{Events, OpenOffCpu};
use crate::text::line::Line;
use crate::text::value::Value;
use workspan_dag::Error;
use workspan_dag::{NONE, OffCpuInterval, OffCpuReason, RecorderRun, Steal, ThreadEvent};

impl Events {
    pub(super) fn recorder(&mut self, line: &Line<'_>) -> Result<(), Error> {
        let (t, w) = (line.time("t")?, self.thread(line, "w")?);
        let ticks = line.time("ticks")?;
        self.raw.recorder_runs.push(RecorderRun {
            thread: w,
            start: t,
            end: t.saturating_add(ticks),
        });
        Ok(())
    }

    pub(super) fn off(&mut self, line: &Line<'_>) -> Result<(), Error> {
        let (t, w) = (line.time("t")?, self.thread(line, "w")?);
        let why = [OffCpuReason::Preempted, OffCpuReason::Blocked]
            [line.word("why", &["preempted", "blocked"])?];
        let on = line.text_or_none("on")?.map(str::to_owned);
        if let Some(open) = self.open_offs.get(&w) {
            return line.fail(format!(
                "thread {w} is off already since line {}; expected an `on` before",
                open.line
            ));
        }
        self.thread_time(line, w, t)?;
        self.open_offs.insert(
            w,
            OpenOffCpu {
                line: line.number,
                t,
                why,
                on,
            },
        );
        Ok(())
    }

    pub(super) fn on(&mut self, line: &Line<'_>) -> Result<(), Error> {
        let (t, w) = (line.time("t")?, self.thread(line, "w")?);
        let Some(off) = self.open_offs.remove(&w) else {
            return line.fail(format!(
                "`on` of thread {w} without an `off`; expected an `off` before"
            ));
        };
        self.thread_time(line, w, t)?;
        self.raw.offs.push(OffCpuInterval {
            thread: w,
            start: off.t,
            end: t,
            why: off.why,
            on: off.on,
        });
        Ok(())
    }

    /// Checks that `off` and `on` lines of one thread are in time order.
    pub(super) fn thread_time(&mut self, line: &Line<'_>, w: u32, t: u64) -> Result<(), Error> {
        match self.last_off.insert(w, t) {
            Some(last) if last > t => {
                line.fail(format!("`{}` of thread {w} at {t}, earlier than its line before at {last}; expected time order", line.name))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn victim(&self, line: &Line<'_>) -> Result<u32, Error> {
        if line.get("victim") == Some(&Value::Null) {
            Ok(NONE)
        } else {
            self.thread(line, "victim")
        }
    }

    pub(super) fn steal(&mut self, line: &Line<'_>) -> Result<(), Error> {
        let (t, thief, victim, leap) = (
            line.time("t")?,
            self.thread(line, "w")?,
            self.victim(line)?,
            line.flag("leap")?,
        );
        if line.get("task") != Some(&Value::Null) {
            let task = line.whole("task")?;
            self.unresolved
                .steals
                .push((self.raw.steals.len(), task, line.number));
        }
        self.raw.steals.push(Steal {
            t,
            thief,
            victim,
            task: NONE,
            leap,
        });
        Ok(())
    }

    pub(super) fn thread_event(&mut self, line: &Line<'_>) -> Result<(), Error> {
        let (t, w) = (line.time("t")?, self.thread(line, "w")?);
        let event = match line.name.as_str() {
            "steal_failed" => ThreadEvent::StealFailed(self.victim(line)?),
            "sleep" => ThreadEvent::Sleep,
            "wake" => ThreadEvent::Wake,
            "cpu" => ThreadEvent::Cpu(line.number("load")?),
            _ => ThreadEvent::Queue(line.whole("depth")?),
        };
        self.raw.thread_events.push((t, w, event));
        Ok(())
    }
}
