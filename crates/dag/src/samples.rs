//! Samples of where threads were in their code, taken by a clock and joined to strands by thread
//! and time.

use workspan_trace::entry::RECORDING;
pub use workspan_trace::entry::WaitKind as WaitedFor;

use crate::dag::{NONE, RaggedArray, StrandId, Strands, ThreadId};

/// A function on a stack; an inlined function has a frame of its own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Frame {
    /// Readable name.
    pub function: String,
    /// Source file, relative to the workspace if it lies inside.
    pub file: Option<String>,
    /// 1-based line.
    pub line: Option<u32>,
    /// It belongs to the task-parallel runtime or to the code that starts threads, not to the
    /// program.
    pub runtime: bool,
}

impl Frame {
    /// A frame about which nothing is known.
    pub fn unknown() -> Frame {
        Frame {
            function: "?".into(),
            ..Frame::default()
        }
    }
}

/// The samples of a run, by time, then thread.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Samples {
    /// Samples taken per second of CPU time, so each stands for 1/hertz seconds; 0 if no samples
    /// were taken.
    pub hertz: u32,
    /// Time of each sample, in ticks.
    pub t: Vec<u64>,
    /// Thread of each sample.
    pub thread: Vec<ThreadId>,
    /// Index into [`Samples::stacks`].
    pub stack: Vec<u32>,
    /// The strand that ran. [`NONE`] if the thread ran no strand (the runtime's own time), and for
    /// the recorder's code, whose time belongs to no strand.
    pub strand: Vec<StrandId>,
    /// Samples of threads that were not threads of the run at that time, by time: the time, and an
    /// index into [`Samples::stacks`]. Such a thread never calls the runtime, or has not called it
    /// yet.
    pub others: Vec<(u64, u32)>,
    /// The moments at which strands gave up the CPU, by time, then thread.
    pub stops: Vec<Stop>,
    /// Frames, each once.
    pub frames: Vec<Frame>,
    /// Stacks: indices into [`Samples::frames`], innermost first.
    pub stacks: RaggedArray,
}

/// A moment at which a strand gave up the CPU; if that was often, one of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop {
    /// The time, in ticks.
    pub t: u64,
    /// The thread.
    pub thread: ThreadId,
    /// The thread's stack then: an index into [`Samples::stacks`].
    pub stack: u32,
    /// The strand.
    pub strand: StrandId,
    /// Time off the CPU, in ticks.
    pub ticks: u64,
    /// What the strand waited for, if the process itself reported it.
    pub wait: Option<WaitCause>,
}

/// What a thread waited for, and the thread that ended the wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WaitCause {
    /// The kind of object.
    pub kind: WaitedFor,
    /// Which lock, condition variable, …: equal numbers are one object; 0 if unknown.
    pub object: u64,
    /// The thread that ended the wait; [`NONE`] for unknown.
    pub by: ThreadId,
    /// The stack of that thread when it released the object; [`NONE`] for unknown.
    pub released_at: u32,
    /// Time for which the object was held after the thread gave up the CPU, in ticks. The rest
    /// passed until the thread was back. More than the stop's ticks if the object was still held
    /// then, or held again: the thread only came back to wait on.
    pub held: u64,
}

impl Stop {
    /// Whether the object was still held, or held again, when the thread came back onto a CPU.
    pub fn waits_on(&self) -> bool {
        self.wait.is_some_and(|wait| wait.held > self.ticks)
    }
}

impl Frame {
    /// Whether it is the program's own code, not a library's, as far as its file tells.
    pub fn is_program(&self) -> bool {
        let Some(file) = &self.file else {
            return false;
        };
        let package = |part: &str| {
            part.rsplit_once('-')
                .is_some_and(|(_, version)| version.starts_with(|c: char| c.is_ascii_digit()))
        };
        !self.runtime
            && !file.starts_with("/usr/")
            && !file.starts_with("/rustc/")
            && !file.starts_with("library/")
            && !file.contains("/registry/src/")
            && !file.contains("/rustlib/src/")
            && !file.split('/').next().is_some_and(package)
    }

    /// Whether it stands for the recorder's code.
    pub fn is_recording(&self) -> bool {
        self.runtime && self.function == RECORDING
    }
}

impl Samples {
    /// Number of samples.
    pub fn len(&self) -> usize {
        self.t.len()
    }

    /// True if there are no samples.
    pub fn is_empty(&self) -> bool {
        self.t.is_empty()
    }

    /// By stack: whether its innermost frame is the recorder's.
    pub fn in_recording(&self) -> Vec<bool> {
        let innermost = |stack| self.stacks.get(stack).first();
        let recording = |&frame: &u32| self.frames[frame as usize].is_recording();
        (0..self.stacks.len())
            .map(|stack| innermost(stack).is_some_and(recording))
            .collect()
    }

