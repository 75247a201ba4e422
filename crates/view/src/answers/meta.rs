//! `meta`: the runs and their tables of names.

use serde::Serialize;
use workspan_analysis::checks;
use workspan_analysis::codes::short;
use workspan_dag::{Dag, Place, Process, ROOT_PLACE, ThreadId, Topology};

use crate::answer::Reply;
use crate::api_error::ApiError;
use crate::overview::Overview;
use crate::run::codes::{UNKNOWN_PLACE, shown};
use crate::run::{Run, RunModel};
use crate::session::{Mode, Session};
use crate::timeline::events;

#[derive(Serialize)]
struct Meta<'a> {
    workspan_view: u32,
    version: &'static str,
    mode: &'static str,
    runs: Vec<RunMeta<'a>>,
    finest_level: u32,
}

#[derive(Serialize)]
struct RunMeta<'a> {
    id: &'a str,
    name: String,
    file: String,
    bytes: u64,
    runtime: Option<&'a str>,
    command: Option<&'a str>,
    host: Option<&'a str>,
    recorded: Option<&'a str>,
    cpus: Option<u32>,
    workers: u32,
    threads: Vec<ThreadMeta<'a>>,
    more_threads: u64,
    pools: Vec<PoolMeta<'a>>,
    /// The names of the processes shown to people, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    processes: Vec<String>,
    /// The CPUs of each NUMA node, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nodes: Vec<NodeMeta>,
    begin: u64,
    elapsed: u64,
    ticks_per_second: u64,
    top_level: u32,
    tasks: u64,
    numbered_tasks: u64,
    strands: u64,
    steals: u64,
    leaps: u64,
    first_spawn: Option<u64>,
    waits: usize,
    folded_strands: u64,
    samples: u64,
    sites: Vec<SiteName<'a>>,
    more_sites: u64,
    codes: Vec<CodeName<'a>>,
    has: Has<'a>,
    warnings: Vec<String>,
    /// Only a part of the trace could be read.
    unread: bool,
    facts: &'a [(String, String)],
    overview: Option<u32>,
    parts: Vec<PartMeta<'a>>,
    only: Option<Only<'a>>,
}

/// A part of the run that can be opened as a run of its own.
#[derive(Serialize)]
struct PartMeta<'a> {
    id: &'a str,
    kind: &'static str,
    label: &'a str,
    count: u64,
}

/// The part of another run that this run is.
#[derive(Serialize)]
struct Only<'a> {
    of: &'a str,
    kind: &'static str,
    label: &'a str,
    count: u64,
    /// Number of tasks inside the part. The run has other tasks only because these are below them.
    tasks: u64,
    /// Ticks in which the part was open: the elapsed time of its report.
    elapsed: u64,
    /// The argument of `--only` for the same report.
    argument: String,
}

#[derive(Serialize)]
struct ThreadMeta<'a> {
    thread: ThreadId,
    label: String,
    worker: bool,
    name: Option<&'a str>,
    /// Share of the elapsed time on the CPU. `None` if the times off the CPU are not known: in an
    /// overview, and if they may be among the records that could not be read.
    busy: Option<f64>,
    /// Index into `pools`.
    pool: Option<u32>,
    /// Index into `processes`, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<u32>,
    /// The NUMA node on which it ran the longest, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<u32>,
    /// The part of its CPU time on that node.
    #[serde(skip_serializing_if = "Option::is_none")]
    on_node: Option<f64>,
}

#[derive(Serialize)]
struct PoolMeta<'a> {
    size: u32,
    built: Option<&'a str>,
}

#[derive(Serialize)]
struct NodeMeta {
    node: u32,
    /// Its CPUs, as the kernel writes them: `0-3,8`.
    cpus: String,
}

#[derive(Serialize)]
struct SiteName<'a> {
    place: u32,
    label: &'a str,
    function: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<u32>,
}

#[derive(Serialize)]
struct CodeName<'a> {
    label: &'a str,
    function: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<u32>,
    ticks: u64,
}

#[derive(Serialize)]
struct Has<'a> {
    cpu: bool,
    queue: bool,
    attempts: bool,
    sleeps: bool,
    samples: bool,
    regions: bool,
    counters: Vec<&'a str>,
    leaps: bool,
    inside: bool,
    /// Tasks told their sizes.
    sizes: bool,
}

