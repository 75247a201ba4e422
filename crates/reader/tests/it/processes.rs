//! Runs of several processes: one clock, one table of places, and which rank waited for which.

use std::collections::BTreeSet;
use std::path::Path;

use crate::writer::{File, lane, strands};
use workspan_dag::samples::WaitedFor;
use workspan_dag::{Dag, Error, OffCpuReason};
use workspan_reader::{OpenOptions, processes};
use workspan_test_kit::TraceFile;
use workspan_trace::entry::{CallRole, Note, RankCall, SitePosition, WaitEntry, WaitsEntry};
use workspan_trace::wire::{Kind, primitive};
use workspan_trace::{ClockKind, bundle};

/// A process with a task of the first site and a task of the second one, between these ticks.
fn process(from: u64, to: u64, rank: &'static str, calls: &[RankCall]) -> File {
    let main = lane(&[
        (from, Kind::Root, &[]),
        (from + 100, Kind::Create, &[2, 1]),
        (from + 100, Kind::Begin, &[0, 1]),
        (from + 300, Kind::End, &[]),
        (to, Kind::End, &[]),
    ]);
    let mut file = File::new([main], Some(to));
    file.notes = vec![("rank", rank), ("launch", "mpi 1")];
    file.rank_calls = calls.to_vec();
    file
}

fn bundled(files: &[File]) -> Vec<u8> {
    let traces: Vec<Vec<u8>> = files.iter().map(File::bytes).collect();
    let traces: Vec<&[u8]> = traces.iter().map(Vec::as_slice).collect();
    let mut bundle = Vec::new();
    processes::write(&traces, &mut bundle).unwrap();
    bundle
}

fn read(bytes: &[u8]) -> Result<Dag, Error> {
    workspan_reader::open::read(Path::new("t"), bytes, &OpenOptions::default())
}

fn call(role: CallRole, begin: u64, ticks: u64) -> RankCall {
    RankCall {
        begin,
        ticks,
        // A barrier; all calls use the same function.
        function: 18,
        role,
        group: 5,
        turn: 1,
        ..RankCall::default()
    }
}

fn message(role: CallRole, peer: u32, begin: u64, ticks: u64) -> RankCall {
    RankCall {
        peer: Some(peer),
        tag: 7,
        ..call(role, begin, ticks)
    }
}

/// (thread, begin, end, thread that ended it) of each wait for a rank.
fn waits(dag: &Dag) -> Vec<(u32, u64, u64, u32)> {
    let stops = dag.samples.stops.iter();
    let waits = stops.filter_map(|stop| {
        let wait = stop.wait.filter(|wait| wait.kind == WaitedFor::Rank)?;
        Some((stop.thread, stop.t, stop.t + stop.ticks, wait.by))
    });
    waits.collect()
}

#[test]
fn processes_are_one_run_on_one_clock() {
    let files = [
        process(50_000, 90_000, "1", &[]),
        process(1_000, 100_000, "0", &[]),
    ];
    let dag = read(&bundled(&files)).unwrap();
    let processes = &dag.meta.processes;
    let rows: Vec<_> = processes
        .list
        .iter()
        .map(|p| (p.rank, p.from, p.to))
        .collect();
    // In order of rank, counted from the first one's beginning.
    assert_eq!(rows, [(Some(0), 0, 99_000), (Some(1), 49_000, 89_000)]);
    assert_eq!((dag.meta.workers, dag.meta.threads), (2, 2));
    assert_eq!(dag.meta.thread_names, ["rank 0", "rank 1"]);
    // Both have the same site, and a root each.
    let sites: Vec<u32> = dag.tasks.site.clone();
    assert_eq!(sites[0], sites[2]);
    assert_eq!(sites[1], sites[3]);
    let begins: Vec<(u32, u64)> = strands(&dag).iter().map(|s| (s.1, s.2)).collect();
    assert!(begins.contains(&(0, 0)) && begins.contains(&(1, 49_000)));
    assert_eq!(processes.of(1, 60_000), Some(1));
}

