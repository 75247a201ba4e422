//! Decodes the records of an event chunk.

pub(crate) mod fast_decode;

use crate::wire::{self, Kind, RECORDER, TaskRef, get_head, get_varint};

/// What a task waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitFor<'a> {
    /// All children created before and not yet joined.
    Children,
    /// A scope (opener's thread, and that thread's scope count), closed by the wait.
    Scope(u32, u64),
    /// These tasks.
    Tasks(References<'a>),
    /// These signals, by number: the second part of each reference. The first part is 0.
    Signals(References<'a>),
    /// Children that a task with these dependences ([`wire::dependence`] kind, address) would
    /// depend on.
    Dependences(References<'a>),
    /// Stolen parts of the skipped subtree that the task is in.
    Parts,
}

/// A list of tasks, signals or dependences in a record, decoded during iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct References<'a> {
    bytes: &'a [u8],
    count: u64,
    pairs: bool,
}

impl References<'_> {
    /// The number of items.
    pub fn len(&self) -> u64 {
        self.count
    }
    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
    /// The items: (thread, count) for tasks, (0, number) for signals, (kind, address) for
    /// dependences, (label, increase) for readings.
    pub fn iter(&self) -> impl Iterator<Item = TaskRef> + '_ {
        let mut at = 0;
        (0..self.count).map_while(move |_| {
            let thread = if self.pairs {
                thread_of(get_varint(self.bytes, &mut at)?)
            } else {
                0
            };
            Some((thread, get_varint(self.bytes, &mut at)?))
        })
    }
}

/// A record; see [`Kind`] for the meaning of each. Sites written as site + 1 are `None` for 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(
    missing_docs,
    reason = "the fields are those of the records in `wire::Kind`"
)]
pub enum Event<'a> {
    Root,
    Begin(TaskRef),
    End,
    EndResume,
    Join {
        site: u32,
    },
    Next,
    Create {
        kind: u64,
        site: u32,
        scope: Option<TaskRef>,
    },
    Scope {
        tree: bool,
    },
    Wait {
        site: Option<u32>,
        what: WaitFor<'a>,
    },
    Resume,
    Yield {
        site: Option<u32>,
    },
    ResumeYielded {
        thread: u32,
        count: u64,
    },
    Leave {
        site: Option<u32>,
    },
    Depend {
        task: TaskRef,
        on: TaskRef,
    },
    Signal {
        site: Option<u32>,
        id: u64,
    },
    RegionBegin {
        label: u32,
        tree: bool,
    },
    RegionEnd {
        label: u32,
    },
    PartBegin {
        label: u32,
    },
    PartEnd {
        label: u32,
    },
    Steal {
        victim: Option<u32>,
        leap: bool,
        task: TaskRef,
    },
    StealFailed {
        victim: Option<u32>,
    },
    Sleep,
    Wake,
    Worker {
        pool: u32,
        index: u64,
    },
    WorkerEnd,
    Pool {
        pool: u32,
        size: u64,
    },
    PoolEnd {
        pool: u32,
    },
    Off {
        blocked: bool,
        ticks: u64,
    },
    /// From the time of this record on, the thread ran the recorder for `ticks`.
    Recorder {
        ticks: u64,
    },
    Folded(&'a [u8]),
    Counter {
        label: u32,
        value: u64,
    },
    Team {
        site: u32,
    },
    Member {
        team: TaskRef,
        phase: u64,
        index: u64,
    },
    Depends {
        task: TaskRef,
        on: References<'a>,
    },
    /// Pairs of counter label and increase.
    Readings(References<'a>),
    ResumeStopped(Stop),
    SkipBegin {
        site: u32,
        level: u64,
    },
    SkipEnd,
    StolenPart {
        of: TaskRef,
        site: u32,
    },
    SampleBegin {
        site: u32,
        level: u64,
    },
    Skip {
        tasks: u64,
        scopes: u64,
    },
    SkippedTasks {
        tasks: u64,
    },
    Restart {
        tasks: u64,
        scopes: u64,
        yields: u64,
        /// Pairs of 0 and a [`crate::thread_state::TaskState`].
        stack: References<'a>,
    },
}

/// The stop after which a task goes on ([`Kind::ResumeStopped`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// The wait or yield on `thread`, `ago` ticks before the record.
    At {
        /// The thread.
        thread: u32,
        /// Ticks between the stop and the record.
        ago: u64,
    },
    /// The wait for the signal with this number.
    Signal(u64),
}

/// Walks the records of one chunk.
#[derive(Debug, Clone)]
pub struct Events<'a> {
    bytes: &'a [u8],
    at: usize,
    now: u64,
    bad: bool,
}

