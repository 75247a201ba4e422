//! The lines of a log.

use std::collections::BTreeMap;

use workspan_dag::Error;
use workspan_dag::build::MAX_THREADS;

/// The first line.
const FIRST_LINE: &[u8] = b"---BEGIN STARTENDTIMES---";
/// Columns of Wool's table of events.
pub(super) const COLUMNS: [&str; 9] = [
    "spawns",
    "inlined",
    "read",
    "wait",
    "steal tries",
    "steals",
    "leap tries",
    "leaps",
    "spins",
];
/// The largest time: 2^63 - 1.
const MAX_TIME: u64 = i64::MAX as u64;

/// Whether the bytes begin like a log.
pub(super) fn begins(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(FIRST_LINE)
}

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A steal or leapfrog succeeded.
    Stolen,
    /// The stolen task has ended.
    Done,
    /// A sync waits for a stolen task.
    Wait,
    /// The wait is over.
    Joined,
    Spawn,
    Sync,
    /// An attempt to steal from this worker.
    Attempt(u32),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Event {
    pub worker: u32,
    pub kind: Kind,
    pub t: u64,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub thief: u32,
    pub victim: u32,
    pub t: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Spawn {
    pub worker: u32,
    pub t: u64,
    pub name: String,
}

#[derive(Debug, Clone)]
pub(super) struct TableRow {
    /// The worker; `None` for the sums.
    pub worker: Option<u32>,
    pub counts: Vec<u64>,
}

/// A log. Times are absolute until [`Log::align`], then ticks from the start of the main task.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub workers: u32,
    pub start: u64,
    pub end: u64,
    pub steals: Vec<Mark>,
    pub leaps: Vec<Mark>,
    pub spawns: Vec<Spawn>,
    /// Events by worker, in time order. The events of all workers are in the order of the file.
    pub events: Vec<Event>,
    /// (time, worker, load from 0 to 1).
    pub loads: Vec<(u64, u32, f64)>,
    pub table: Vec<TableRow>,
    /// What could not be read, as a sentence.
    pub damage: Option<String>,
}

/// A part of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Steals,
    Leaps,
    Spawns,
    Loads,
    Other,
}

struct Line<'a> {
    number: usize,
    text: &'a str,
}

impl Line<'_> {
    fn fail<T>(&self, what: impl std::fmt::Display) -> Result<T, Error> {
        Err(Error::Text {
            line: self.number,
            what: what.to_string(),
        })
    }

    fn number(&self, text: &str, what: &str) -> Result<u64, Error> {
        match text.trim().parse::<u64>() {
            Ok(n) if n <= MAX_TIME => Ok(n),
            _ => self.fail(format!(
                "{what} is `{}`; expected a whole number from 0 to 2^63 - 1",
                shown(text)
            )),
        }
    }
}

/// The beginning of a text, for error messages.
fn shown(text: &str) -> String {
    text.trim()
        .chars()
        .take(40)
        .collect::<String>()
        .escape_default()
        .to_string()
}

impl Log {
    pub(super) fn parse(bytes: &[u8], allow_truncated: bool) -> Result<Log, Error> {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = (1..)
            .zip(text.lines())
            .map(|(number, text)| Line {
                number,
                text: text.trim(),
            })
            .filter(|line| !line.text.is_empty());
        let mut log = Log::default();
        lines.next();
        let mut header = |what: &str| match lines.next() {
            Some(line) => line.number(line.text, what),
            None => Err(Error::Text {
                line: 0,
                what: format!(
                    "ends before {what}; expected the workers, the start and the end of the main task, a line each"
                ),
            }),
        };
        let workers = header("the number of workers")?;
        log.start = header("the start")?;
        log.end = header("the end")?;
        log.workers = match u32::try_from(workers) {
            Ok(n) if (1..=MAX_THREADS).contains(&n) => n,
            _ => {
                let what = format!("{workers} workers; expected 1 to {MAX_THREADS}");
                return Err(Error::Text { line: 2, what });
            }
        };
        if log.end < log.start {
            let what = format!("ends at {}, before its start at {}", log.end, log.start);
            return Err(Error::Text { line: 4, what });
        }
        let mut block = Block::Steals;
        let mut last = BTreeMap::new();
        for line in lines {
            if let Err(error) = log.take(&line, &mut block, &mut last) {
                if !allow_truncated {
                    return Err(error);
                }
                log.damage = Some(format!(
                    "The log is damaged ({error}); what stands before is shown."
                ));
                break;
            }
        }
        Ok(log)
    }

    fn take(
        &mut self,
        line: &Line,
        block: &mut Block,
        last: &mut BTreeMap<u32, u64>,
    ) -> Result<(), Error> {
        let text = line.text;
        match text {
            "<leaps>" => *block = Block::Leaps,
            "<spawns>" => *block = Block::Spawns,
            "<cpu_usage>" => *block = Block::Loads,
            _ if text.starts_with('<') => *block = Block::Other,
            _ => {
                let mut words = text.split_whitespace();
                match words.next() {
                    Some("EVENT") => {
                        let words: Vec<&str> = words.take(4).collect();
                        let event = self.event(line, &words)?;
                        let before = last.entry(event.worker).or_insert(0);
                        if event.t < *before {
                            return line.fail(format!(
                                "worker {} was at {before} before; expected that or later",
                                event.worker
                            ));
                        }
                        *before = event.t;
                        self.events.push(event);
                    }
                    Some("STAT") => {
                        let worker = self.worker(line, words.next().unwrap_or_default())?;
                        self.row(line, Some(worker), words)?;
                    }
                    Some("ALL") => self.row(line, None, words)?,
                    Some(first) if first.starts_with(|c: char| c.is_ascii_digit() || c == '[') => {
                        self.entry(line, *block)?;
                    }
                    // Wool's own lines: the heading of its table, the correction of clocks.
                    _ => *block = Block::Other,
                }
            }
        }
        Ok(())
    }