#[test]
fn processes_one_after_the_other_share_a_worker() {
    let files = [
        process(1_000, 50_000, "0", &[]),
        process(60_000, 90_000, "1", &[]),
    ];
    let dag = read(&bundled(&files)).unwrap();
    assert_eq!((dag.meta.workers, dag.meta.threads), (1, 1));
    let of = |t| dag.meta.processes.of(0, t);
    assert_eq!([of(10), of(70_000)], [Some(0), Some(1)]);
}

#[test]
fn whoever_comes_last_to_a_barrier_is_waited_for() {
    let files = [
        process(1_000, 100_000, "0", &[call(CallRole::All, 21_000, 45_000)]),
        process(1_000, 100_000, "1", &[call(CallRole::All, 61_000, 5_000)]),
        process(1_000, 100_000, "2", &[call(CallRole::All, 31_000, 35_000)]),
    ];
    let dag = read(&bundled(&files)).unwrap();
    assert_eq!(
        waits(&dag),
        [(0, 20_000, 60_000, 1), (2, 30_000, 60_000, 1)]
    );
    let offs: Vec<_> = dag
        .offs
        .iter()
        .map(|o| (o.thread, o.start, o.end, o.why))
        .collect();
    assert_eq!(
        offs,
        [
            (0, 20_000, 60_000, OffCpuReason::Blocked),
            (2, 30_000, 60_000, OffCpuReason::Blocked)
        ]
    );
    assert_eq!(dag.handoffs.list.len(), 2);
    // The rest of the call, 6,000 of the first rank's 45,000 ticks, is its own.
    assert_eq!(dag.meta.processes.list[0].in_mpi, 45_000);
}

/// The library polls its connections while it waits for a rank, and after that rank has come.
#[test]
fn the_librarys_own_waits_are_part_of_the_wait_for_a_rank() {
    let polled = |begin, ticks| WaitEntry {
        begin,
        ticks,
        kind: WaitedFor::Io,
        held: ticks,
        ..WaitEntry::default()
    };
    let mut early = process(1_000, 100_000, "0", &[call(CallRole::All, 21_000, 45_000)]);
    let polls = [
        polled(10_000, 500),
        polled(22_000, 900),
        polled(58_000, 5_000),
        polled(90_000, 700),
    ];
    early.waits = vec![WaitsEntry {
        thread: 0,
        waits: polls.to_vec(),
    }];
    let late = process(1_000, 100_000, "1", &[call(CallRole::All, 61_000, 5_000)]);
    let dag = read(&bundled(&[early, late])).unwrap();
    assert_eq!(waits(&dag), [(0, 20_000, 60_000, 1)]);
    let io = dag.samples.stops.iter().filter_map(|stop| {
        let wait = stop.wait.filter(|wait| wait.kind == WaitedFor::Io)?;
        Some((stop.t, stop.ticks, wait.held))
    });
    let io: Vec<_> = io.collect();
    assert_eq!(
        io,
        [
            (9_000, 500, 500),
            (60_000, 2_000, 2_000),
            (89_000, 700, 700)
        ]
    );
}

#[test]
fn who_receives_waits_for_the_sender_and_who_sends_for_the_receiver() {
    let early = [message(CallRole::Receive, 1, 21_000, 41_000)];
    let late = [message(CallRole::Send, 0, 61_000, 100)];
    let files = [
        process(1_000, 100_000, "0", &early),
        process(1_000, 100_000, "1", &late),
    ];
    let dag = read(&bundled(&files)).unwrap();
    assert_eq!(waits(&dag), [(0, 20_000, 60_000, 1)]);
    // A large message is taken when it is asked for; a small one has been sent before.
    for (ticks, expected) in [(45_000, vec![(1, 20_000, 60_000, 0)]), (100, vec![])] {
        let sent = [message(CallRole::Send, 0, 21_000, ticks)];
        let asked = [message(CallRole::Receive, 1, 61_000, 6_000)];
        let files = [
            process(1_000, 100_000, "0", &asked),
            process(1_000, 100_000, "1", &sent),
        ];
        assert_eq!(waits(&read(&bundled(&files)).unwrap()), expected);
    }
}