pub(crate) fn answer(session: &Session) -> Result<Reply, ApiError> {
    let overviews: Vec<_> = session.runs.iter().map(Run::overview).collect();
    let runs = session.runs.iter().zip(&overviews);
    let runs = runs.map(|(run, overview)| match overview {
        Some(overview) => Ok(previewed(run, overview)),
        None => read(session, run),
    });
    let (mode, finest_level) = match session.mode {
        Mode::Server => ("server", 0),
        Mode::Report { finest_level } => ("report", finest_level),
    };
    Reply::json(&Meta {
        workspan_view: 1,
        version: env!("CARGO_PKG_VERSION"),
        mode,
        runs: runs.collect::<Result<_, _>>()?,
        finest_level,
    })
}

/// The facts that any run has. All other fields are those of an empty run.
fn told<'a>(run: &'a Run, meta: &'a workspan_dag::Meta) -> RunMeta<'a> {
    let fact = |key: &str| meta.facts.iter().find(|f| f.0 == key);
    RunMeta {
        id: &run.id,
        name: run.name(),
        file: run.file_name(),
        bytes: run.bytes,
        runtime: meta.runtime.as_deref(),
        command: meta.command.as_deref(),
        host: meta.host.as_deref(),
        recorded: fact("recorded").map(|f| f.1.as_str()),
        cpus: meta.cpus,
        workers: meta.workers,
        threads: Vec::new(),
        more_threads: 0,
        pools: Vec::new(),
        processes: Vec::new(),
        nodes: nodes(&meta.topology),
        begin: 0,
        elapsed: 0,
        ticks_per_second: meta.ticks_per_second,
        top_level: 0,
        tasks: 0,
        numbered_tasks: 0,
        strands: 0,
        steals: 0,
        leaps: 0,
        first_spawn: None,
        waits: 0,
        folded_strands: 0,
        samples: 0,
        sites: Vec::new(),
        more_sites: 0,
        codes: Vec::new(),
        has: Has {
            cpu: false,
            queue: false,
            attempts: false,
            sleeps: false,
            samples: false,
            regions: false,
            counters: Vec::new(),
            leaps: false,
            inside: false,
            sizes: false,
        },
        warnings: meta.warnings.clone(),
        unread: meta.unread.is_some(),
        facts: &meta.facts,
        overview: None,
        parts: Vec::new(),
        only: None,
    }
}

/// `only`: a part of a run as a run.
pub(crate) fn part(session: &Session, run: &Run) -> Result<Reply, ApiError> {
    Reply::json(&read(session, run)?)
}

/// The run and the part that `run` was made from, if it is a part.
fn only<'a>(session: &'a Session, run: &Run) -> Result<Option<Only<'a>>, ApiError> {
    let Some((of, _)) = run.id.split_once('~') else {
        return Ok(None);
    };
    let of = session.run(of)?;
    let part = of.parts()?.iter().find(|part| part.run.id == run.id);
    let Some(part) = part else { return Ok(None) };
    let made = part.made.get().and_then(|made| made.as_ref().ok());
    Ok(Some(Only {
        of: &of.id,
        kind: part.kind,
        label: &part.label,
        count: part.count,
        tasks: made.map_or(0, |&tasks| tasks),
        elapsed: run.analyses()?.report.breakdown.elapsed(),
        argument: part.argument(),
    }))
}

