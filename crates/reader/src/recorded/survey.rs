//! The first walk over all events: how much of everything there is, and the tasks' numbers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use workspan_trace::event::{Event, Events, Stop};

use super::Extent;
use super::chunks_by_thread::{Thread, TraceChunks};
use super::probe;
use super::skipped::{SkipCosts, Unrecorded};
use super::teams::Teams;
use workspan_dag::Error;
use workspan_dag::NONE;
use workspan_dag::cancel::Checkpoint;

/// What the first walk learnt.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// Where each thread's tasks, scopes and yields begin in the lists of all; one more than there
    /// are threads. Behind all threads' tasks come the members of regions, which no thread creates.
    pub tasks: Vec<u32>,
    pub scopes: Vec<u32>,
    pub yields: Vec<u32>,
    /// Index of each task in the order of creation, and back.
    pub index: Vec<u32>,
    pub created: Vec<u64>,
    /// Yields that some thread says it took over.
    pub taken: Vec<bool>,
    /// Stops that some thread goes on from by [`Event::ResumeStopped`], ascending, each once.
    pub named: Vec<Named>,
    /// Parallel regions.
    pub teams: Teams,
    /// Subtrees that were not recorded.
    pub unrecorded: Unrecorded,
    /// Tasks, scopes and yields that folded records stand for, or that were told of before what the
    /// trace has of a thread.
    skipped: [Vec<Skipped>; 3],
    /// The places of threads whose first record says what they had open, ascending.
    restarts: Vec<usize>,
    /// Strands, about.
    pub strands: usize,
    /// Joins, each of which opens a scope that no record names.
    pub joins: usize,
    /// Records.
    pub events: u64,
    /// First and last moment of all events, in the file's ticks.
    pub first: u64,
    pub last: u64,
    /// Chunks that hold bytes that are no record.
    pub bad: u64,
}

const TASKS: usize = 0;
const SCOPES: usize = 1;
const YIELDS: usize = 2;

/// What a thread counted that is not in the trace: (number counted before, that are in the trace;
/// number left out, up to and with this one), ascending.
#[derive(Debug, Default)]
pub(super) struct Skipped(Vec<(u64, u64)>);

impl Skipped {
    /// After `told`, which are in the trace, so many are not.
    pub(super) fn skip(&mut self, told: u64, left_out: u64) {
        if left_out == 0 {
            return;
        }
        match self.0.last_mut() {
            Some((at, sum)) if *at == told => *sum = sum.saturating_add(left_out),
            last => {
                let before = last.map_or(0, |l| l.1);
                self.0.push((told, before.saturating_add(left_out)));
            }
        }
    }

    /// How many are not, so far.
    fn all(&self) -> u64 {
        self.0.last().map_or(0, |last| last.1)
    }

    /// Which of those in the trace the thread's `survey`-th is; `None` for one that is not.
    pub(super) fn kept(&self, count: u64) -> Option<u64> {
        let after = self
            .0
            .partition_point(|&(told, left_out)| told.saturating_add(left_out) <= count);
        let before = after.checked_sub(1).map_or(0, |last| self.0[last].1);
        let kept = count - before;
        match self.0.get(after) {
            Some(&(told, _)) if kept >= told => None,
            _ => Some(kept),
        }
    }
}

/// The place of a thread's `survey`-th in the list of all, `starts` being where each thread's
/// begin.
fn place(slot: usize, starts: &[u32], count: u64) -> Option<u32> {
    let (from, to) = (starts[slot], starts[slot + 1]);
    (count < u64::from(to - from)).then(|| from + count as u32)
}

/// A stop that a record on another thread speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Named {
    /// On this thread (its place in the list), at this time in the file's ticks.
    At(u32, u64),
    /// The wait for this signal.
    Signal(u64),
}