#[test]
fn only_the_root_of_a_reduction_waits_and_all_but_the_root_of_a_broadcast() {
    let rooted = |role, begin, ticks| RankCall {
        peer: Some(0),
        ..call(role, begin, ticks)
    };
    let of = |role, root: u64, other: u64| {
        let files = [
            process(1_000, 100_000, "0", &[rooted(role, root, 60_000)]),
            process(1_000, 100_000, "1", &[rooted(role, other, 60_000)]),
        ];
        waits(&read(&bundled(&files)).unwrap())
    };
    assert_eq!(
        of(CallRole::ToRoot, 21_000, 31_000),
        [(0, 20_000, 30_000, 1)]
    );
    assert_eq!(of(CallRole::ToRoot, 31_000, 21_000), []);
    assert_eq!(
        of(CallRole::FromRoot, 31_000, 21_000),
        [(1, 20_000, 30_000, 0)]
    );
    assert_eq!(of(CallRole::FromRoot, 21_000, 31_000), []);
}

#[test]
fn calls_that_are_not_of_one_operation_make_no_waits() {
    let other = RankCall {
        function: 25,
        ..call(CallRole::All, 61_000, 5_000)
    };
    let earlier = RankCall {
        turn: 2,
        ..message(CallRole::Send, 0, 80_000, 100)
    };
    let received = RankCall {
        turn: 2,
        ..message(CallRole::Receive, 1, 70_000, 5_000)
    };
    let files = [
        process(
            1_000,
            100_000,
            "0",
            &[call(CallRole::All, 21_000, 45_000), received],
        ),
        process(1_000, 100_000, "1", &[other, earlier]),
    ];
    assert_eq!(waits(&read(&bundled(&files)).unwrap()), []);
}

/// The program numbers its signals: two processes may use the largest number. The time for which a
/// new thread waited for its CPU stays with its task.
#[test]
fn signals_and_new_threads_of_two_processes_are_told_apart() {
    let signalling = |rank: &'static str| {
        let main = lane(&[
            (0, Kind::Root, &[]),
            (10, Kind::Create, &[3, 1]),
            (20, Kind::Wait, &[0, 3, 1, u64::MAX >> 1]),
            (60, Kind::Resume, &[]),
            (110, Kind::End, &[]),
        ]);
        let other = lane(&[
            (40, Kind::Begin, &[0, 1]),
            (60, Kind::Signal, &[1, u64::MAX >> 1]),
            (80, Kind::End, &[]),
        ]);
        let mut file = File::new([main, other], Some(120));
        file.primitive = primitive::THREAD;
        file.off_cpu = vec![lane(&[]), lane(&[(39, Kind::Off, &[0, 25])])];
        file.notes = vec![("rank", rank), ("launch", "mpi 1")];
        file
    };
    let dag = read(&bundled(&[signalling("0"), signalling("1")])).unwrap();
    let numbers: BTreeSet<u64> = dag.signals.iter().map(|signal| signal.1).collect();
    assert_eq!((dag.signals.len(), numbers.len()), (2, 2));
    let waits: Vec<u64> = (0..4).map(|task| dag.start_wait(task)).collect();
    assert_eq!(waits, [0, 25, 0, 25]);
    assert_eq!(dag.meta.warnings, [""; 0]);
}

