//! The first line of a text trace.

use super::line::{Line, MAX_TIME};
use workspan_dag::build::MAX_THREADS;
use workspan_dag::meta::{Meta, Steals, TimeUnit, UnreadPart};
use workspan_dag::processes::{HostClock, Process, Processes, ThreadOfProcess};
use workspan_dag::topology::{TimeOnCpu, Topology, sum_by_cpu};
use workspan_dag::{Error, NONE, RunFacts};

/// The words of `time_unit`, in the order of [`TimeUnit`].
pub(super) const UNITS: [(&str, TimeUnit, u64); 4] = [
    ("ns", TimeUnit::Ns, 1_000_000_000),
    ("us", TimeUnit::Us, 1_000_000),
    ("ms", TimeUnit::Ms, 1000),
    ("cycles", TimeUnit::Cycles, 0),
];

/// Reads the header.
pub(super) fn read(line: &mut Line<'_>) -> Result<Meta, Error> {
    line.name = "header".into();
    if line.get("workspan_trace").is_none() {
        return line.fail("no header; expected {\"workspan_trace\":1,\"workers\":…,\"time_unit\":…,\"steals\":…} as the first line");
    }
    let version = line.whole("workspan_trace")?;
    if version != 1 {
        return line.fail(format!(
            "version {version} of the text trace; expected version 1, the one this workspan reads: get a newer workspan or write version 1"
        ));
    }
    let threads_of = |key: &str| match line.whole(key)? {
        n @ 1.. if n <= u64::from(MAX_THREADS) => Ok::<u32, Error>(n as u32),
        n => line.fail(format!("`{key}` is {n}; expected 1 to {MAX_THREADS}")),
    };
    let workers = threads_of("workers")?;
    let threads = if line.given("threads").is_some() {
        threads_of("threads")?
    } else {
        workers
    };
    if threads < workers {
        return line.fail(format!(
            "`threads` is {threads}, below `workers`, {workers}; expected at least as many"
        ));
    }
    let (_, time_unit, mut ticks_per_second) =
        UNITS[line.word("time_unit", &UNITS.map(|u| u.0))?];
    if time_unit == TimeUnit::Cycles {
        ticks_per_second = line.whole("clock_hz")?;
        if ticks_per_second == 0 {
            return line.fail("`clock_hz` is 0; expected the clock's ticks in a second");
        }
    }
    let cost = |key: &str| match line.whole_or(key, 0)? {
        n if n <= MAX_TIME => Ok::<u64, Error>(n),
        n => line.fail(format!("`{key}` is {n}; expected at most 2^63 - 1")),
    };
    let text = |key: &str| line.text_or_none(key).map(|t| t.map(str::to_owned));
    let facts = facts(line)?;
    Ok(Meta {
        workers,
        threads,
        time_unit,
        ticks_per_second,
        steals: [Steals::Child, Steals::Continuation]
            [line.word("steals", &["child", "continuation"])?],
        burden: cost("burden")?,
        probe_cost: cost("probe_cost")?,
        join_cost: cost("join_cost")?,
        thread_names: texts(line, "thread_names")?,
        name: text("name")?,
        runtime: text("runtime")?,
        command: text("command")?,
        host: text("host")?,
        cpus: if line.given("cpus").is_some() {
            Some(line.small("cpus")?)
        } else {
            None
        },
        run: RunFacts::from_notes(&facts, ticks_per_second),
        topology: Topology {
            on_cpus: on_cpus(line, threads)?,
            ..Topology::from_facts(&facts)
        },
        facts,
        warnings: texts(line, "warnings")?,
        recorded: line.flag("recorded")?,
        cpu: None,
        read_folding: None,
        unread: unread(line)?,
        section: None,
        processes: processes(line)?,
    })
}

