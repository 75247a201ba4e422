//! Merges the processes' traces into one run: numbers that are unique in the run, and times on one
//! clock.

use std::collections::{BTreeMap, BTreeSet};

use workspan_dag::meta::Meta;
use workspan_dag::pools::{Member as WorkerTime, Pool};
use workspan_dag::processes::{HostClock, Process, Processes, ThreadOfProcess};
use workspan_dag::raw::RawTrace;
use workspan_dag::{Error, Frame, NONE, Place, ROOT_PLACE, ThreadEvent};

use super::matched_calls::number_launches;
use super::member_offsets::{MemberOffsets, mapped, shifted};
use super::members::Member;
use super::run;
use super::thread_numbers::ThreadNumbers;

/// The run of all processes.
pub(super) struct MergedRun {
    /// The merged trace, including each rank's calls of MPI.
    pub(super) trace: RawTrace,
    /// The launch of each process, by process number; `None` for a process that is no rank.
    pub(super) launches: Vec<Option<u32>>,
    /// How far each process's times may be off, in ticks.
    pub(super) clock_errors: Vec<u64>,
}

/// The largest number of processes whose workers are pools of their own. Measuring a pool takes a
/// pass over all strands.
const MAX_PROCESSES_WITH_POOLS: usize = 64;

/// Merges the processes.
///
/// # Errors
/// There are more tasks or strands than there are numbers.
pub(super) fn merge(members: Vec<Member>, clocks: Vec<HostClock>) -> Result<MergedRun, Error> {
    let numbers = ThreadNumbers::new(&members);
    let mut merged = RunMerger::default();
    let mut meta = run::meta(&members, &numbers);
    (meta.workers, meta.threads) = (numbers.workers, numbers.total);
    meta.thread_names = names(&members, &numbers);
    let several_workers = members.iter().any(|m| m.trace.raw.meta.workers > 1);
    let has_pools = (several_workers && members.len() <= MAX_PROCESSES_WITH_POOLS)
        || members.iter().any(|m| !m.trace.raw.pools.list.is_empty());
    let launches = number_launches(&members);
    let clock_errors = members.iter().map(|member| member.clock_error).collect();
    meta.warnings
        .extend(clocks.iter().filter_map(run::clock_warning));
    let clock_facts = clocks.iter();
    let clock_facts =
        clock_facts.map(|clock| (format!("clock of {}", clock.host), clock.describe()));
    meta.facts.extend(clock_facts);
    let mut processes = Processes {
        clocks,
        ..Processes::default()
    };
    for (at, member) in members.into_iter().enumerate() {
        let threads = &numbers.of[at];
        processes.list.push(process(&member));
        let own = threads.iter().map(|&thread| ThreadOfProcess {
            thread,
            from: member.from,
            process: at as u32,
        });
        processes.threads.extend(own);
        merged.add(member, at as u64, threads, has_pools)?;
    }
    processes.threads.sort_unstable();
    let mut trace = merged.all;
    trace.pools.members.sort_unstable();
    meta.processes = processes;
    trace.meta = meta;
    Ok(MergedRun {
        trace,
        launches,
        clock_errors,
    })
}

fn process(member: &Member) -> Process {
    let Member { trace, .. } = member;
    let meta = &trace.raw.meta;
    Process {
        name: meta.name.clone().unwrap_or_else(|| "program".into()),
        rank: member.rank,
        pid: trace.header.pid,
        host: meta.host.clone(),
        workers: meta.workers,
        from: member.from,
        to: member.to,
        in_mpi: in_mpi(&trace.raw),
    }
}

/// Ticks in calls of MPI. If several entries describe one call, each has its whole length.
fn in_mpi(raw: &RawTrace) -> u64 {
    let calls: BTreeSet<(u32, u64, u64)> = raw
        .rank_calls
        .iter()
        .map(|(thread, call)| (*thread, call.begin, call.ticks))
        .collect();
    let ticks = calls.iter().map(|call| call.2);
    ticks.fold(0, u64::saturating_add)
}