#[test]
fn a_trace_that_cannot_be_read_is_named() {
    let good = process(1_000, 50_000, "0", &[]).bytes();
    for bad in [&b"nothing of ours"[..], &good[..good.len() / 2]] {
        let mut bundle = Vec::new();
        processes::write(&[&good, bad], &mut bundle).unwrap();
        let error = read(&bundle).unwrap_err().to_string();
        assert!(error.contains("trace 2 of the run"), "{error}");
    }
    let mut bundle = Vec::new();
    processes::write(&[], &mut bundle).unwrap();
    assert!(read(&bundle).unwrap_err().to_string().contains("no trace"));
    // A trace that is listed a thousand times.
    let length = good.len() as u64;
    let (list, offsets) = bundle::head(&[length; 1000]);
    let mut bomb = list[..list.len() - 8].to_vec();
    for at in 0..1000 {
        let place = 16 + at * 16;
        bomb[place..place + 8].copy_from_slice(&offsets[0].to_le_bytes());
    }
    let sum = workspan_trace::checksum::checksum(&bomb, 0);
    bomb.extend(sum.to_le_bytes());
    bomb.resize(offsets[0] as usize, 0);
    bomb.extend(&good);
    let error = read(&bomb).unwrap_err().to_string();
    assert!(error.contains("overlap"), "{error}");
}

/// Seconds of the run on two hosts. In each, the ranks meet in a barrier.
const SECONDS: u64 = 100;

/// A rank that runs for [`SECONDS`] on a host of its own. The host's counter has `rate` ticks in a
/// nanosecond, and its clock shows `start` in the beginning and gains `gained` nanoseconds in a
/// second. The rank enters each barrier `early` nanoseconds before the last rank does.
fn on_host(
    (host, rank, launch): (&str, u32, &str),
    rate: u64,
    (start, gained): (u64, u64),
    early: impl Fn(u64) -> u64,
) -> Vec<u8> {
    const NS: u64 = 1_000_000_000;
    let end = SECONDS * NS * rate;
    let main = lane(&[(0, Kind::Root, &[]), (end, Kind::End, &[])]);
    let barriers = (1..SECONDS).map(|turn| RankCall {
        turn,
        ..call(
            CallRole::All,
            (turn * NS - early(turn)) * rate,
            (early(turn) + 2_000) * rate,
        )
    });
    let note = |key: &str, value: &str| Note::new(key, value);
    TraceFile {
        clock: ClockKind::Tsc,
        threads: vec![vec![(0, main.bytes.clone())]],
        sites: vec![(1, SitePosition::Label("?".into()))],
        notes: vec![
            note("rank", &rank.to_string()),
            note("launch", launch),
            note("host", host),
        ],
        pairs: vec![(0, start)],
        rank_calls: barriers.collect(),
        end: Some((end, start + SECONDS * (NS + gained))),
        ..TraceFile::default()
    }
    .bytes()
}

/// The run of a rank on `near` and one on `far`, whose clock gains 50 µs in a second.
fn on_two_hosts(is_one_launch: bool) -> Dag {
    // The far rank is late in every second barrier, and by 10 ms in one.
    let near = |turn: u64| match turn {
        40 => 10_000_000,
        turn => 5_000 * (turn % 2),
    };
    let far = |turn: u64| match turn {
        40 => 0,
        turn => 5_000 * ((turn + 1) % 2),
    };
    let launch = if is_one_launch { "mpi 1" } else { "mpi 2" };
    let files = [
        on_host(("near", 0, "mpi 1"), 1, (7_000, 0), near),
        on_host(("far", 1, launch), 3, (5_000_000_000_000, 50_000), far),
    ];
    let files: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
    let mut bundle = Vec::new();
    processes::write(&files, &mut bundle).unwrap();
    read(&bundle).unwrap()
}

