//! The first pass over all events: counts of everything, and the numbers of the tasks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use workspan_trace::event::{Event, Events, Stop};

use super::Extent;
use super::chunks_by_thread::{Thread, TraceChunks};
use super::probe;
use super::skipped::{SkipCosts, SkippedSubtrees};
use super::teams::Teams;
use workspan_dag::Error;
use workspan_dag::NONE;
use workspan_dag::cancel::Checkpoint;

/// The results of the first pass.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// The positions in the lists of all at which each thread's tasks, scopes and yields begin, and
    /// one more. The members of regions, which no thread creates, follow all threads' tasks.
    pub tasks: Vec<u32>,
    pub scopes: Vec<u32>,
    pub yields: Vec<u32>,
    /// The index of each task in order of creation, and the inverse.
    pub index: Vec<u32>,
    pub created: Vec<u64>,
    /// Whether some thread took over each yield.
    pub taken: Vec<bool>,
    /// Stops after which some thread goes on by [`Event::ResumeStopped`], ascending, without
    /// duplicates.
    pub named: Vec<NamedStop>,
    /// Parallel regions.
    pub teams: Teams,
    /// Skipped subtrees.
    pub skipped: SkippedSubtrees,
    /// Tasks, scopes and yields that folded records stand for, or that were recorded before a
    /// thread's first record in the trace.
    unseen: [Vec<UnseenCounts>; 3],
    /// The indices of threads whose first record has their open state, ascending.
    restarts: Vec<usize>,
    /// The number of strands (approximate).
    pub strands: usize,
    /// The number of joins, each of which opens a scope that no record names.
    pub joins: usize,
    /// The number of records.
    pub events: u64,
    /// The first and last moment of all events, in the file's ticks.
    pub first: u64,
    pub last: u64,
    /// The number of chunks with bytes that are not a record.
    pub bad: u64,
}

const TASKS: usize = 0;
const SCOPES: usize = 1;
const YIELDS: usize = 2;

/// Counted items of a thread that are not in the trace: (number counted before that are in the
/// trace; total number left out, including this one), ascending.
#[derive(Debug, Default)]
pub(super) struct UnseenCounts(Vec<(u64, u64)>);

impl UnseenCounts {
    /// After `in_trace` items in the trace, `left_out` are not in it.
    pub(super) fn skip(&mut self, in_trace: u64, left_out: u64) {
        if left_out == 0 {
            return;
        }
        match self.0.last_mut() {
            Some((at, sum)) if *at == in_trace => *sum = sum.saturating_add(left_out),
            last => {
                let before = last.map_or(0, |l| l.1);
                self.0.push((in_trace, before.saturating_add(left_out)));
            }
        }
    }

    /// The number of items left out so far.
    fn all(&self) -> u64 {
        self.0.last().map_or(0, |last| last.1)
    }

    /// The index, among the items in the trace, of the thread's item with this count; `None` if it
    /// was left out.
    pub(super) fn trace_index(&self, count: u64) -> Option<u64> {
        let after = self
            .0
            .partition_point(|&(in_trace, left_out)| in_trace.saturating_add(left_out) <= count);
        let before = after.checked_sub(1).map_or(0, |last| self.0[last].1);
        let index = count - before;
        match self.0.get(after) {
            Some(&(in_trace, _)) if index >= in_trace => None,
            _ => Some(index),
        }
    }
}

/// The index in the list of all of a thread's item with this count. `starts` are the positions at
/// which each thread's items begin.
fn place(slot: usize, starts: &[u32], count: u64) -> Option<u32> {
    let (from, to) = (starts[slot], starts[slot + 1]);
    (count < u64::from(to - from)).then(|| from + count as u32)
}

/// A stop that a record on another thread refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NamedStop {
    /// On this thread (its index in the list), at this time in the file's ticks.
    At(u32, u64),
    /// The wait for this signal.
    Signal(u64),
}