/// The facts of a run of which only a preview is loaded.
fn previewed<'a>(run: &'a Run, overview: &'a Overview) -> RunMeta<'a> {
    let meta = overview.meta();
    let main = overview.main_thread();
    let threads = overview.rows.threads.iter().map(|&thread| {
        let worker = thread < meta.workers;
        ThreadMeta {
            thread,
            label: match worker {
                true => format!("W{thread}"),
                false if Some(thread) == main => "main".into(),
                false => format!("T{thread}"),
            },
            worker,
            name: None,
            busy: None,
            pool: None,
            process: None,
            node: None,
            on_node: None,
        }
    });
    let site = |&place: &u32| site_name(place, overview.place(place));
    let code = |&(place, ticks): &(u32, u64)| {
        let name = site_name(place, overview.place(place));
        CodeName {
            label: match name.function {
                Some(function) if place != ROOT_PLACE => short(function),
                _ => name.label,
            },
            function: name.function,
            file: name.file,
            line: name.line,
            ticks,
        }
    };
    RunMeta {
        threads: threads.collect(),
        more_threads: overview.rows.more,
        begin: overview.begin(),
        elapsed: overview.elapsed(),
        top_level: overview.top_level(),
        tasks: overview.tasks(),
        sites: overview.sites.places.iter().map(site).collect(),
        more_sites: overview.sites.more,
        codes: overview.codes.iter().map(code).collect(),
        overview: Some(overview.finest_level()),
        ..told(run, meta)
    }
}

fn read<'a>(session: &'a Session, run: &'a Run) -> Result<RunMeta<'a>, ApiError> {
    let model = run.model()?;
    let dag = &*model.dag;
    let (cpu, queue) = events::known(dag);
    let leaps = run.timeline()?.arcs.leaps();
    let (attempts, sleeps) = events::told(dag);
    let folded = dag.folded.sums().map(|f| f.1.tasks);
    let mut warnings = checks::contradictions(dag, &checks::checks(dag));
    warnings.extend(dag.meta.cpu.as_ref().and_then(checks::outside));
    warnings.extend(dag.meta.warnings.iter().cloned());
    // A report in a file has no server that could make the parts.
    let parts = match session.mode {
        Mode::Server if !run.is_part() => run.parts()?,
        _ => &[],
    };
    Ok(RunMeta {
        parts: parts
            .iter()
            .map(|part| PartMeta {
                id: &part.run.id,
                kind: part.kind,
                label: &part.label,
                count: part.count,
            })
            .collect(),
        only: only(session, run)?,
        warnings,
        threads: threads(model),
        more_threads: model.rows.more,
        pools: pools(dag),
        processes: dag.meta.processes.list.iter().map(Process::title).collect(),
        begin: model.begin,
        elapsed: model.elapsed(),
        top_level: model.top_level(),
        tasks: folded.fold(dag.tasks.len() as u64, u64::saturating_add),
        numbered_tasks: dag.tasks.len() as u64,
        strands: dag.strands.len() as u64,
        steals: model.steals,
        leaps,
        first_spawn: first_spawn(model),
        waits: run.timeline()?.waits.told(),
        folded_strands: dag.folded.len() as u64,
        samples: dag.samples.len() as u64,
        sites: sites(model),
        more_sites: model.sites.more,
        codes: codes(model),
        has: Has {
            cpu,
            queue,
            attempts,
            sleeps,
            samples: !dag.samples.is_empty(),
            regions: !dag.regions.is_empty() || !dag.parts.is_empty(),
            counters: dag.counters.iter().map(|c| c.name.as_str()).collect(),
            leaps: leaps > 0,
            inside: session.mode == Mode::Server && dag.meta.read_folding.is_some(),
            sizes: !model.sizes.is_empty(),
        },
        ..told(run, &dag.meta)
    })
}

/// When the first deferred task was created, in ticks from the run's begin.
fn first_spawn(model: &RunModel) -> Option<u64> {
    let first = workspan_analysis::statistics::first_spawn(&model.dag)?;
    Some(first.saturating_sub(model.begin))
}