/// The threads' names: `rank 3` for a process's only or first thread, `rank 3: name` for others
/// with names.
fn names(members: &[Member], numbers: &ThreadNumbers) -> Vec<String> {
    let mut names = vec![String::new(); numbers.total as usize];
    for (member, threads) in members.iter().zip(&numbers.of) {
        let title = process(member).title();
        let own = &member.trace.raw.meta.thread_names;
        let program = own.first().cloned().unwrap_or_default();
        for (at, &thread) in threads.iter().enumerate() {
            let Some(name) = names.get_mut(thread as usize) else {
                continue;
            };
            if !name.is_empty() {
                continue;
            }
            *name = match own.get(at) {
                Some(own) if at > 0 && !own.is_empty() && *own != program => {
                    format!("{title}: {own}")
                }
                _ => title.clone(),
            };
        }
    }
    names
}

/// The state of merging.
#[derive(Default)]
struct RunMerger {
    all: RawTrace,
    places: BTreeMap<String, Vec<u32>>,
    labels: BTreeMap<String, u32>,
    frames: BTreeMap<Frame, u32>,
    counters: BTreeMap<String, usize>,
    next_task: u64,
    next_scope: u64,
}

impl RunMerger {
    fn add(
        &mut self,
        member: Member,
        process: u64,
        threads: &[u32],
        has_pools: bool,
    ) -> Result<(), Error> {
        let mut raw = member.trace.raw;
        let fits = |all: usize, more: usize| all + more < NONE as usize;
        if !fits(self.all.tasks.len(), raw.tasks.len())
            || !fits(self.all.strands.len(), raw.strands.len())
        {
            let what = "has more than 2^32 tasks or strands in all; read it with a larger --grain";
            return Err(Error::Trace(what.into()));
        }
        let base = MemberOffsets {
            shift: member.from,
            length: member.to.saturating_sub(member.from),
            process,
            task: self.all.tasks.len() as u32,
            strand: self.all.strands.len() as u32,
            scope: self.all.scopes.len() as u32,
            signal: self.all.signals.len() as u32,
            task_list: self.all.wait_tasks.len() as u32,
            signal_list: self.all.wait_signals.len() as u32,
            stack: self.all.samples.stacks.len() as u32,
            pool: self.all.pools.list.len() as u32,
            places: self.places(std::mem::take(&mut raw.places)),
            labels: self.labels(std::mem::take(&mut raw.labels)),
            frames: self.frames(std::mem::take(&mut raw.samples.frames)),
            threads,
        };
        self.tasks(&mut raw, &base);
        self.strands(&mut raw, &base);
        self.samples(&mut raw, &base);
        self.threads(&mut raw, &base);
        if has_pools {
            self.pools(&mut raw, &base);
        }
        Ok(())
    }

    /// The merged numbers of the places. Two places of one process stay two.
    fn places(&mut self, own: Vec<Place>) -> Vec<u32> {
        let mut used = BTreeSet::new();
        let mut numbers = Vec::with_capacity(own.len());
        for (at, place) in own.into_iter().enumerate() {
            let known = self.places.entry(place.label.clone()).or_default();
            let same = known.iter().copied().find(|&number| {
                self.all.places[number as usize] == place && !used.contains(&number)
            });
            let number = match same {
                // The first place of each process is the root's.
                _ if at == 0 && !self.all.places.is_empty() => ROOT_PLACE,
                Some(number) => number,
                None => {
                    let number = self.all.places.len() as u32;
                    known.push(number);
                    self.all.places.push(place);
                    number
                }
            };
            used.insert(number);
            numbers.push(number);
        }
        numbers
    }

    fn labels(&mut self, own: Vec<String>) -> Vec<u32> {
        let mut number = |label: String| match self.labels.get(&label) {
            Some(&number) => number,
            None => {
                let number = self.all.labels.len() as u32;
                self.all.labels.push(label.clone());
                self.labels.insert(label, number);
                number
            }
        };
        own.into_iter().map(&mut number).collect()
    }

