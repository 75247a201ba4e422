//! Defines every column of every table: name, type, meaning, and how its value is computed.

use workspan_analysis::causes::{Cause, Finding};
use workspan_analysis::{AsyncRole, attributed_frame};
use workspan_dag::samples::WaitedFor;
use workspan_dag::{
    EdgeKind, Frame, NONE, OffCpuReason, Place, Process, Region, Reporter, StartKind, ThreadEvent,
};

use crate::cell::Cell;
use crate::run::Run;
use crate::schema::{Column, Table};

macro_rules! columns {
    ($($name:literal $kind:ident $about:literal $value:expr;)*) => {
        &[$(Column { name: $name, kind: stringify!($kind), about: $about, value: $value }),*]
    };
}

/// The tables.
pub static TABLES: &[Table] = &[
    Table {
        name: "runs",
        about: "One row per run: the machine, and the measures of the whole run.",
        index: &[],
        rows: |_| 1,
        columns: columns! {
            "run" INTEGER "Number of the run: 1 for the first file" |r, _| Cell::Int(r.number);
            "file" TEXT "The trace" |r, _| Cell::Text(&r.file);
            "name" TEXT "The program" |r, _| Cell::text(r.dag.meta.name.as_deref());
            "runtime" TEXT "The runtime with its version" |r, _| Cell::text(r.dag.meta.runtime.as_deref());
            "command" TEXT "The command line" |r, _| Cell::text(r.dag.meta.command.as_deref());
            "recorded_at" INTEGER "When the recording began, in seconds since 1970" |r, _| r.dag.meta.run.recorded_at.map_or(Cell::Null, |t| Cell::whole(t.into()));
            "host" TEXT "The machine's name" |r, _| Cell::text(r.dag.meta.host.as_deref());
            "cpus" INTEGER "CPUs the process could use" |r, _| r.dag.meta.cpus.map_or(Cell::Null, |n| Cell::Int(n.into()));
            "workers" INTEGER "W: the largest number of pool workers alive at the same time" |r, _| Cell::Int(r.report.breakdown.workers.into());
            "threads" INTEGER "Threads in the trace" |r, _| Cell::Int(r.dag.meta.threads.into());
            "elapsed" INTEGER "From the first start to the last end" |r, _| Cell::whole(r.ns(r.report.breakdown.elapsed().into()));
            "work" INTEGER "T1: the time of all strands together" |r, _| Cell::whole(r.ns(r.report.work_span.work));
            "span" INTEGER "The heaviest path" |r, _| Cell::whole(r.ns(r.report.work_span.span));
            "burden" INTEGER "The cost of a steal" |r, _| Cell::whole(r.ns(r.report.work_span.burden.into()));
            "burdened_span" INTEGER "The heaviest path if every edge that a thief can take costs the burden" |r, _| Cell::whole(r.ns(r.report.work_span.burdened_span));
            "parallelism" REAL "work / span" |r, _| Cell::Real(r.report.work_span.parallelism());
            "burdened_parallelism" REAL "work / burdened span" |r, _| Cell::Real(r.report.work_span.burdened_parallelism());
            "tasks" INTEGER "Tasks" |r, _| Cell::whole(r.report.work_span.tasks.into());
            "spawns" INTEGER "Deferred creates" |r, _| Cell::whole(r.report.work_span.spawns.into());
            "syncs" INTEGER "Waits" |r, _| Cell::whole(r.report.work_span.syncs.into());
            "steals" INTEGER "Strands that another worker started than the one that made them ready" |r, _| Cell::whole(r.report.work_span.steals.into());
            "average_strand" REAL "Average maximal strand" |r, _| Cell::Real(ns_real(r, r.report.work_span.average_maximal_strand()));
            "working" INTEGER "Worker time spent on work; this column and the next seven add up to workers x elapsed" |r, _| Cell::whole(r.ns(r.report.breakdown.work));
            "delay" INTEGER "Worker time in which the worker was free while a strand was ready" |r, _| Cell::whole(r.ns(r.report.breakdown.delay));
            "no_work_sched" INTEGER "Worker time without work because the ready path waited for the scheduler" |r, _| Cell::whole(r.ns(r.report.breakdown.no_work_sched));
            "no_work_app" INTEGER "Worker time without work because the program offered none" |r, _| Cell::whole(r.ns(r.report.breakdown.no_work_app));
            "descheduled" INTEGER "Worker time in which strands were preempted" |r, _| Cell::whole(r.ns(r.report.breakdown.descheduled));
            "blocked" INTEGER "Worker time in which strands were blocked" |r, _| Cell::whole(r.ns(r.report.breakdown.blocked));
            "recording" INTEGER "Worker time that the recorder's probes took" |r, _| Cell::whole(r.ns(r.report.breakdown.recording));
            "unread" INTEGER "Worker time that could not be read, because the trace is damaged or cut off" |r, _| Cell::whole(r.ns(r.report.breakdown.unread));
            "oversubscribed" INTEGER "Strand time in excess of the number of workers" |r, _| Cell::whole(r.ns(r.report.breakdown.oversubscribed));
            "lost" INTEGER "Worker time that was lost; the causes divide it" |r, _| Cell::whole(r.ns(r.report.causes.lost));
            "cpu_time" INTEGER "CPU time of the process, where it was measured" |r, _| r.dag.meta.run.cpu_time.map_or(Cell::Null, |t| Cell::whole(r.ns(t.into())));
            "other_cpu_time" INTEGER "The part of it of threads without records" |r, _| r.dag.meta.run.cpu_time_of_others.map_or(Cell::Null, |t| Cell::whole(r.ns(t.into())));
            "path_work" INTEGER "Part of elapsed in which a strand of the ready path ran" |r, _| Cell::whole(r.ns(r.report.breakdown.ready_path.work.into()));
            "path_busy_delay" INTEGER "Part of elapsed in which the ready path waited and no worker was free" |r, _| Cell::whole(r.ns(r.report.breakdown.ready_path.busy_delay.into()));
            "path_scheduler_delay" INTEGER "Part of elapsed in which the ready path waited although a worker was free" |r, _| Cell::whole(r.ns(r.report.breakdown.ready_path.scheduler_delay.into()));
        },
    },
    Table {
        name: "delays",
        about: "One row per run and edge kind: delay, by the kind of edge that made the strand ready.",
        index: &[],
        rows: |_| EdgeKind::NAMES.len(),
        columns: columns! {
            "run" INTEGER "Number of the run" |r, _| Cell::Int(r.number);
            "edge" TEXT "create, create_continuation, wait_continuation, yield_continuation, end, depend or signal" |_, i| Cell::Text(EdgeKind::NAMES[i]);
            "delay" INTEGER "Worker time in which the worker was free while such a strand was ready" |r, i| Cell::whole(r.ns(r.report.breakdown.delay_by_edge[i]));
        },
    },
    Table {
        name: "causes",
        about: "One row per run and cause of lost worker time (docs/causes.md).",
        index: &[],
        rows: |_| Cause::ALL.len(),
        columns: columns! {
            "run" INTEGER "Number of the run" |r, _| Cell::Int(r.number);
            "cause" TEXT "The cause: serial-strand, grain-fine, lock, …; none if it is not known" |_, i| Cell::Text(Cause::ALL[i].id());
            "lost" INTEGER "Worker time lost to it" |r, i| Cell::whole(r.ns(r.report.causes.by_cause[i]));
        },
    },
    Table {
        name: "findings",
        about: "One row per cause at a place, most lost first, at most 20 per run.",
        index: &[],
        rows: |r| r.report.causes.places.len(),
        columns: columns! {
            "run" INTEGER "Number of the run" |r, _| Cell::Int(r.number);
            "finding" INTEGER "Its rank: 1 lost most" |_, i| Cell::whole(i as u128 + 1);
            "cause" TEXT "The cause" |r, i| Cell::Text(place(r, i).cause.id());
            "lost" INTEGER "Worker time lost to it there" |r, i| Cell::whole(r.ns(place(r, i).lost));
            "reported" INTEGER "1 if it leads the report" |r, i| Cell::flag(r.report.causes.findings().iter().any(|f| std::ptr::eq(*f, place(r, i))));
            "site" INTEGER "The spawn site of the tasks" |r, i| Cell::id(place(r, i).block.site);
            "label" TEXT "That position, as shown in reports" |r, i| Cell::text(position(r, place(r, i).block.site).map(|p| p.label.as_str()));
            "starts_at" TEXT "Where the strands start" |r, i| Cell::text(position(r, place(r, i).block.from).map(|p| p.label.as_str()));
            "ends_at" TEXT "Where the strands end" |r, i| Cell::text(position(r, place(r, i).block.to).map(|p| p.label.as_str()));
            "strands" INTEGER "Strands behind it" |r, i| Cell::whole(place(r, i).evidence.strands.into());
            "longest" INTEGER "The longest time that one of them was" |r, i| Cell::whole(r.ns(place(r, i).evidence.longest.into()));
        },
    },
    Table {
        name: "threads",
        about: "One row per thread.",
        index: &[],
        rows: |r| r.threads().len(),
        columns: columns! {
            "run" INTEGER "Number of the run" |r, _| Cell::Int(r.number);
            "thread" INTEGER "Its number" |_, i| Cell::whole(i as u128);
            "name" TEXT "Its name, if known" |r, i| Cell::text(r.dag.meta.thread_names.get(i).map(String::as_str).filter(|name| !name.is_empty()));
            "worker" INTEGER "1 if it belongs to a pool" |r, i| Cell::flag(r.dag.is_worker(i as u32));
            "role" TEXT "worker (of a pool), main, async worker, blocking pool (both of an async runtime), thread (of the program's own) or other" |r, i| Cell::Text(role(r, i));
            "pool" INTEGER "The last pool that it was a worker of; NULL if the run has no table of pools" |r, i| last_pool(r, i).map_or(Cell::Null, Cell::id);
            "cpus" INTEGER "Number of CPUs it ran on; NULL if not known" |r, i| cpus(r, i);
            "numa_node" INTEGER "The NUMA node on which it ran the longest; NULL if the machine has one, or if it is not known" |r, i| r.dag.meta.topology.main_node(i as u32).map_or(Cell::Null, |main| Cell::id(main.node));
            "strands" INTEGER "Strands it ran" |r, i| Cell::whole(r.threads()[i].strands.into());
            "work" INTEGER "Weight of these strands" |r, i| Cell::whole(r.ns(r.threads()[i].work));
            "descheduled" INTEGER "Time preempted inside these strands" |r, i| Cell::whole(r.ns(r.threads()[i].descheduled));
            "blocked" INTEGER "Time blocked inside these strands" |r, i| Cell::whole(r.ns(r.threads()[i].blocked));
            "searching" INTEGER "Time between strands that the worker spent on a CPU until it found a task; NULL if not known" |r, i| r.idle(i).map_or(Cell::Null, |idle| Cell::whole(r.ns(idle.searching.into())));
            "going_to_sleep" INTEGER "Time between strands that the worker spent on a CPU before it slept" |r, i| r.idle(i).map_or(Cell::Null, |idle| Cell::whole(r.ns(idle.going_to_sleep.into())));
            "asleep" INTEGER "Time between strands in which the worker slept" |r, i| r.idle(i).map_or(Cell::Null, |idle| Cell::whole(r.ns(idle.asleep.into())));
            "first_start" INTEGER "When its first strand started" |r, i| r.threads()[i].first.map_or(Cell::Null, |t| Cell::Int(r.at(t)));
            "last_end" INTEGER "When its last strand ended" |r, i| r.threads()[i].first.map_or(Cell::Null, |_| Cell::Int(r.at(r.threads()[i].last)));
            "steals" INTEGER "Steals by this thread, as reported by the runtime" |r, i| Cell::whole(r.threads()[i].steals.into());
        },
    },
    Table {
        name: "processes",
        about: "One row per process, in a run of several processes.",
        index: &[],
        rows: |r| r.report.processes.len(),
        columns: columns! {
            "run" INTEGER "Number of the run" |r, _| Cell::Int(r.number);
            "process" INTEGER "Its number" |_, i| Cell::whole(i as u128);
            "rank" INTEGER "Its rank, given by the launcher (MPI, torchrun, Slurm)" |r, i| process(r, i).and_then(|of| of.rank).map_or(Cell::Null, |rank| Cell::Int(rank.into()));
            "name" TEXT "The program" |r, i| Cell::text(process(r, i).map(|of| of.name.as_str()));
            "pid" INTEGER "Its process id" |r, i| process(r, i).filter(|of| of.pid != 0).map_or(Cell::Null, |of| Cell::Int(of.pid.into()));
            "workers" INTEGER "Its workers" |r, i| process(r, i).map_or(Cell::Null, |of| Cell::Int(of.workers.into()));
            "began" INTEGER "When it began" |r, i| process(r, i).map_or(Cell::Null, |of| Cell::Int(r.at(of.from)));
            "elapsed" INTEGER "The time from its start to its end" |r, i| Cell::whole(r.ns(r.report.processes[i].elapsed.into()));
            "strands" INTEGER "Strands that its threads ran" |r, i| Cell::whole(r.report.processes[i].strands.into());
            "work" INTEGER "Weight of these strands" |r, i| Cell::whole(r.ns(r.report.processes[i].work));
            "descheduled" INTEGER "Time preempted inside these strands" |r, i| Cell::whole(r.ns(r.report.processes[i].descheduled));
            "blocked" INTEGER "Time blocked inside these strands, waits for other ranks included" |r, i| Cell::whole(r.ns(r.report.processes[i].blocked));
            "waited" INTEGER "Time in which it waited for other ranks in calls of MPI" |r, i| Cell::whole(r.ns(r.report.processes[i].waited));
            "awaited" INTEGER "Time in which other ranks waited for it, all of them together" |r, i| Cell::whole(r.ns(r.report.processes[i].awaited));
            "communication" INTEGER "Time in calls of MPI other than waits for a late rank" |r, i| Cell::whole(r.ns(r.report.processes[i].communication.into()));
        },
    },
    Table {
        name: "pools",
        about: "One row per pool, if there were several at a time or the program built one.",
        index: &[],
        rows: |r| r.report.pools.len(),
        columns: columns! {
            "run" INTEGER "Number of the run" |r, _| Cell::Int(r.number);
            "pool" INTEGER "Its number" |r, i| Cell::id(r.report.pools[i].pool);
            "built" TEXT "Where the program built it" |r, i| Cell::text(r.dag.pools.list.get(i).and_then(|p| p.built.as_deref()));
            "workers" INTEGER "Its workers" |r, i| Cell::Int(r.report.pools[i].size.into());
            "start" INTEGER "When it was first seen" |r, i| r.dag.pools.list.get(i).map_or(Cell::Null, |p| Cell::Int(r.at(p.from)));
            "end" INTEGER "When it was last seen" |r, i| r.dag.pools.list.get(i).map_or(Cell::Null, |p| Cell::Int(r.at(p.to)));
            "strands" INTEGER "Strands that its workers ran" |r, i| Cell::whole(r.report.pools[i].strands.into());
            "work" INTEGER "Weight of these strands" |r, i| Cell::whole(r.ns(r.report.pools[i].work));
            "span" INTEGER "The largest part of it on one path of the DAG" |r, i| Cell::whole(r.ns(r.report.pools[i].span));
            "delay" INTEGER "Worker time in which a strand of the pool was ready and a worker free for it" |r, i| Cell::whole(r.ns(r.report.pools[i].delay));
            "blocked" INTEGER "Time blocked inside these strands" |r, i| Cell::whole(r.ns(r.report.pools[i].blocked));
            "busy" REAL "The average number of busy workers" |r, i| Cell::Real(r.report.pools[i].busy());
            "enough" INTEGER "For less than a fiftieth of its time, more of its workers than this ran strands" |r, i| Cell::Int(r.report.pools[i].enough.into());
        },
    },
    Table {
        name: "sites",
        about: "One row per position in the program: spawn sites (which have tasks), and positions where strands start or end.",
        index: &["site"],
        rows: |r| r.dag.places.len(),
        columns: columns! {
            "run" INTEGER "Number of the run" |r, _| Cell::Int(r.number);
            "site" INTEGER "Its number in the run; 0 is the root" |_, i| Cell::whole(i as u128);
            "label" TEXT "The position, as shown in reports" |r, i| Cell::Text(&r.dag.places[i].label);
            "file" TEXT "Source file" |r, i| Cell::text(r.dag.places[i].file.as_deref());
            "line" INTEGER "Line" |r, i| r.dag.places[i].line.map_or(Cell::Null, |n| Cell::Int(n.into()));
            "function" TEXT "The function that contains it" |r, i| Cell::text(r.dag.places[i].function.as_deref());
            "primitive" TEXT "The primitive called there, such as join or taskwait" |r, i| Cell::text(r.dag.places[i].primitive.as_deref());
            "source" TEXT "The source line" |r, i| Cell::text(r.dag.places[i].source.as_deref());
            "told_by" TEXT "Who reported it: program (calls of workspan.h or of the Rust API), runtime (hooks), NULL if not known" |r, i| Cell::text(r.dag.places[i].reporter.map(Reporter::name));
            "tasks" INTEGER "Tasks created there" |r, i| r.site(i).map_or(Cell::Int(0), |s| Cell::whole(s.count.into()));
            "work" INTEGER "Work of its outermost tasks and all their descendants" |r, i| r.site(i).map_or(Cell::Null, |s| Cell::whole(r.ns(s.work)));
            "own_work" INTEGER "Work of its tasks' own strands" |r, i| r.site(i).map_or(Cell::Null, |s| Cell::whole(r.ns(s.blocks.iter().map(|b| b.work).sum())));
            "span" INTEGER "Sum of the heaviest paths of its outermost tasks" |r, i| r.site(i).map_or(Cell::Null, |s| Cell::whole(r.ns(s.span)));
            "parallelism" REAL "work / span" |r, i| r.site(i).map_or(Cell::Null, |s| Cell::Real(s.parallelism()));
            "critical_work" INTEGER "Work of its tasks on the critical path" |r, i| r.site(i).map_or(Cell::Null, |s| Cell::whole(r.ns(s.critical_work)));
            "critical_percent" REAL "critical_work in percent of the span" |r, i| r.site(i).map_or(Cell::Null, |s| Cell::Real(s.critical_percent));
        },
    },
    Table {
        name: "tasks",
        about: "One row per task.",
        index: &["task", "site", "parent"],
        rows: |r| r.dag.tasks.len(),
        columns: columns! {
            "run" INTEGER "Number of the run" |r, _| Cell::Int(r.number);
            "task" INTEGER "Its index" |_, i| Cell::whole(i as u128);
            "number" INTEGER "Its number in the report" |r, i| Cell::whole(r.dag.tasks.number(i as u32).into());
            "parent" INTEGER "Index of its parent; NULL for a root" |r, i| Cell::id(r.dag.tasks.parent[i]);
            "kind" TEXT "root, deferred, inline or detached" |r, i| Cell::Text(r.dag.tasks.kind[i].name());
            "site" INTEGER "Spawn site" |r, i| Cell::id(r.dag.tasks.site[i]);
            "told_by" TEXT "Who reported it: program, runtime, or NULL, as for its site" |r, i| Cell::text(r.dag.places[r.dag.tasks.site[i] as usize].reporter.map(Reporter::name));
            "level" INTEGER "Number of creates from the root" |r, i| Cell::Int(r.dag.tasks.level[i].into());
            "creator" INTEGER "The strand that ended by creating it" |r, i| Cell::id(r.dag.tasks.creator[i]);
            "scope" INTEGER "Number of the scope it was created into" |r, i| r.dag.scopes.get(r.dag.tasks.scope[i] as usize).map_or(Cell::Null, |s| Cell::whole(s.number.into()));
            "thread" INTEGER "The thread it started on" |r, i| Cell::id(r.dag.strands.thread[r.dag.tasks.first[i] as usize]);
            "start" INTEGER "Start of its first strand" |r, i| Cell::Int(r.at(r.dag.strands.start[r.dag.tasks.first[i] as usize]));
            "end" INTEGER "End of its last strand" |r, i| Cell::Int(r.at(r.dag.strands.end[r.dag.tasks.last[i] as usize]));
            "time" INTEGER "Weight of its own strands" |r, i| Cell::whole(r.ns(r.tasks().own[i].into()));
            "work" INTEGER "time, plus that of all its descendants" |r, i| Cell::whole(r.ns(r.tasks().work[i]));
            "strands" INTEGER "Number of its strands" |r, i| Cell::Int(r.tasks().strands[i].into());
            "children" INTEGER "Number of tasks it created" |r, i| Cell::Int(r.tasks().children[i].into());
            "rank" INTEGER "Its index among its parent's children, or among the roots, in the order of creation, from 0" |r, i| Cell::Int(r.tasks().rank[i].into());
            "folded" INTEGER "Tasks folded into its strands. They have no rows: count(*) + sum(folded) is the number of all tasks" |r, i| Cell::whole(r.folded().tasks[i].into());
        },
    },
    Table {
        name: "strands",
        about: "One row per strand: a stretch of one task on one thread without a task-parallel primitive.",
        index: &["strand", "task"],
        rows: |r| r.dag.strands.len(),
        columns: columns! {
            "run" INTEGER "Number of the run" |r, _| Cell::Int(r.number);
            "strand" INTEGER "Its index, in start order" |_, i| Cell::whole(i as u128);
            "task" INTEGER "Its task" |r, i| Cell::id(r.dag.strands.task[i]);
            "site" INTEGER "Its task's spawn site" |r, i| Cell::id(r.dag.tasks.site[r.dag.strands.task[i] as usize]);
            "level" INTEGER "Its task's level" |r, i| Cell::Int(r.dag.tasks.level[r.dag.strands.task[i] as usize].into());
            "thread" INTEGER "The thread it ran on" |r, i| Cell::id(r.dag.strands.thread[i]);
            "start" INTEGER "When it started" |r, i| Cell::Int(r.at(r.dag.strands.start[i]));
            "end" INTEGER "When it ended" |r, i| Cell::Int(r.at(r.dag.strands.end[i]));
            "time" INTEGER "Its weight: end - start, less the next three columns" |r, i| Cell::whole(r.ns(r.facts.weight.get(i).into()));
            "descheduled" INTEGER "Time preempted" |r, i| Cell::whole(r.ns(r.facts.descheduled.get(i).into()));
            "blocked" INTEGER "Time blocked" |r, i| Cell::whole(r.ns(r.facts.blocked.get(i).into()));
            "recording" INTEGER "Time that the recorder's probes took" |r, i| Cell::whole(r.ns(r.facts.recording.get(i).into()));
            "ready" INTEGER "When it became ready; equal to start if it did not have to wait" |r, i| Cell::Int(r.at(r.facts.ready.of(&r.dag, i as u32).map_or(r.dag.strands.start[i], |(t, _)| t)));
            "waited" INTEGER "start - ready" |r, i| Cell::whole(r.facts.ready.of(&r.dag, i as u32).map_or(0, |(t, _)| r.ns(u128::from(r.dag.strands.start[i] - t))));
            "ready_edge" TEXT "The kind of edge that made it ready; NULL if it did not have to wait" |r, i| Cell::text(r.facts.ready.of(&r.dag, i as u32).map(|(_, kind)| kind.name()));
            "critical" INTEGER "1 if it is on the critical path" |r, i| Cell::flag(r.facts.critical.has(i as u32));
            "previous" INTEGER "The previous strand of its task" |r, i| Cell::id(r.dag.strands.prev[i]);
            "start_kind" TEXT "What precedes it: begin, create, wait, yield, signal or handoff" |r, i| Cell::Text(start_kind(r.dag.strands.start_kind[i]));
            "end_kind" TEXT "What ended it: create, wait, yield, signal, end or handoff" |r, i| Cell::Text(r.dag.strands.end_kind[i].name());
            "from_site" INTEGER "Position where it started" |r, i| Cell::id(r.dag.starts_at(i as u32));
            "to_site" INTEGER "Position where it ended" |r, i| Cell::id(r.dag.strands.to[i]);
            "folded" INTEGER "Number of tasks folded into it, which have no rows; 0 for an ordinary strand" |r, i| Cell::whole(r.folded_into(i as u32).into());
        },
    },
    Table {
        name: "edges",
        about: "One row per edge between strands.",
        index: &["target"],
        rows: |r| r.edges().len(),
        columns: columns! {
            "run" INTEGER "Number of the run" |r, _| Cell::Int(r.number);
            "source" INTEGER "The strand that must end first" |r, i| Cell::id(r.edges()[i].0);
            "target" INTEGER "The strand that waits for it" |r, i| Cell::id(r.edges()[i].1);
            "kind" TEXT "create, create_continuation, wait_continuation, yield_continuation, end, depend or signal" |r, i| Cell::Text(r.edges()[i].2.name());
        },
    },
    Table {
        name: "steals",
        about: "One row per steal that the runtime reported.",
        index: &[],
        rows: |r| r.dag.steals.len(),
        columns: columns! {
            "run" INTEGER "Number of the run" |r, _| Cell::Int(r.number);
            "t" INTEGER "Time of the steal" |r, i| Cell::Int(r.at(r.dag.steals[i].t));
            "thief" INTEGER "The thread that took the task" |r, i| Cell::id(r.dag.steals[i].thief);
            "victim" INTEGER "The thread it was taken from" |r, i| Cell::id(r.dag.steals[i].victim);
            "task" INTEGER "The task that was taken" |r, i| Cell::id(r.dag.steals[i].task);
            "leap" INTEGER "1 if the thief took it while waiting for a stolen child" |r, i| Cell::flag(r.dag.steals[i].leap);
        },
    },
    Table {
        name: "events",
        about: "One row per scheduler event, or sample of a thread's load or queue.",
        index: &[],
        rows: |r| r.dag.thread_events.len(),
        columns: columns! {
            "run" INTEGER "Number of the run" |r, _| Cell::Int(r.number);
            "t" INTEGER "Time of the event" |r, i| Cell::Int(r.at(r.dag.thread_events[i].0));
            "thread" INTEGER "The thread" |r, i| Cell::id(r.dag.thread_events[i].1);
            "kind" TEXT "steal_failed, sleep, wake, cpu or queue" |r, i| Cell::Text(event_kind(&r.dag.thread_events[i].2));
            "victim" INTEGER "The victim of a failed steal" |r, i| match r.dag.thread_events[i].2 { ThreadEvent::StealFailed(v) => Cell::id(v), _ => Cell::Null };
            "value" REAL "cpu: load from 0 to 1; queue: number of ready tasks in the thread's queue" |r, i| match r.dag.thread_events[i].2 { ThreadEvent::Cpu(load) => Cell::Real(load), ThreadEvent::Queue(n) => Cell::Real(n as f64), _ => Cell::Null };
        },
    },
    Table {
        name: "offs",
        about: "One row per interval in which a thread was off the CPU.",
        index: &[],
        rows: |r| r.dag.offs.len(),
        columns: columns! {
            "run" INTEGER "Number of the run" |r, _| Cell::Int(r.number);
            "thread" INTEGER "The thread" |r, i| Cell::id(r.dag.offs[i].thread);
            "start" INTEGER "Start of the interval" |r, i| Cell::Int(r.at(r.dag.offs[i].start));
            "end" INTEGER "End of the interval" |r, i| Cell::Int(r.at(r.dag.offs[i].end));
            "why" TEXT "preempted or blocked" |r, i| Cell::Text(match r.dag.offs[i].why { OffCpuReason::Preempted => "preempted", OffCpuReason::Blocked => "blocked" });
            "on_what" TEXT "What it was blocked on" |r, i| Cell::text(r.dag.offs[i].on.as_deref());
        },
    },
    Table {
        name: "waits",
        about: "One row for each time that a strand gave up the CPU and more is known: what it waited for, where, and who ended \
        the wait.",
        index: &["strand"],
        rows: |r| r.dag.samples.stops.len(),
        columns: columns! {
            "run" INTEGER "Number of the run" |r, _| Cell::Int(r.number);
            "thread" INTEGER "The thread" |r, i| Cell::id(r.dag.samples.stops[i].thread);
            "strand" INTEGER "The strand that waited" |r, i| Cell::id(r.dag.samples.stops[i].strand);
            "start" INTEGER "Time it left the CPU" |r, i| Cell::Int(r.at(r.dag.samples.stops[i].t));
            "end" INTEGER "Time it came back" |r, i| Cell::Int(r.at(r.dag.samples.stops[i].t + r.dag.samples.stops[i].ticks));
            "kind" TEXT "mutex, rwlock, condition, barrier, semaphore, sleep, io or futex; NULL where only the stack is known" |r, i| r.dag.samples.stops[i].wait.map_or(Cell::Null, |w| Cell::Text(WaitedFor::NAMES[w.kind as usize]));
            "object" INTEGER "What it waited for: equal numbers are one lock or condition" |r, i| r.dag.samples.stops[i].wait.filter(|w| w.object != 0).map_or(Cell::Null, |w| Cell::whole(w.object.into()));
            "function" TEXT "Function of the program that waited" |r, i| Cell::text(wait_frame(r, i).map(|f| f.function.as_str()));
            "file" TEXT "Source file of that function" |r, i| Cell::text(wait_frame(r, i).and_then(|f| f.file.as_deref()));
            "line" INTEGER "Line of the wait" |r, i| wait_frame(r, i).and_then(|f| f.line).map_or(Cell::Null, |n| Cell::Int(n.into()));
            "by_thread" INTEGER "The thread that ended the wait" |r, i| r.dag.samples.stops[i].wait.map_or(Cell::Null, |w| Cell::id(w.by));
            "released_function" TEXT "Function in which that thread did so" |r, i| Cell::text(release_frame(r, i).map(|f| f.function.as_str()));
            "released_file" TEXT "Source file of that function" |r, i| Cell::text(release_frame(r, i).and_then(|f| f.file.as_deref()));
            "released_line" INTEGER "Line of the release" |r, i| release_frame(r, i).and_then(|f| f.line).map_or(Cell::Null, |n| Cell::Int(n.into()));
        },
    },
    Table {
        name: "regions",
        about: "One row per interval in which a region or a labelled part was open.",
        index: &[],
        rows: |r| r.dag.regions.len() + r.dag.parts.len(),
        columns: columns! {
            "run" INTEGER "Number of the run" |r, _| Cell::Int(r.number);
            "label" TEXT "Its name" |r, i| Cell::text(r.dag.labels.get(region(r, i).label as usize).map(String::as_str));
            "kind" TEXT "region, tree (a region that includes the tasks created in it) or part" |r, i| Cell::Text(if i >= r.dag.regions.len() { "part" } else if region(r, i).tree { "tree" } else { "region" });
            "task" INTEGER "The task that opened it" |r, i| Cell::id(region(r, i).task);
            "start" INTEGER "Time it was opened" |r, i| Cell::Int(r.at(region(r, i).begin.1));
            "end" INTEGER "Time it was closed" |r, i| Cell::Int(r.at(region(r, i).end.1));
        },
    },
    Table {
        name: "counters",
        about: "One row per strand and counter: by how much the counter grew during the strand.",
        index: &["strand"],
        rows: |r| r.counters().len(),
        columns: columns! {
            "run" INTEGER "Number of the run" |r, _| Cell::Int(r.number);
            "counter" TEXT "Name of the counter" |r, i| Cell::Text(&r.dag.counters[r.counters()[i].0].name);
            "strand" INTEGER "The strand" |r, i| Cell::id(counter_value(r, i).0);
            "value" INTEGER "Increase of the counter" |r, i| Cell::whole(counter_value(r, i).1.into());
        },
    },
    Table {
        name: "samples",
        about: "One row per sample of the CPU.",
        index: &["strand"],
        rows: |r| r.dag.samples.len(),
        columns: columns! {
            "run" INTEGER "Number of the run" |r, _| Cell::Int(r.number);
            "t" INTEGER "Time of the sample" |r, i| Cell::Int(r.at(r.dag.samples.t[i]));
            "thread" INTEGER "The thread" |r, i| Cell::id(r.dag.samples.thread[i]);
            "strand" INTEGER "The strand that ran; NULL in the runtime's own code" |r, i| Cell::id(r.dag.samples.strand[i]);
            "function" TEXT "Innermost function of the strand's code" |r, i| Cell::text(r.dag.samples.own_frames(r.dag.samples.stack[i]).next().map(|f| f.function.as_str()));
            "file" TEXT "Source file of that function" |r, i| Cell::text(r.dag.samples.own_frames(r.dag.samples.stack[i]).next().and_then(|f| f.file.as_deref()));
            "line" INTEGER "Line that was executing" |r, i| r.dag.samples.own_frames(r.dag.samples.stack[i]).next().and_then(|f| f.line).map_or(Cell::Null, |n| Cell::Int(n.into()));
            "time" REAL "CPU time that the sample stands for" |r, _| match r.dag.samples.hertz { 0 => Cell::Null, hertz => Cell::Real(1e9 / f64::from(hertz)) };
        },
    },
];