#[test]
fn clocks_of_two_hosts_are_compared_by_barriers() {
    let dag = on_two_hosts(true);
    let [clock] = &dag.meta.processes.clocks[..] else {
        panic!("{:?}", dag.meta.processes.clocks);
    };
    assert_eq!((clock.host.as_str(), clock.contradictions.0), ("far", 0));
    let uncertainty = clock.uncertainty_ns.unwrap();
    assert!(uncertainty < 3_000, "{clock:?}");
    // Their clocks showed these numbers at the same time.
    let error = clock.offset_ns - (7_000 - 5_000_000_000_000);
    assert!(error.unsigned_abs() <= uncertainty, "{clock:?}");
    // Its clock gains 50 µs a second.
    assert!((clock.drift + 50_000.0).abs() < 100.0, "{clock:?}");
    let ranks = &dag.meta.processes.list;
    let ends = ranks[0].to.abs_diff(ranks[1].to);
    assert!(ends <= 2 * uncertainty, "{ranks:?}");
    assert_eq!(dag.meta.ticks_per_second, 1_000_000_000);
    // Waits that are longer than the clocks are uncertain.
    let long: Vec<_> = waits(&dag)
        .into_iter()
        .filter(|wait| wait.2 - wait.1 > 1_000_000)
        .collect();
    let [(waiting, begin, end, late)] = long[..] else {
        panic!("{long:?}");
    };
    let name = |thread: u32| dag.meta.thread_names[thread as usize].as_str();
    assert_eq!((name(waiting), name(late)), ("rank 0", "rank 1"));
    assert!(
        (end - begin).abs_diff(10_000_000) <= uncertainty,
        "{long:?}"
    );
    assert_eq!(dag.meta.warnings, [""; 0]);
    let fact = ("clock of far".to_owned(), clock.describe());
    assert!(dag.meta.facts.contains(&fact), "{:?}", dag.meta.facts);
    // The same from the text trace.
    let mut text = Vec::new();
    workspan_reader::text::write(&dag, &mut text).unwrap();
    let again = read(&text).unwrap();
    assert_eq!(again.meta.processes, dag.meta.processes);
}

#[test]
fn without_common_calls_hosts_are_compared_by_their_wall_clocks() {
    let dag = on_two_hosts(false);
    let clock = &dag.meta.processes.clocks[0];
    assert_eq!((clock.uncertainty_ns, clock.bounds), (None, 0));
    // Both wall clocks are 0 in these files' headers.
    assert_eq!(clock.offset_ns, 7_000 - 5_000_000_000_000);
    let warning = dag.meta.warnings.concat();
    assert!(
        warning.contains("The times of far are placed by its wall clock"),
        "{warning}"
    );
}

/// Times and clocks that no machine has.
#[test]
fn impossible_clocks_of_hosts_are_survived() {
    let hostile = |host, rank, pair, end| {
        let main = lane(&[(0, Kind::Root, &[]), (1_000, Kind::End, &[])]);
        let calls = [0, u64::MAX / 2].map(|begin| RankCall {
            turn: 1 + begin % 2,
            ..call(CallRole::All, begin, u64::MAX / 3)
        });
        TraceFile {
            clock: ClockKind::Tsc,
            threads: vec![vec![(0, main.bytes.clone())]],
            sites: vec![(1, SitePosition::Label("?".into()))],
            notes: vec![
                Note::new("rank", rank),
                Note::new("launch", "mpi 1"),
                Note::new("host", host),
            ],
            pairs: vec![pair],
            rank_calls: calls.to_vec(),
            end: Some(end),
            ..TraceFile::default()
        }
        .bytes()
    };
    let max = u64::MAX;
    for (pair, end) in [
        ((0, 0), (1, max)),
        ((0, max), (max, max)),
        ((max, 5), (max, max - 7)),
    ] {
        let files = [
            hostile("a", "0", (0, 0), (1_000, 500)),
            hostile("b", "1", pair, end),
        ];
        let files: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
        let mut bundle = Vec::new();
        processes::write(&files, &mut bundle).unwrap();
        let dag = read(&bundle).unwrap();
        assert_eq!(dag.meta.processes.list.len(), 2);
    }
}