/// The processes of a run of several processes.
fn processes(line: &Line<'_>) -> Result<Processes, Error> {
    let mut processes = Processes::default();
    if line.given("processes").is_none() {
        return Ok(processes);
    }
    for value in line.list("processes")? {
        let fields = line.inner(value, "processes")?;
        let text = |key: &str| fields.text_or_none(key).map(|t| t.map(str::to_owned));
        let number = |key: &str| match fields.given(key) {
            Some(_) => fields.small(key).map(Some),
            None => Ok::<Option<u32>, Error>(None),
        };
        let (from, to) = (fields.whole_or("t", 0)?, fields.whole_or("to", u64::MAX)?);
        let process = processes.list.len() as u32;
        for thread in fields.wholes("threads")? {
            processes.threads.push(ThreadOfProcess {
                thread: u32::try_from(thread).unwrap_or(NONE),
                from,
                process,
            });
        }
        processes.list.push(Process {
            name: text("name")?.unwrap_or_else(|| "program".into()),
            rank: number("rank")?,
            pid: number("pid")?.unwrap_or(0),
            host: text("host")?,
            workers: number("workers")?.unwrap_or(1),
            from,
            to,
            in_mpi: fields.whole_or("in_mpi", 0)?,
        });
    }
    processes.threads.sort_unstable();
    processes.clocks = clocks(line)?;
    Ok(processes)
}

/// The clocks of hosts other than the first.
fn clocks(line: &Line<'_>) -> Result<Vec<HostClock>, Error> {
    if line.given("clocks").is_none() {
        return Ok(Vec::new());
    }
    let clock = |value| {
        let fields = line.inner(value, "clocks")?;
        let signed = |plus: u64, minus: u64| {
            let whole = i128::from(plus) - i128::from(minus);
            whole.clamp(i64::MIN.into(), i64::MAX.into()) as i64
        };
        let rate = |key: &str| match fields.given(key) {
            Some(_) => fields.number(key),
            None => Ok(0.0),
        };
        let uncertainty_ns = match fields.given("uncertainty_ns") {
            Some(_) => Some(fields.whole("uncertainty_ns")?),
            None => None,
        };
        Ok::<_, Error>(HostClock {
            host: fields.text("host")?.to_owned(),
            offset_ns: signed(
                fields.whole_or("behind_ns", 0)?,
                fields.whole_or("ahead_ns", 0)?,
            ),
            uncertainty_ns,
            drift: rate("slow_ppb")? - rate("fast_ppb")?,
            bounds: fields.whole_or("bounds", 0)?,
            contradictions: (
                fields.whole_or("contradictions", 0)?,
                fields.whole_or("contradict_by_ns", 0)?,
            ),
        })
    };
    line.list("clocks")?.iter().map(clock).collect()
}

/// How long each thread ran on each CPU, by thread and CPU.
fn on_cpus(line: &Line<'_>, threads: u32) -> Result<Vec<TimeOnCpu>, Error> {
    if line.given("on_cpus").is_none() {
        return Ok(Vec::new());
    }
    let time = |value| {
        let fields = line.inner(value, "on_cpus")?;
        let thread = fields.small("w")?;
        if thread >= threads {
            return line.fail(format!(
                "`w` in `on_cpus` is {thread}; expected a thread below {threads}"
            ));
        }
        let (cpu, ns) = (fields.small("cpu")?, fields.whole("ns")?);
        Ok::<_, Error>(TimeOnCpu { thread, cpu, ns })
    };
    let times: Vec<TimeOnCpu> = line
        .list("on_cpus")?
        .iter()
        .map(time)
        .collect::<Result<_, _>>()?;
    Ok(sum_by_cpu(times))
}

/// The lost parts of the recorded trace that was exported.
fn unread(line: &Line<'_>) -> Result<Option<UnreadPart>, Error> {
    let Some(value) = line.given("unread") else {
        return Ok(None);
    };
    let part = line.inner(value, "unread")?;
    Ok(Some(UnreadPart {
        damaged: part.whole_or("damaged", 0)?,
        threads: part.whole_or("threads", 0)?,
        dropped: part.whole_or("dropped", 0)?,
        off_cpu: part.flag("off_cpu")?,
    }))
}

fn facts(line: &Line<'_>) -> Result<Vec<(String, String)>, Error> {
    if line.given("facts").is_none() {
        return Ok(Vec::new());
    }
    let fact = |value| {
        let fact = line.inner(value, "facts")?;
        Ok::<_, Error>((fact.text("key")?.to_owned(), fact.text("value")?.to_owned()))
    };
    line.list("facts")?.iter().map(fact).collect()
}

fn texts(line: &Line<'_>, key: &str) -> Result<Vec<String>, Error> {
    if line.given(key).is_none() {
        return Ok(Vec::new());
    }
    let text = |value: &super::value::Value<'_>| match value {
        super::value::Value::Text(t) => Ok(t.clone().into_owned()),
        other => line.fail(format!("`{key}` holds {other}; expected texts")),
    };
    line.list(key)?.iter().map(text).collect()
}