fn ns_real(run: &Run, ticks: f64) -> f64 {
    // Scaling before the conversion keeps six more digits than whole nanoseconds have.
    const SCALE: f64 = 1e6;
    run.ns((ticks * SCALE).max(0.0) as u128) as f64 / SCALE
}

fn start_kind(kind: StartKind) -> &'static str {
    match kind {
        StartKind::Begin => "begin",
        StartKind::AfterCreate => "create",
        StartKind::AfterWait => "wait",
        StartKind::AfterYield => "yield",
        StartKind::AfterSignal => "signal",
        StartKind::AfterHandoff => "handoff",
    }
}

fn event_kind(event: &ThreadEvent) -> &'static str {
    match event {
        ThreadEvent::StealFailed(_) => "steal_failed",
        ThreadEvent::Sleep => "sleep",
        ThreadEvent::Wake => "wake",
        ThreadEvent::Cpu(_) => "cpu",
        ThreadEvent::Queue(_) => "queue",
    }
}

fn region(run: &Run, i: usize) -> &Region {
    let regions = &run.dag.regions;
    match regions.get(i) {
        Some(region) => region,
        None => &run.dag.parts[i - regions.len()],
    }
}

fn counter_value(run: &Run, i: usize) -> (u32, u64) {
    let (counter, value) = run.counters()[i];
    run.dag.counters[counter].values[value]
}