impl Named {
    /// What a record at time `t` speaks of; `None` when there is no such thread.
    pub(super) fn of(stop: Stop, t: u64, threads: &[Thread<'_>]) -> Option<Named> {
        match stop {
            Stop::At { thread, ago } => {
                let slot = slot(threads, thread)?;
                Some(Named::At(slot as u32, t.saturating_sub(ago)))
            }
            Stop::Signal(id) => Some(Named::Signal(id)),
        }
    }
}

/// Times are 63 bits, as in a text trace.
pub(super) const LATEST: u64 = i64::MAX as u64;

/// Calls `f` for every record of a thread; the offset in the file of bytes that are no record, when
/// it met some. Of what stands behind these, only times off the CPU are told.
pub(super) fn walk<'a>(thread: &Thread<'a>, mut f: impl FnMut(u64, Event<'a>)) -> Option<u64> {
    let mut steps = Checkpoint::default();
    let mut bad = None;
    for chunk in &thread.chunks {
        if bad.is_some() && !chunk.off_cpu {
            continue;
        }
        let mut events = Events::new(chunk.bytes, chunk.base);
        // No iterator over another: each would hand every record on by a copy.
        loop {
            steps.step();
            let Some((t, event)) = events.next() else {
                break;
            };
            f(t, event);
        }
        if events.is_bad() && bad.is_none() {
            bad = Some(chunk.offset + events.offset() as u64);
        }
    }
    bad
}

/// Where a thread's number stands in the list of threads.
pub(super) fn slot(threads: &[Thread<'_>], number: u32) -> Option<usize> {
    match threads.get(number as usize) {
        Some(thread) if thread.number == number => Some(number as usize),
        _ => threads.binary_search_by_key(&number, |t| t.number).ok(),
    }
}

/// Walks all events; twice where that tells that probes cost something else than the trace's notes
/// say: the run itself knows it better.
pub(super) fn survey(chunks: &TraceChunks<'_>) -> Result<Survey, Error> {
    let noted = probe::cost(&chunks.notes);
    let counts = survey_with_probe(chunks, noted)?;
    let calibrated = probe::calibrated(&chunks.notes);
    match counts.unrecorded.compared_probe(calibrated) {
        Some(seen) if seen != noted => survey_with_probe(chunks, seen),
        _ => Ok(counts),
    }
}

/// What a probe cost in this run: the cost that [`survey`] finds, for whoever takes probes out of
/// records before the survey.
pub(super) fn probe_cost(chunks: &TraceChunks<'_>) -> u64 {
    let noted = probe::cost(&chunks.notes);
    let mut unrecorded = Unrecorded::default();
    unrecorded.set_costs(noted, SkipCosts::of(&chunks.notes));
    for thread in &chunks.threads {
        unrecorded.thread(thread);
        let mut created = 0u64;
        walk(thread, |t, event| {
            if unrecorded.listens() {
                unrecorded.event(t, &event);
            }
            match event {
                Event::Join { .. } => created += 2,
                Event::Root | Event::Create { .. } | Event::Part { .. } => created += 1,
                Event::Skip { tasks, .. } => created = created.saturating_add(tasks),
                Event::Unrecorded { .. } => unrecorded.begins(t, &event, 0),
                Event::Sampled { .. } => unrecorded.begins(t, &event, created),
                _ => {}
            }
        });
    }
    let calibrated = probe::calibrated(&chunks.notes);
    unrecorded.compared_probe(calibrated).unwrap_or(noted)
}

/// The same, where a probe adds so many ticks to a strand.
fn survey_with_probe(chunks: &TraceChunks<'_>, probe: u64) -> Result<Survey, Error> {
    let mut counts = Survey {
        first: u64::MAX,
        ..Survey::default()
    };
    let left_out = SkipCosts::of(&chunks.notes);
    counts.unrecorded.set_costs(probe, left_out);
    if chunks.shortens || chunks.shortened.is_some() {
        counts.unrecorded.shorten();
    }
    let mut created: Vec<Vec<u64>> = Vec::with_capacity(chunks.threads.len());
    let mut resumed: Vec<(u32, u64)> = Vec::new();
    let (mut tasks, mut scopes, mut yields) = (0u64, 0u64, 0u64);
    for (place, thread) in chunks.threads.iter().enumerate() {
        counts.tasks.push(tasks as u32);
        counts.scopes.push(scopes as u32);
        counts.yields.push(yields as u32);
        let mut times: Vec<u64> = Vec::new();
        let (first, last) = (&mut counts.first, &mut counts.last);
        let (events, strands) = (&mut counts.events, &mut counts.strands);
        let joins = &mut counts.joins;
        let (teams, named) = (&mut counts.teams, &mut counts.named);
        let unrecorded = &mut counts.unrecorded;
        unrecorded.thread(thread);
        let mut skipped: [Skipped; 3] = Default::default();
        let first_scope = scopes;
        let mut restarts = false;
        let mut begun = false;
        // What there was before the drawn join that is open.
        let mut before = (0, 0, 0);
        let bad = walk(thread, |t, event| {
            *first = (*first).min(t);
            *last = (*last).max(t);
            *events += 1;
            let ended = unrecorded.listens() && unrecorded.event(t, &event);
            match event {
                Event::Join { .. } => {
                    times.push(t);
                    times.push(t);
                    *strands += 1;
                    *joins += 1;
                }
                Event::Root => times.push(t),
                Event::Create { .. } => {
                    times.push(t);
                    *strands += 1;
                }
                Event::Scope { .. } => scopes += 1,
                Event::Team { .. } => {
                    teams.open(scopes.min(u64::from(NONE)) as u32, place, t);
                    scopes += 1;
                    *strands += 1;
                }
                Event::Member { team, phase, index } => {
                    teams.member(team, phase, index, place, t);
                    *strands += 2;
                }
                Event::Yield { .. } | Event::Leave { .. } => {
                    yields += 1;
                    *strands += 1;
                }
                Event::ResumeYielded { thread, count } => resumed.push((thread, count)),
                Event::Skip {
                    tasks,
                    scopes: of_scopes,
                } => {
                    skipped[TASKS].skip(times.len() as u64, tasks);
                    skipped[SCOPES].skip(scopes - first_scope, of_scopes);
                }
                Event::ResumeStopped(stop) => named.extend(Named::of(stop, t, &chunks.threads)),
                Event::End | Event::EndResume | Event::Wait { .. } | Event::Signal { .. } => {
                    *strands += 1
                }
                Event::Part { of, site } => {
                    let nth = (tasks + times.len() as u64).min(u64::from(NONE));
                    unrecorded.part(of, nth as u32, site);
                    times.push(t);
                }
                Event::Unrecorded { .. } => {
                    unrecorded.begins(t, &event, 0);
                    yields += 1;
                    *strands += 1;
                }
                Event::Sampled { .. } => {
                    let count = skipped[TASKS].all().saturating_add(times.len() as u64);
                    unrecorded.begins(t, &event, count);
                    before = (times.len(), *strands, *joins);
                }
                Event::Recorded => *strands += 1,
                Event::Inside { .. } => unrecorded.counts = true,
                Event::Restart {
                    tasks,
                    scopes,
                    yields,
                    stack,
                } if !begun => {
                    restarts = true;
                    for (of, before) in skipped.iter_mut().zip([tasks, scopes, yields]) {
                        of.skip(0, before);
                    }
                    *strands += stack.len() as usize;
                }
                _ => {}
            }
            if ended {
                // It is told as one strand, and its tasks are none of the graph's.
                let left_out = times.len() - before.0;
                times.truncate(before.0);
                skipped[TASKS].skip(before.0 as u64, left_out as u64);
                (*strands, *joins) = (before.1 + 2, before.2);
            }
            begun = true;
        });
        if restarts {
            counts.restarts.push(place);
        }
        for (of_all, of_thread) in counts.skipped.iter_mut().zip(skipped) {
            of_all.push(of_thread);
        }
        if let Some(offset) = bad {
            if !chunks.tolerant {
                let what = "found bytes that are no record of an event: the trace is damaged; record again, or read what \
                            stands before with --allow-truncated";
                return Err(Error::Recorded {
                    offset,
                    what: what.into(),
                });
            }
            counts.bad += 1;
        }
        tasks += times.len() as u64;
        let members = counts.teams.told() as u64;
        if (tasks + members).max(scopes + members).max(yields) >= u64::from(NONE) - 1 {
            return Err(Error::Trace(
                "the trace has 2^32 tasks or more, which is more than workspan can take".into(),
            ));
        }
        created.push(times);
    }
    counts.tasks.push(tasks as u32);
    counts.scopes.push(scopes as u32);
    counts.yields.push(yields as u32);
    counts.first = counts.first.min(counts.last);
    // Where records were lost, nobody knows what ran until the end.
    if let Some(finished) = chunks.finished.filter(|_| chunks.header.dropped == 0) {
        counts.last = counts.last.max(finished.ticks);
    }
    counts.named.sort_unstable();
    counts.named.dedup();
    counts.taken = vec![false; yields as usize];
    for (thread, count) in resumed {
        if let Some(y) = counts.yielded(&chunks.threads, (thread, count)) {
            counts.taken[y as usize] = true;
        }
    }
    let mut teams = std::mem::take(&mut counts.teams);
    let members = teams.settle(&counts, &chunks.threads, tasks as u32);
    if !members.is_empty() {
        counts.tasks.push((tasks + members.len() as u64) as u32);
        created.push(members);
    }
    counts.teams = teams;
    let mut unrecorded = std::mem::take(&mut counts.unrecorded);
    unrecorded.settle(&counts, &chunks.threads);
    counts.unrecorded = unrecorded;
    number(&mut counts, created, chunks.threads.len());
    Ok(counts)
}

/// Numbers the tasks by time of creation, then thread, then count; the members of regions, which
/// come behind the `threads`, before all that is created at the same tick.
fn number(counts: &mut Survey, created: Vec<Vec<u64>>, threads: usize) {
    let total = counts.tasks.last().copied().unwrap_or(0) as usize;
    counts.created = Vec::with_capacity(total);
    if let [only] = &created[..] {
        counts.index = (0..total as u32).collect();
        counts.created.extend_from_slice(only);
        return;
    }
    counts.index = vec![0; total];
    let turn_of = |list: usize| if list == threads { 0 } else { list + 1 };
    let mut heads: BinaryHeap<Reverse<(u64, usize, usize)>> = created
        .iter()
        .enumerate()
        .filter_map(|(i, times)| Some(Reverse((*times.first()?, turn_of(i), 0))))
        .collect();
    while let Some(Reverse((mut time, mine, mut at))) = heads.pop() {
        let thread = mine.checked_sub(1).unwrap_or(threads);
        // One thread's run, up to the next one's turn.
        let turn = heads.peek().map(|Reverse(next)| (next.0, next.1));
        loop {
            counts.index[counts.tasks[thread] as usize + at] = counts.created.len() as u32;
            counts.created.push(time);
            at += 1;
            match created[thread].get(at) {
                None => break,
                Some(&next) => {
                    time = next;
                    if turn.is_some_and(|turn| (time, mine) > turn) {
                        heads.push(Reverse((time, mine, at)));
                        break;
                    }
                }
            }
        }
    }
}

impl Survey {
    /// The place of a yield in the list of all.
    pub(super) fn yielded(&self, threads: &[Thread<'_>], name: (u32, u64)) -> Option<u32> {
        let slot = slot(threads, name.0)?;
        let count = self.skipped[YIELDS].get(slot)?.kept(name.1)?;
        place(slot, &self.yields, count)
    }

    /// True for a thread, by its place, whose first record says what it had open.
    pub(super) fn restarts(&self, place: usize) -> bool {
        self.restarts.binary_search(&place).is_ok()
    }

    /// The place of a scope in the list of all.
    pub(super) fn scope(&self, threads: &[Thread<'_>], name: (u32, u64)) -> Option<u32> {
        let slot = slot(threads, name.0)?;
        let count = self.skipped[SCOPES].get(slot)?.kept(name.1)?;
        place(slot, &self.scopes, count)
    }

    /// The place of a stop among those that are named.
    pub(super) fn named(&self, stop: Named) -> Option<u32> {
        let at = self.named.binary_search(&stop).ok()?;
        Some(at as u32)
    }

    /// A task, by creation order.
    pub(super) fn task(&self, threads: &[Thread<'_>], name: (u32, u64)) -> Option<u32> {
        let slot = slot(threads, name.0)?;
        let count = self.skipped[TASKS].get(slot)?.kept(name.1)?;
        Some(self.index[place(slot, &self.tasks, count)? as usize])
    }

    /// What of all this concerns the run as a whole.
    pub(super) fn extent(&self) -> Extent {
        Extent {
            events: self.events,
            tasks: self.total() + self.unrecorded.tasks_in_short() as usize,
            bad: self.bad,
            drawn: self.unrecorded.drawn(),
            first: self.first,
            last: self.last,
        }
    }

    /// Number of tasks.
    pub(super) fn total(&self) -> usize {
        self.index.len()
    }
}