/// Numbers that do not fit become the largest number, which no thread, site or label has.
#[inline]
fn thread_of(v: u64) -> u32 {
    u32::try_from(v).unwrap_or(u32::MAX)
}

/// Decodes site + 1 or thread + 1, where 0 means unknown.
#[inline]
fn optional(v: u64) -> Option<u32> {
    v.checked_sub(1).map(thread_of)
}

impl<'a> Events<'a> {
    /// Walks over a chunk's payload, with the chunk's base time.
    pub fn new(payload: &'a [u8], base_ticks: u64) -> Events<'a> {
        Events {
            bytes: payload,
            at: 0,
            now: base_ticks,
            bad: false,
        }
    }

    /// Offset in the payload of the next record, or of the bad one if the walk ended there.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Whether the walk ended at bytes that are not a record.
    pub fn is_bad(&self) -> bool {
        self.bad
    }

    /// The time of the next record, of which only the head is read; `None` at the end, at padding,
    /// and where there is no valid head.
    #[inline]
    pub fn peek(&self) -> Option<u64> {
        let mut at = self.at;
        if *self.bytes.get(at)? == Kind::Pad as u8 || self.bad {
            return None;
        }
        let (_, delta) = get_head(self.bytes, &mut at)?;
        Some(self.now.saturating_add(delta))
    }

    #[inline(always)]
    fn number(&self, at: &mut usize) -> Option<u64> {
        get_varint(self.bytes, at)
    }

    #[inline(always)]
    fn pair(&self, at: &mut usize) -> Option<TaskRef> {
        Some((thread_of(self.number(at)?), self.number(at)?))
    }

    fn references(&self, at: &mut usize, pairs: bool) -> Option<References<'a>> {
        let count = self.number(at)?;
        let bytes = self.bytes.get(*at..)?;
        if count > bytes.len() as u64 {
            return None;
        }
        for _ in 0..count {
            if pairs {
                self.number(at)?;
            }
            self.number(at)?;
        }
        Some(References {
            bytes,
            count,
            pairs,
        })
    }

    /// Decodes the next record of any kind.
    #[inline(never)]
    fn any(&mut self) -> Option<(u64, Event<'a>)> {
        let first = *self.bytes.get(self.at)?;
        if first == Kind::Pad as u8 || self.bad {
            return None;
        }
        let mut at = self.at;
        let Some(item) = self.decode(&mut at) else {
            self.bad = true;
            return None;
        };
        self.at = at;
        self.now = item.0;
        Some(item)
    }