/// The cause and place with index `i`.
fn place(run: &Run, i: usize) -> &Finding {
    &run.report.causes.places[i]
}

/// A position by its number.
fn position(run: &Run, id: u32) -> Option<&Place> {
    run.dag.places.get(id as usize)
}

/// Where a strand waited.
fn wait_frame(r: &Run, i: usize) -> Option<&Frame> {
    attributed_frame(&r.dag, r.dag.samples.stops[i].stack)
}

/// Where the wait was ended.
fn release_frame(r: &Run, i: usize) -> Option<&Frame> {
    let wait = r.dag.samples.stops[i].wait?;
    (wait.released_at != NONE)
        .then(|| attributed_frame(&r.dag, wait.released_at))
        .flatten()
}

fn process(r: &Run, i: usize) -> Option<&Process> {
    r.dag.meta.processes.list.get(i)
}

/// The last pool that a thread was a worker of.
fn last_pool(r: &Run, thread: usize) -> Option<u32> {
    let members = r.dag.pools.members.iter().rev();
    let mut of_thread = members.filter(|member| member.thread as usize == thread);
    of_thread.next().map(|member| member.pool)
}

/// The number of CPUs that a thread ran on.
fn cpus(r: &Run, thread: usize) -> Cell<'static> {
    match r.dag.meta.topology.cpus_of(thread as u32).len() {
        0 => Cell::Null,
        count => Cell::whole(count as u128),
    }
}

fn role(r: &Run, thread: usize) -> &'static str {
    let sums = &r.threads()[thread];
    match (sums.began_root, sums.ran_thread) {
        _ if last_pool(r, thread).is_some() => "worker",
        (true, _) => "main",
        (_, true) => match r.async_role(thread) {
            Some(AsyncRole::Worker) => "async worker",
            Some(AsyncRole::Blocking) => "blocking pool",
            None => "thread",
        },
        _ if r.dag.is_worker(thread as u32) => "worker",
        _ => "other",
    }
}