    fn frames(&mut self, own: Vec<Frame>) -> Vec<u32> {
        let mut number = |frame: Frame| match self.frames.get(&frame) {
            Some(&number) => number,
            None => {
                let number = self.all.samples.frames.len() as u32;
                self.all.samples.frames.push(frame.clone());
                self.frames.insert(frame, number);
                number
            }
        };
        own.into_iter().map(&mut number).collect()
    }

    fn tasks(&mut self, raw: &mut RawTrace, base: &MemberOffsets<'_>) {
        let all = &mut self.all;
        let (mut next, mut next_scope) = (self.next_task, self.next_scope);
        for mut task in raw.tasks.drain(..) {
            task.number = task.number.saturating_add(self.next_task);
            next = next.max(task.number.saturating_add(1));
            task.parent = shifted(task.parent, base.task);
            task.site = mapped(&base.places, task.site);
            task.scope = shifted(task.scope, base.scope);
            all.tasks.push(task);
        }
        for mut scope in raw.scopes.drain(..) {
            scope.number = scope.number.saturating_add(self.next_scope);
            next_scope = next_scope.max(scope.number.saturating_add(1));
            scope.opener = shifted(scope.opener, base.task);
            scope.strand = shifted(scope.strand, base.strand);
            all.scopes.push(scope);
        }
        // A program numbers its signals as it likes; here they get consecutive numbers.
        let signals = all.signals.len() as u64..;
        all.signals.extend(signals.take(raw.signals.len()));
        (self.next_task, self.next_scope) = (next, next_scope);
        let waits = raw.start_waits.drain(..);
        let waited = |(task, ticks)| (shifted(task, base.task), ticks);
        all.start_waits.extend(waits.map(waited));
        for list in 0..raw.wait_tasks.len() {
            let tasks = raw.wait_tasks.get(list).iter();
            all.wait_tasks
                .push(tasks.map(|&task| shifted(task, base.task)));
        }
        for list in 0..raw.wait_signals.len() {
            let signals = raw.wait_signals.get(list).iter();
            let signals = signals.map(|&signal| shifted(signal, base.signal));
            all.wait_signals.push(signals);
        }
        let depends = raw.depends.drain(..);
        let both = |(task, on)| (shifted(task, base.task), shifted(on, base.task));
        all.depends.extend(depends.map(both));
        let regions = raw.regions.drain(..);
        all.regions
            .extend(regions.map(|region| base.region(region)));
        let parts = raw.parts.drain(..);
        all.parts.extend(parts.map(|part| base.region(part)));
        all.late_ends |= raw.late_ends;
    }

    fn strands(&mut self, raw: &mut RawTrace, base: &MemberOffsets<'_>) {
        let all = &mut self.all;
        all.strands.reserve_exact(raw.strands.len());
        for mut strand in raw.strands.iter() {
            strand.task = shifted(strand.task, base.task);
            strand.thread = base.thread(strand.thread);
            (strand.start, strand.end) = (base.time(strand.start), base.time(strand.end));
            strand.end_op = base.end(strand.end_op);
            strand.at = match strand.at {
                NONE => NONE,
                at => mapped(&base.places, at),
            };
            all.strands.push(strand);
        }
        let place = |place: u32| match place {
            NONE => NONE,
            place => mapped(&base.places, place),
        };
        for (strand, mut record) in raw.folded.iter() {
            for site in &mut record.sites {
                site.site = place(site.site);
            }
            record.sites.sort_by_key(|site| site.site);
            for block in &mut record.blocks {
                (block.0, block.1) = (place(block.0), place(block.1));
            }
            record.blocks.sort_unstable();
            // The trace is inside a bundle, so an offset into it is not a position in the file.
            record.source = None;
            all.folded.push(shifted(strand, base.strand), &record);
        }
        for (strand, mut bounds) in raw.skipped.drain(..) {
            bounds.site = place(bounds.site);
            all.skipped.push((shifted(strand, base.strand), bounds));
        }
        for (name, values) in raw.counters.drain(..) {
            let at = *self.counters.entry(name.clone()).or_insert_with(|| {
                all.counters.push((name, Vec::new()));
                all.counters.len() - 1
            });
            let values = values.into_iter();
            let values = values.map(|(strand, value)| (shifted(strand, base.strand), value));
            all.counters[at].1.extend(values);
        }
    }