impl NamedStop {
    /// The stop that a record at time `t` refers to; `None` if there is no such thread.
    pub(super) fn from_stop(stop: Stop, t: u64, threads: &[Thread<'_>]) -> Option<NamedStop> {
        match stop {
            Stop::At { thread, ago } => {
                let slot = slot(threads, thread)?;
                Some(NamedStop::At(slot as u32, t.saturating_sub(ago)))
            }
            Stop::Signal(id) => Some(NamedStop::Signal(id)),
        }
    }
}

/// The largest time: 63 bits, as in a text trace.
pub(super) const LATEST: u64 = i64::MAX as u64;

/// Calls `f` for every record of a thread. Returns the offset in the file of bytes that are not a
/// record, if there are any. After such bytes, only off-CPU times are passed on.
pub(super) fn walk<'a>(thread: &Thread<'a>, mut f: impl FnMut(u64, Event<'a>)) -> Option<u64> {
    let mut steps = Checkpoint::default();
    let mut bad = None;
    for chunk in &thread.chunks {
        if bad.is_some() && !chunk.off_cpu {
            continue;
        }
        let mut events = Events::new(chunk.bytes, chunk.base);
        // Nested iterators would copy every record once more.
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

/// The index of a thread number in the list of threads.
pub(super) fn slot(threads: &[Thread<'_>], number: u32) -> Option<usize> {
    match threads.get(number as usize) {
        Some(thread) if thread.number == number => Some(number as usize),
        _ => threads.binary_search_by_key(&number, |t| t.number).ok(),
    }
}

/// Reads all events; twice if the first pass shows that probes have another cost than the trace's
/// notes say, because the run's own measurement is more accurate.
pub(super) fn survey(chunks: &TraceChunks<'_>) -> Result<Survey, Error> {
    let noted = probe::cost(&chunks.notes);
    let counts = survey_with_probe(chunks, noted)?;
    let calibrated = probe::calibrated(&chunks.notes);
    match counts.skipped.compared_probe(calibrated) {
        Some(seen) if seen != noted => survey_with_probe(chunks, seen),
        _ => Ok(counts),
    }
}

/// The cost of a probe in this run, as found by [`survey`], for callers that take probes out of
/// records before the survey.
pub(super) fn probe_cost(chunks: &TraceChunks<'_>) -> u64 {
    let noted = probe::cost(&chunks.notes);
    let mut skipped = SkippedSubtrees::default();
    skipped.set_costs(noted, SkipCosts::from_notes(&chunks.notes));
    for thread in &chunks.threads {
        skipped.thread(thread);
        let mut created = 0u64;
        walk(thread, |t, event| {
            if skipped.listens() {
                skipped.event(t, &event);
            }
            match event {
                Event::Join { .. } => created += 2,
                Event::Root | Event::Create { .. } | Event::StolenPart { .. } => created += 1,
                Event::Skip { tasks, .. } => created = created.saturating_add(tasks),
                Event::SkipBegin { .. } => skipped.begins(t, &event, 0),
                Event::SampleBegin { .. } => skipped.begins(t, &event, created),
                _ => {}
            }
        });
    }
    let calibrated = probe::calibrated(&chunks.notes);
    skipped.compared_probe(calibrated).unwrap_or(noted)
}

/// The survey if a probe adds `probe` ticks to a strand.
fn survey_with_probe(chunks: &TraceChunks<'_>, probe: u64) -> Result<Survey, Error> {
    let mut counts = Survey {
        first: u64::MAX,
        ..Survey::default()
    };
    let left_out = SkipCosts::from_notes(&chunks.notes);
    counts.skipped.set_costs(probe, left_out);
    if chunks.shortens || chunks.read_folding.is_some() {
        counts.skipped.shorten();
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
        let skipped = &mut counts.skipped;
        skipped.thread(thread);
        let mut unseen: [UnseenCounts; 3] = Default::default();
        let first_scope = scopes;
        let mut restarts = false;
        let mut begun = false;
        // The counts before the sampled join that is open.
        let mut before = (0, 0, 0);
        let bad = walk(thread, |t, event| {
            *first = (*first).min(t);
            *last = (*last).max(t);
            *events += 1;
            let ended = skipped.listens() && skipped.event(t, &event);
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
                    unseen[TASKS].skip(times.len() as u64, tasks);
                    unseen[SCOPES].skip(scopes - first_scope, of_scopes);
                }
                Event::ResumeStopped(stop) => {
                    named.extend(NamedStop::from_stop(stop, t, &chunks.threads))
                }
                Event::End | Event::EndResume | Event::Wait { .. } | Event::Signal { .. } => {
                    *strands += 1
                }
                Event::StolenPart { of, site } => {
                    let nth = (tasks + times.len() as u64).min(u64::from(NONE));
                    skipped.part(of, nth as u32, site);
                    times.push(t);
                }
                Event::SkipBegin { .. } => {
                    skipped.begins(t, &event, 0);
                    yields += 1;
                    *strands += 1;
                }
                Event::SampleBegin { .. } => {
                    let count = unseen[TASKS].all().saturating_add(times.len() as u64);
                    skipped.begins(t, &event, count);
                    before = (times.len(), *strands, *joins);
                }
                Event::SkipEnd => *strands += 1,
                Event::SkippedTasks { .. } => skipped.counts = true,
                Event::Restart {
                    tasks,
                    scopes,
                    yields,
                    stack,
                } if !begun => {
                    restarts = true;
                    for (counts, before) in unseen.iter_mut().zip([tasks, scopes, yields]) {
                        counts.skip(0, before);
                    }
                    *strands += stack.len() as usize;
                }
                _ => {}
            }
            if ended {
                // It becomes one strand, and its tasks are not part of the graph.
                let left_out = times.len() - before.0;
                times.truncate(before.0);
                unseen[TASKS].skip(before.0 as u64, left_out as u64);
                (*strands, *joins) = (before.1 + 2, before.2);
            }
            begun = true;
        });
        if restarts {
            counts.restarts.push(place);
        }
        for (of_all, of_thread) in counts.unseen.iter_mut().zip(unseen) {
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
        let members = counts.teams.member_count() as u64;
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
    // If records were lost, it is not known what ran until the end.
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
    let mut skipped = std::mem::take(&mut counts.skipped);
    skipped.settle(&counts, &chunks.threads);
    counts.skipped = skipped;
    number(&mut counts, created, chunks.threads.len());
    Ok(counts)
}

/// Numbers the tasks by time of creation, then thread, then count. The members of regions, which
/// follow the `threads`, come before all tasks that are created at the same tick.
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
        // The tasks of one thread, up to the next thread's turn.
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
    /// The index of a yield in the list of all.
    pub(super) fn yielded(&self, threads: &[Thread<'_>], name: (u32, u64)) -> Option<u32> {
        let slot = slot(threads, name.0)?;
        let count = self.unseen[YIELDS].get(slot)?.trace_index(name.1)?;
        place(slot, &self.yields, count)
    }

    /// Whether the first record of the thread with this index has its open state.
    pub(super) fn restarts(&self, place: usize) -> bool {
        self.restarts.binary_search(&place).is_ok()
    }

    /// The index of a scope in the list of all.
    pub(super) fn scope(&self, threads: &[Thread<'_>], name: (u32, u64)) -> Option<u32> {
        let slot = slot(threads, name.0)?;
        let count = self.unseen[SCOPES].get(slot)?.trace_index(name.1)?;
        place(slot, &self.scopes, count)
    }

    /// The index of a stop among those that are named.
    pub(super) fn named(&self, stop: NamedStop) -> Option<u32> {
        let at = self.named.binary_search(&stop).ok()?;
        Some(at as u32)
    }

    /// The index of a task in order of creation.
    pub(super) fn task(&self, threads: &[Thread<'_>], name: (u32, u64)) -> Option<u32> {
        let slot = slot(threads, name.0)?;
        let count = self.unseen[TASKS].get(slot)?.trace_index(name.1)?;
        Some(self.index[place(slot, &self.tasks, count)? as usize])
    }

    /// The part of the results that concerns the run as a whole.
    pub(super) fn extent(&self) -> Extent {
        Extent {
            events: self.events,
            tasks: self.total() + self.skipped.tasks_in_short() as usize,
            bad: self.bad,
            drawn: self.skipped.drawn(),
            first: self.first,
            last: self.last,
        }
    }

    /// The number of tasks.
    pub(super) fn total(&self) -> usize {
        self.index.len()
    }
}