    #[inline]
    fn decode(&self, at: &mut usize) -> Option<(u64, Event<'a>)> {
        let (kind, delta) = get_head(self.bytes, at)?;
        let event = match kind {
            k if k == Kind::Join as u8 => Event::Join {
                site: thread_of(self.number(at)?),
            },
            k if k == Kind::End as u8 => Event::End,
            k if k == Kind::Next as u8 => Event::Next,
            k if k == Kind::EndResume as u8 => Event::EndResume,
            k if k == Kind::Begin as u8 => Event::Begin(self.pair(at)?),
            k if k == Kind::Resume as u8 => Event::Resume,
            k if k == Kind::Root as u8 => Event::Root,
            k if k == Kind::Create as u8 => {
                let flags = self.number(at)?;
                let site = thread_of(self.number(at)?);
                let scope = if flags & wire::create::SCOPED != 0 {
                    Some(self.pair(at)?)
                } else {
                    None
                };
                Event::Create {
                    kind: flags & wire::create::KIND,
                    site,
                    scope,
                }
            }
            k if k == Kind::Scope as u8 => Event::Scope {
                tree: self.number(at)? != 0,
            },
            k if k == Kind::Wait as u8 => {
                let site = optional(self.number(at)?);
                let what = match self.number(at)? {
                    wire::wait::CHILDREN => WaitFor::Children,
                    wire::wait::SCOPE => {
                        let (thread, seq) = self.pair(at)?;
                        WaitFor::Scope(thread, seq)
                    }
                    wire::wait::TASKS => WaitFor::Tasks(self.references(at, true)?),
                    wire::wait::SIGNALS => WaitFor::Signals(self.references(at, false)?),
                    wire::wait::DEPENDENCES => WaitFor::Dependences(self.references(at, true)?),
                    wire::wait::PARTS => WaitFor::Parts,
                    _ => return None,
                };
                Event::Wait { site, what }
            }
            k if k == Kind::Yield as u8 => Event::Yield {
                site: optional(self.number(at)?),
            },
            k if k == Kind::ResumeYielded as u8 => {
                let (thread, count) = self.pair(at)?;
                Event::ResumeYielded { thread, count }
            }
            k if k == Kind::Leave as u8 => Event::Leave {
                site: optional(self.number(at)?),
            },
            k if k == Kind::Depend as u8 => Event::Depend {
                task: self.pair(at)?,
                on: self.pair(at)?,
            },
            k if k == Kind::Signal as u8 => Event::Signal {
                site: optional(self.number(at)?),
                id: self.number(at)?,
            },
            k if k == Kind::RegionBegin as u8 => Event::RegionBegin {
                label: thread_of(self.number(at)?),
                tree: self.number(at)? != 0,
            },
            k if k == Kind::RegionEnd as u8 => Event::RegionEnd {
                label: thread_of(self.number(at)?),
            },
            k if k == Kind::PartBegin as u8 => Event::PartBegin {
                label: thread_of(self.number(at)?),
            },
            k if k == Kind::PartEnd as u8 => Event::PartEnd {
                label: thread_of(self.number(at)?),
            },
            k if k == Kind::Steal as u8 => {
                let victim = optional(self.number(at)?);
                Event::Steal {
                    victim,
                    leap: self.number(at)? != 0,
                    task: self.pair(at)?,
                }
            }
            k if k == Kind::StealFailed as u8 => Event::StealFailed {
                victim: optional(self.number(at)?),
            },
            k if k == Kind::Sleep as u8 => Event::Sleep,
            k if k == Kind::Wake as u8 => Event::Wake,
            k if k == Kind::Worker as u8 => Event::Worker {
                pool: thread_of(self.number(at)?),
                index: self.number(at)?,
            },
            k if k == Kind::WorkerEnd as u8 => Event::WorkerEnd,
            k if k == Kind::Pool as u8 => Event::Pool {
                pool: thread_of(self.number(at)?),
                size: self.number(at)?,
            },
            k if k == Kind::PoolEnd as u8 => Event::PoolEnd {
                pool: thread_of(self.number(at)?),
            },
            k if k == Kind::Off as u8 => match self.number(at)? {
                RECORDER => Event::Recorder {
                    ticks: self.number(at)?,
                },
                why => Event::Off {
                    blocked: why != 0,
                    ticks: self.number(at)?,
                },
            },
            k if k == Kind::Folded as u8 => {
                let length = usize::try_from(self.number(at)?).ok()?;
                let bytes = self.bytes.get(*at..at.checked_add(length)?)?;
                *at += length;
                Event::Folded(bytes)
            }
            k if k == Kind::Counter as u8 => Event::Counter {
                label: thread_of(self.number(at)?),
                value: self.number(at)?,
            },
            k if k == Kind::Team as u8 => Event::Team {
                site: thread_of(self.number(at)?),
            },
            k if k == Kind::Member as u8 => Event::Member {
                team: self.pair(at)?,
                phase: self.number(at)?,
                index: self.number(at)?,
            },
            k if k == Kind::Depends as u8 => Event::Depends {
                task: self.pair(at)?,
                on: self.references(at, true)?,
            },
            k if k == Kind::Readings as u8 => Event::Readings(self.references(at, true)?),
            k if k == Kind::ResumeStopped as u8 => {
                let thread = optional(self.number(at)?);
                let number = self.number(at)?;
                Event::ResumeStopped(match thread {
                    Some(thread) => Stop::At {
                        thread,
                        ago: number,
                    },
                    None => Stop::Signal(number),
                })
            }
            k if k == Kind::SkipBegin as u8 => Event::SkipBegin {
                site: thread_of(self.number(at)?),
                level: self.number(at)?,
            },
            k if k == Kind::SkipEnd as u8 => Event::SkipEnd,
            k if k == Kind::StolenPart as u8 => Event::StolenPart {
                of: self.pair(at)?,
                site: thread_of(self.number(at)?),
            },
            k if k == Kind::SampleBegin as u8 => Event::SampleBegin {
                site: thread_of(self.number(at)?),
                level: self.number(at)?,
            },
            k if k == Kind::Skip as u8 => Event::Skip {
                tasks: self.number(at)?,
                scopes: self.number(at)?,
            },
            k if k == Kind::Restart as u8 => Event::Restart {
                tasks: self.number(at)?,
                scopes: self.number(at)?,
                yields: self.number(at)?,
                stack: self.references(at, false)?,
            },
            k if k == Kind::SkippedTasks as u8 => Event::SkippedTasks {
                tasks: self.number(at)?,
            },
            _ => return None,
        };
        Some((self.now.saturating_add(delta), event))
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = (u64, Event<'a>);

    /// The next record and its time in ticks; `None` at the end, at padding, and at bytes that are
    /// not a record ([`Events::is_bad`]).
    #[inline]
    fn next(&mut self) -> Option<(u64, Event<'a>)> {
        self.fast_decode().or_else(|| self.any())
    }
}