fn threads(model: &RunModel) -> Vec<ThreadMeta<'_>> {
    let dag = &*model.dag;
    let mut busy = vec![0u64; model.rows.len()];
    for s in 0..dag.strands.len() {
        if let Some(busy) = busy.get_mut(usize::from(model.rows.of(dag.strands.thread[s]))) {
            *busy = busy.saturating_add(model.weight(s as u32));
        }
    }
    let elapsed = model.elapsed().max(1) as f64;
    let main = main_thread(dag);
    let known = dag
        .meta
        .unread
        .as_ref()
        .is_none_or(|unread| !unread.off_cpu);
    let mut workers_of = vec![0u32; dag.meta.processes.list.len()];
    let rows = model.rows.threads.iter().zip(busy);
    rows.map(|(&thread, busy)| {
        let process = process_of(dag, thread);
        let worker = dag.is_worker(thread);
        let own = match worker {
            true => format!("W{}", number_in_process(&mut workers_of, process, thread)),
            false if Some(thread) == main => "main".into(),
            false => format!("T{thread}"),
        };
        let node = dag.meta.topology.main_node(thread);
        let title = process.map(|p| dag.meta.processes.list[p as usize].title());
        ThreadMeta {
            thread,
            label: title.map_or(own.clone(), |title| format!("{title} · {own}")),
            worker,
            name: name_of(dag, thread),
            busy: known.then_some((busy as f64 / elapsed).min(1.0)),
            pool: pool_of(dag, thread),
            process,
            node: node.map(|main| main.node),
            on_node: node.map(|main| main.share),
        }
    })
    .collect()
}

/// A worker's number among the workers of its process; the caller passes workers in ascending
/// order. If there is only one process, this is the worker's number in the run.
fn number_in_process(workers_of: &mut [u32], process: Option<u32>, thread: u32) -> u32 {
    match process.and_then(|process| workers_of.get_mut(process as usize)) {
        Some(count) => std::mem::replace(count, *count + 1),
        None => thread,
    }
}

/// The pools, if several existed at the same time.
fn pools(dag: &Dag) -> Vec<PoolMeta<'_>> {
    let pools = dag.pools.list.iter();
    pools
        .map(|pool| PoolMeta {
            size: pool.size,
            built: pool.built.as_deref(),
        })
        .collect()
}

/// The NUMA nodes of the machine, if there are several.
fn nodes(topology: &Topology) -> Vec<NodeMeta> {
    let range = |&(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    let nodes = topology.nodes.iter().map(|node| NodeMeta {
        node: node.number,
        cpus: Vec::from_iter(node.cpus.iter().map(range)).join(","),
    });
    nodes.collect()
}

/// The pool in which a thread was a worker for the longest time.
fn pool_of(dag: &Dag, thread: ThreadId) -> Option<u32> {
    let members = dag.pools.members.iter().filter(|m| m.thread == thread);
    let longest = members.max_by_key(|m| (m.to.saturating_sub(m.from), std::cmp::Reverse(m.pool)));
    longest.map(|m| m.pool)
}

/// The first process that has the thread's number.
fn process_of(dag: &Dag, thread: ThreadId) -> Option<u32> {
    let threads = &dag.meta.processes.threads;
    let first = threads.partition_point(|of| of.thread < thread);
    let of = threads.get(first).filter(|of| of.thread == thread)?;
    Some(of.process)
}

/// The thread's name, unless it is just the program's name.
fn name_of(dag: &Dag, thread: ThreadId) -> Option<&str> {
    let name = dag.meta.thread_names.get(thread as usize)?.as_str();
    let program = dag.meta.name.as_deref().unwrap_or_default();
    (!name.is_empty() && !program.starts_with(name)).then_some(name)
}

/// The thread on which the first root task began.
fn main_thread(dag: &Dag) -> Option<ThreadId> {
    let first = *dag.tasks.first.first()?;
    dag.strands.thread.get(first as usize).copied()
}

fn sites(model: &RunModel) -> Vec<SiteName<'_>> {
    let name = |&place: &u32| site_name(place, model.dag.places.get(place as usize));
    model.sites.places.iter().map(name).collect()
}

fn site_name(place: u32, at: Option<&Place>) -> SiteName<'_> {
    SiteName {
        place,
        label: match at {
            _ if place == ROOT_PLACE => "root",
            Some(at) if at.label != "?" => at.label.as_str(),
            _ => UNKNOWN_PLACE,
        },
        function: at.and_then(|p| p.function.as_deref()),
        file: at.and_then(|p| p.file.as_deref()),
        line: at.and_then(|p| p.line),
    }
}

fn codes(model: &RunModel) -> Vec<CodeName<'_>> {
    let all = model.codes.all.iter();
    all.map(|code| CodeName {
        label: shown(Some(code)),
        function: code.function.as_deref(),
        file: code.file.as_deref(),
        line: code.line,
        ticks: code.ticks,
    })
    .collect()
}