    /// The frames that belong to the strand itself, innermost first: those above the runtime's
    /// innermost frame, which called the task. If the innermost frame is the runtime's, it
    /// represents the runtime's own code.
    pub fn own_frames(&self, stack: u32) -> impl Iterator<Item = &Frame> {
        let frames = self.stacks.get(stack as usize);
        let own = frames
            .iter()
            .position(|&f| self.frames[f as usize].runtime)
            .unwrap_or(frames.len())
            .max(usize::from(!frames.is_empty()));
        frames[..own].iter().map(|&f| &self.frames[f as usize])
    }
}

/// A sample as read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RawSample {
    /// The time, in ticks.
    pub t: u64,
    /// Thread.
    pub thread: u32,
    /// Index into the stacks.
    pub stack: u32,
}

/// A time off the CPU as read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RawStop {
    /// Its start, in ticks.
    pub t: u64,
    /// Thread.
    pub thread: u32,
    /// Index into the stacks.
    pub stack: u32,
    /// Its length, in ticks.
    pub ticks: u64,
    /// See [`Stop::wait`].
    pub wait: Option<WaitCause>,
}

/// Samples as read, in any order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RawSamples {
    /// See [`Samples::hertz`].
    pub hertz: u32,
    /// The samples.
    pub list: Vec<RawSample>,
    /// See [`Samples::others`].
    pub others: Vec<(u64, u32)>,
    /// The moments at which threads gave up the CPU.
    pub stops: Vec<RawStop>,
    /// See [`Samples::frames`].
    pub frames: Vec<Frame>,
    /// See [`Samples::stacks`].
    pub stacks: RaggedArray,
}

/// Finds each sample's strand: O(n + m log m) for n strands and m samples. Samples with an invalid
/// stack or thread are left out, and so are stops outside strands: there a thread has nothing to
/// do.
pub(crate) fn place(mut raw: RawSamples, strands: &Strands, threads: u32) -> Samples {
    let stacks = raw.stacks.len() as u32;
    raw.list
        .retain(|sample| sample.stack < stacks && sample.thread < threads);
    raw.list.sort_unstable();
    raw.others.retain(|&(_, stack)| stack < stacks);
    raw.others.sort_unstable();
    raw.stops
        .retain(|stop| stop.stack < stacks && stop.thread < threads);
    raw.stops.sort_unstable();
    let frames = raw.frames.len() as u32;
    let mut samples = Samples {
        hertz: raw.hertz,
        frames: raw.frames,
        stacks: raw.stacks,
        ..Samples::default()
    };
    if samples.stacks.items.iter().any(|&frame| frame >= frames) {
        samples.frames.push(Frame::unknown());
        let unknown = |frame: &mut u32| *frame = (*frame).min(frames);
        samples.stacks.items.iter_mut().for_each(unknown);
    }
    samples.others = raw.others;
    let recording = samples.in_recording();
    let mut running = Running::new(strands, threads, raw.stops.is_empty());
    for stop in raw.stops {
        let strand = running.at(stop.t, stop.thread);
        if strand != NONE {
            samples.stops.push(Stop {
                t: stop.t,
                thread: stop.thread,
                stack: stop.stack,
                strand,
                ticks: stop.ticks,
                wait: stop.wait.map(|wait| known(wait, stacks, threads)),
            });
        }
    }
    let mut running = Running::new(strands, threads, raw.list.is_empty());
    for sample in raw.list {
        let strand = running.at(sample.t, sample.thread);
        let inside = strand != NONE && !recording[sample.stack as usize];
        samples.t.push(sample.t);
        samples.thread.push(sample.thread);
        samples.stack.push(sample.stack);
        samples.strand.push(if inside { strand } else { NONE });
    }
    samples
}

/// The wait without invalid threads and stacks.
fn known(wait: WaitCause, stacks: u32, threads: u32) -> WaitCause {
    let below = |number: u32, count: u32| if number < count { number } else { NONE };
    WaitCause {
        by: below(wait.by, threads),
        released_at: below(wait.released_at, stacks),
        ..wait
    }
}

/// What threads run, for queries in ascending order of time.
pub(crate) struct Running<'a> {
    strands: &'a Strands,
    next: usize,
    /// The strand that began last on each thread; strands of one thread do not overlap.
    last: Vec<StrandId>,
}

impl<'a> Running<'a> {
    /// With `unasked` there must be no queries.
    pub(crate) fn new(strands: &'a Strands, threads: u32, unasked: bool) -> Self {
        let threads = if unasked { 0 } else { threads as usize };
        Running {
            strands,
            next: 0,
            last: vec![NONE; threads],
        }
    }

    /// The strand that `thread` runs at `time`; [`NONE`] if it runs none.
    pub(crate) fn at(&mut self, time: u64, thread: ThreadId) -> StrandId {
        let strands = self.strands;
        while self.next < strands.len() && strands.start[self.next] <= time {
            if strands.end[self.next] > strands.start[self.next] {
                self.last[strands.thread[self.next] as usize] = self.next as u32;
            }
            self.next += 1;
        }
        match self.last[thread as usize] {
            NONE => NONE,
            strand if time < strands.end[strand as usize] => strand,
            _ => NONE,
        }
    }
}