    fn samples(&mut self, raw: &mut RawTrace, base: &MemberOffsets<'_>) {
        let (all, own) = (&mut self.all.samples, &mut raw.samples);
        all.hertz = all.hertz.max(own.hertz);
        for stack in 0..own.stacks.len() {
            let frames = own.stacks.get(stack).iter();
            all.stacks
                .push(frames.map(|&frame| mapped(&base.frames, frame)));
        }
        for mut sample in own.list.drain(..) {
            sample.t = base.time(sample.t);
            sample.thread = base.thread(sample.thread);
            sample.stack = shifted(sample.stack, base.stack);
            all.list.push(sample);
        }
        let others = own.others.drain(..);
        let other = |(t, stack)| (base.time(t), shifted(stack, base.stack));
        all.others.extend(others.map(other));
        for mut stop in own.stops.drain(..) {
            stop.t = base.time(stop.t);
            stop.thread = base.thread(stop.thread);
            stop.stack = shifted(stop.stack, base.stack);
            if let Some(wait) = &mut stop.wait {
                wait.object = base.object(wait.object);
                wait.by = base.thread(wait.by);
                wait.released_at = shifted(wait.released_at, base.stack);
            }
            all.stops.push(stop);
        }
        for (thread, mut call) in raw.rank_calls.drain(..) {
            call.begin = base.time(call.begin);
            call.stack = call.stack.map(|stack| shifted(stack, base.stack));
            self.all.rank_calls.push((base.thread(thread), call));
        }
    }

    /// Adds the data of threads.
    fn threads(&mut self, raw: &mut RawTrace, base: &MemberOffsets<'_>) {
        let all = &mut self.all;
        for mut off in raw.offs.drain(..) {
            // Before and after, its number may belong to another process's thread.
            let end = off.end.min(base.length);
            (off.start, off.end) = (base.time(off.start), base.time(end));
            off.thread = base.thread(off.thread);
            if off.start < off.end {
                all.offs.push(off);
            }
        }
        for mut run in raw.recorder_runs.drain(..) {
            (run.start, run.end) = (base.time(run.start), base.time(run.end));
            run.thread = base.thread(run.thread);
            all.recorder_runs.push(run);
        }
        for mut steal in raw.steals.drain(..) {
            steal.t = base.time(steal.t);
            steal.thief = base.thread(steal.thief);
            steal.victim = base.thread(steal.victim);
            steal.task = shifted(steal.task, base.task);
            all.steals.push(steal);
        }
        for (t, thread, mut event) in raw.thread_events.drain(..) {
            if let ThreadEvent::StealFailed(victim) = &mut event {
                *victim = base.thread(*victim);
            }
            all.thread_events
                .push((base.time(t), base.thread(thread), event));
        }
    }

    /// Adds the process's pools; if it has none, its workers form one. A worker takes tasks of its
    /// own process only.
    fn pools(&mut self, raw: &mut RawTrace, base: &MemberOffsets<'_>) {
        let pools = &mut self.all.pools;
        let Meta { workers, .. } = raw.meta;
        if raw.pools.list.is_empty() {
            let (from, to) = (base.time(0), base.time(base.length));
            pools.list.push(Pool {
                size: workers,
                from,
                to,
                built: None,
            });
            pools.members.extend((0..workers).map(|worker| WorkerTime {
                thread: base.thread(worker),
                from,
                to,
                pool: base.pool,
            }));
            return;
        }
        for mut pool in raw.pools.list.drain(..) {
            (pool.from, pool.to) = (base.time(pool.from), base.time(pool.to));
            pools.list.push(pool);
        }
        for mut member in raw.pools.members.drain(..) {
            (member.from, member.to) = (base.time(member.from), base.time(member.to));
            member.thread = base.thread(member.thread);
            member.pool = shifted(member.pool, base.pool);
            pools.members.push(member);
        }
    }
}