    fn worker(&self, line: &Line, text: &str) -> Result<u32, Error> {
        match text.parse::<u32>() {
            Ok(worker) if worker < self.workers => Ok(worker),
            _ => line.fail(format!(
                "worker `{}`; expected one of {} workers, from 0",
                shown(text),
                self.workers
            )),
        }
    }

    fn event(&self, line: &Line, words: &[&str]) -> Result<Event, Error> {
        let &[worker, kind, t] = words else {
            return line
                .fail("an EVENT of other than three values; expected worker, type and time");
        };
        let kind = match line.number(kind, "the type")? {
            1 => Kind::Stolen,
            2 => Kind::Done,
            3 => Kind::Wait,
            4 => Kind::Joined,
            5 => Kind::Spawn,
            6 => Kind::Sync,
            attempt @ 100.. => Kind::Attempt(self.worker(line, &(attempt - 100).to_string())?),
            other => {
                return line.fail(format!(
                    "type {other}; expected 1 to 6, or 100 and a worker"
                ));
            }
        };
        Ok(Event {
            worker: self.worker(line, worker)?,
            kind,
            t: line.number(t, "the time")?,
        })
    }

    fn row<'a>(
        &mut self,
        line: &Line,
        worker: Option<u32>,
        cells: impl Iterator<Item = &'a str>,
    ) -> Result<(), Error> {
        let cells = cells.take(COLUMNS.len() + 1);
        let counts: Result<Vec<u64>, Error> =
            cells.map(|cell| line.number(cell, "a count")).collect();
        let counts = counts?;
        if counts.len() != COLUMNS.len() {
            return line.fail(format!(
                "{} columns; expected {}",
                counts.len(),
                COLUMNS.len()
            ));
        }
        self.table.push(TableRow { worker, counts });
        Ok(())
    }

    fn entry(&mut self, line: &Line, block: Block) -> Result<(), Error> {
        let text = line.text.trim_start_matches('[').trim_end_matches(']');
        let mut cells = text.splitn(3, ':').map(str::trim);
        let [first, second, third] = [(); 3].map(|()| cells.next());
        let (Some(first), Some(second), Some(third)) = (first, second, third) else {
            if block == Block::Other {
                return Ok(());
            }
            return line.fail("expected three values with colons between");
        };
        match block {
            Block::Steals | Block::Leaps => {
                let mark = Mark {
                    thief: self.worker(line, first)?,
                    victim: self.worker(line, second)?,
                    t: line.number(third, "the time")?,
                };
                let list = if block == Block::Leaps {
                    &mut self.leaps
                } else {
                    &mut self.steals
                };
                list.push(mark);
            }
            Block::Spawns => {
                let spawn = Spawn {
                    worker: self.worker(line, first)?,
                    t: line.number(second, "the time")?,
                    name: third.to_owned(),
                };
                self.spawns.push(spawn);
            }
            Block::Loads => {
                let worker = self.worker(line, first)?;
                let t = line.number(second, "the time")?;
                match third.trim_end_matches('%').trim().parse::<f64>() {
                    Ok(load) if (0.0..=1e6).contains(&load) => {
                        self.loads.push((t, worker, load / 100.0));
                    }
                    _ => {
                        return line
                            .fail(format!("a load of `{}`; expected per cent", shown(third)));
                    }
                }
            }
            Block::Other => {}
        }
        Ok(())
    }

    /// Counts all times from the start of the main task. Events have a clock of their own. The two
    /// clocks meet at the first spawn, or at the first event if no spawn was logged with its name.
    pub(super) fn align(&mut self) {
        let start = self.start;
        let first_event = {
            let event_of = |kind: Option<Kind>| {
                let events = self.events.iter();
                let those = events.filter(|e| kind.is_none_or(|kind| e.kind == kind));
                those.map(|e| e.t).min()
            };
            let spawn = self.spawns.iter().map(|s| s.t).min();
            match (event_of(Some(Kind::Spawn)), spawn) {
                (Some(event), Some(spawn)) => Some((event, spawn.saturating_sub(start))),
                _ => event_of(None).map(|event| (event, 0)),
            }
        };
        if let Some((event, at)) = first_event {
            for e in &mut self.events {
                // Events before the main task count as being at its start.
                e.t = (e.t.saturating_add(at)).saturating_sub(event).min(MAX_TIME);
            }
        }
        let times = self
            .steals
            .iter_mut()
            .chain(&mut self.leaps)
            .map(|m| &mut m.t);
        let times = times.chain(self.spawns.iter_mut().map(|s| &mut s.t));
        for t in times.chain(self.loads.iter_mut().map(|l| &mut l.0)) {
            *t = t.saturating_sub(start);
        }
        let last = self.events.iter().map(|e| e.t).max().unwrap_or(0);
        self.end = (self.end - start).max(last);
    }
}
