//! What threads waited for and for which thread: the causes of blocked time, the holder, and the
//! bound that a contended lock sets.

use workspan_analysis::causes::{Cause, Finding};
use workspan_analysis::{Options, Report, WaitKind, blocked_in, report};
use workspan_dag::Dag;

const HEADER: &str = "{\"workspan_trace\":1,\"workers\":2,\"time_unit\":\"ns\",\"steals\":\"child\",\"sample_hz\":1000}\n";
/// 0: the wait in `take`, called by `work`; 1: the release in `work`; 2: `fill` in `work`.
const STACKS: &str = "{\"ev\":\"frame\",\"frame\":0,\"function\":\"futex_wait\"}\n\
    {\"ev\":\"frame\",\"frame\":1,\"function\":\"work\",\"file\":\"a.rs\",\"line\":6}\n\
    {\"ev\":\"frame\",\"frame\":2,\"function\":\"work\",\"file\":\"a.rs\",\"line\":9}\n\
    {\"ev\":\"frame\",\"frame\":3,\"function\":\"fill\",\"file\":\"a.rs\",\"line\":20}\n\
    {\"ev\":\"stack\",\"stack\":0,\"frames\":[0,1]}\n\
    {\"ev\":\"stack\",\"stack\":1,\"frames\":[2]}\n\
    {\"ev\":\"stack\",\"stack\":2,\"frames\":[3,2]}\n";

fn measured(lines: &str) -> (Dag, Report) {
    let text = format!("{HEADER}{STACKS}{lines}");
    let dag = workspan_reader::text::read(text.as_bytes()).unwrap();
    let report = report(&dag, &Options::default()).unwrap();
    let causes = &report.causes;
    assert_eq!(causes.by_cause.iter().sum::<u128>(), causes.lost);
    let mut written = Vec::new();
    workspan_reader::text::write(&dag, &mut written).unwrap();
    let again = workspan_reader::text::read(&written).unwrap();
    assert_eq!((&again.offs, &again.samples), (&dag.offs, &dag.samples));
    (dag, report)
}

fn lost(report: &Report, cause: Cause) -> u128 {
    report.causes.by_cause[cause as usize]
}

fn finding(report: &Report, cause: Cause) -> &Finding {
    let mut places = report.causes.places.iter();
    places.find(|f| f.cause == cause).unwrap()
}

/// Two concurrent tasks of 1000 ticks, each off the CPU in the given times for the given reason.
fn two_tasks(waits: [&[(u64, u64, &str)]; 2]) -> String {
    let mut lines = String::from(
        "{\"ev\":\"begin\",\"t\":0,\"w\":0,\"task\":0}\n\
         {\"ev\":\"create\",\"t\":0,\"w\":0,\"task\":0,\"child\":1,\"site\":\"part\"}\n\
         {\"ev\":\"resume\",\"t\":0,\"w\":0,\"task\":0}\n\
         {\"ev\":\"begin\",\"t\":0,\"w\":1,\"task\":1}\n",
    );
    for (w, waits) in waits.iter().enumerate() {
        for (from, to, more) in *waits {
            let ticks = to - from;
            lines += &format!(
                "{{\"ev\":\"off\",\"t\":{from},\"w\":{w},\"why\":\"blocked\"}}\n\
                 {{\"ev\":\"on\",\"t\":{to},\"w\":{w}}}\n\
                 {{\"ev\":\"stop\",\"t\":{from},\"w\":{w},\"stack\":0,\"ticks\":{ticks}{more}}}\n"
            );
        }
    }
    lines
        + "{\"ev\":\"end\",\"t\":1000,\"w\":1,\"task\":1}\n\
             {\"ev\":\"wait\",\"t\":1000,\"w\":0,\"task\":0}\n\
             {\"ev\":\"resume\",\"t\":1000,\"w\":0,\"task\":0}\n\
             {\"ev\":\"end\",\"t\":1000,\"w\":0,\"task\":0}\n"
}

/// The threads alternately hold the lock, while the other one waits.
fn lock_in_turn() -> String {
    let for_other = |by: u32| {
        format!(",\"on\":\"mutex\",\"object\":64,\"by\":{by},\"released\":1,\"held\":490")
    };
    let mut lines = two_tasks([&[(500, 1000, &for_other(1))], &[(0, 500, &for_other(0))]]);
    for t in 0..10 {
        lines += &format!(
            "{{\"ev\":\"sample\",\"t\":{},\"w\":0,\"stack\":2}}\n",
            40 * t
        );
    }
    lines
}

#[test]
fn a_lock_around_the_work_is_named_with_its_holder() {
    let (dag, report) = measured(&lock_in_turn());
    assert_eq!(lost(&report, Cause::Lock), 1000);
    assert_eq!(lost(&report, Cause::Blocked), 0);
    let waits: Vec<_> = (report.causes.places.iter())
        .filter(|f| f.cause == Cause::Lock)
        .map(|f| blocked_in(&dag, f).unwrap())
        .collect();
    for at in &waits {
        assert_eq!((at.function.as_str(), at.line), ("work", Some(6)));
        assert_eq!((at.kind, at.ticks), (WaitKind::Lock, 500));
        let holder = at.holder.as_ref().unwrap();
        let released = holder.released_at.as_ref().unwrap();
        assert_eq!(
            (released.file.as_deref(), released.line),
            (Some("a.rs"), Some(9))
        );
        assert_eq!((holder.ticks, holder.of, holder.threads), (500, 500, 1));
    }
    // One of the two threads has samples from the time it held the lock.
    let ran: Vec<_> = (waits.iter())
        .filter_map(|at| at.holder.as_ref()?.ran.as_ref())
        .collect();
    assert_eq!(ran.len(), 1);
    let at = &ran[0].at;
    assert_eq!((at.function.as_str(), at.line), ("fill", Some(20)));
    let called = ran[0].called_at.as_ref().unwrap();
    assert_eq!((called.function.as_str(), called.line), ("work", Some(9)));
}

#[test]
fn a_lock_bounds_the_speedup_by_how_long_it_was_held() {
    let (_, report) = measured(&lock_in_turn());
    let ws = &report.work_span;
    // Two concurrent strands of 500 ticks of work each; one held the lock for 490 of them before
    // the other one did.
    assert_eq!((ws.work, ws.span), (1000, 990));
    assert_eq!(ws.limits.span_without_lock_order, Some(500));
    let lock = ws.limits.lock.unwrap();
    // Without 10 ticks each until the other thread was back.
    assert_eq!(lock.held, 980);
    let (lower, upper) = ws.speedup(128);
    assert!((upper - 1000.0 / 980.0).abs() < 1e-9 && lower <= upper);
}

#[test]
fn another_lock_for_each_thread_bounds_nothing() {
    let wait = |object: u32| {
        let by = u32::from(object == 64);
        format!(",\"on\":\"mutex\",\"object\":{object},\"by\":{by},\"held\":490")
    };
    let (_, report) = measured(&two_tasks([
        &[(500, 1000, &wait(64))],
        &[(0, 500, &wait(128))],
    ]));
    // At most as long as the span.
    assert_eq!(report.work_span.limits.lock, None);
    let (_, report) = measured(&two_tasks([&[], &[]]));
    assert_eq!(lost(&report, Cause::Lock), 0);
    assert_eq!(report.work_span.limits.lock, None);
}

#[test]
fn every_kind_of_wait_has_its_cause() {
    let on = |word: &str| format!(",\"on\":\"{word}\"");
    let (dag, report) = measured(&two_tasks([
        &[
            (100, 110, &on("sleep")),
            (200, 220, &on("io")),
            (300, 330, &on("condition")),
            (400, 440, &on("semaphore")),
        ],
        &[
            (100, 150, &on("rwlock")),
            (200, 260, &on("barrier")),
            (300, 301, ""),
        ],
    ]));
    let of = |cause| lost(&report, cause);
    assert_eq!((of(Cause::Sleep), of(Cause::Io)), (10, 20));
    assert_eq!((of(Cause::Channel), of(Cause::Lock)), (70, 50));
    // A barrier, and a wait whose stack shows nothing.
    assert_eq!(of(Cause::Blocked), 61);
    let sleep = blocked_in(&dag, finding(&report, Cause::Sleep)).unwrap();
    assert_eq!(
        (sleep.kind, sleep.ticks, sleep.of),
        (WaitKind::Sleep, 10, 10)
    );
    assert_eq!(sleep.holder, None);
}

/// A rank that waits for another one, and polls a connection when that one has made its call.
#[test]
fn the_longest_wait_of_a_time_off_the_cpu_is_its_cause() {
    let lines = "{\"ev\":\"begin\",\"t\":0,\"w\":0,\"task\":0}\n\
        {\"ev\":\"off\",\"t\":100,\"w\":0,\"why\":\"blocked\"}\n\
        {\"ev\":\"on\",\"t\":300,\"w\":0}\n\
        {\"ev\":\"stop\",\"t\":100,\"w\":0,\"stack\":0,\"ticks\":190,\"on\":\"rank\"}\n\
        {\"ev\":\"stop\",\"t\":290,\"w\":0,\"stack\":0,\"ticks\":10,\"on\":\"io\"}\n\
        {\"ev\":\"end\",\"t\":1000,\"w\":0,\"task\":0}\n";
    let (_, report) = measured(lines);
    // The other worker had nothing to do meanwhile.
    let of = |cause| lost(&report, cause);
    assert_eq!((of(Cause::LateRank), of(Cause::Io)), (400, 0));
}

/// Closing or removing a file may write it. A method that has the name of a function of the C
/// library, as `send` of a channel, does not wait for I/O.
#[test]
fn functions_of_the_c_library_wait_for_io() {
    let blocked_in = |function: &str, file: &str| {
        let lines = format!(
            "{{\"ev\":\"begin\",\"t\":0,\"w\":0,\"task\":0}}\n\
             {{\"ev\":\"off\",\"t\":100,\"w\":0,\"why\":\"blocked\"}}\n\
             {{\"ev\":\"on\",\"t\":300,\"w\":0}}\n\
             {{\"ev\":\"frame\",\"frame\":70,\"function\":\"{function}\"{file}}}\n\
             {{\"ev\":\"frame\",\"frame\":71,\"function\":\"work\",\"file\":\"a.rs\",\"line\":6}}\n\
             {{\"ev\":\"stack\",\"stack\":70,\"frames\":[70,71]}}\n\
             {{\"ev\":\"stop\",\"t\":100,\"w\":0,\"stack\":70,\"ticks\":200}}\n\
             {{\"ev\":\"end\",\"t\":1000,\"w\":0,\"task\":0}}\n"
        );
        let (_, report) = measured(&lines);
        (lost(&report, Cause::Io), lost(&report, Cause::Blocked))
    };
    // The other worker had nothing to do meanwhile.
    for function in ["close", "unlink", "recv"] {
        assert_eq!(blocked_in(function, ""), (400, 0), "{function}");
    }
    let library = ",\"file\":\"/root/registry/src/index/crossbeam-channel-0.5.15/src/channel.rs\"";
    let methods = [
        ("Sender<T>::send", ""),
        ("crossbeam_channel::Receiver<T>::recv", ""),
        ("send", library),
        ("recv", library),
    ];
    for (function, file) in methods {
        assert_eq!(blocked_in(function, file), (0, 400), "{function}{file}");
    }
}

#[test]
fn the_word_of_an_off_line_decides_too() {
    let lines = "{\"ev\":\"begin\",\"t\":0,\"w\":0,\"task\":0}\n\
        {\"ev\":\"off\",\"t\":100,\"w\":0,\"why\":\"blocked\",\"on\":\"lock\"}\n\
        {\"ev\":\"on\",\"t\":300,\"w\":0}\n\
        {\"ev\":\"off\",\"t\":400,\"w\":0,\"why\":\"blocked\",\"on\":\"the moon\"}\n\
        {\"ev\":\"on\",\"t\":450,\"w\":0}\n\
        {\"ev\":\"end\",\"t\":1000,\"w\":0,\"task\":0}\n";
    let (_, report) = measured(lines);
    // The other worker had nothing to do meanwhile.
    assert_eq!(
        (lost(&report, Cause::Lock), lost(&report, Cause::Blocked)),
        (400, 100)
    );
}

/// Thread 0 holds a lock from 100 to 600, in a task that joins a child meanwhile if `joins`;
/// thread 1 waits for it from 200 on.
fn lock_beside_a_join(release: u64, joins_at: u64) -> String {
    format!(
        "{{\"ev\":\"begin\",\"t\":0,\"w\":0,\"task\":0}}\n\
         {{\"ev\":\"create\",\"t\":0,\"w\":0,\"task\":0,\"child\":1,\"site\":\"part\"}}\n\
         {{\"ev\":\"resume\",\"t\":0,\"w\":0,\"task\":0}}\n\
         {{\"ev\":\"begin\",\"t\":0,\"w\":1,\"task\":1}}\n\
         {{\"ev\":\"create\",\"t\":{joins_at},\"w\":0,\"task\":0,\"child\":2,\"site\":\"half\"}}\n\
         {{\"ev\":\"resume\",\"t\":{joins_at},\"w\":0,\"task\":0}}\n\
         {{\"ev\":\"wait\",\"t\":{joins_at},\"w\":0,\"task\":0,\"of\":[2],\"at\":\"a.rs:30\"}}\n\
         {{\"ev\":\"begin\",\"t\":{joins_at},\"w\":0,\"task\":2}}\n\
         {{\"ev\":\"end\",\"t\":{end},\"w\":0,\"task\":2}}\n\
         {{\"ev\":\"resume\",\"t\":{end},\"w\":0,\"task\":0}}\n\
         {{\"ev\":\"off\",\"t\":200,\"w\":1,\"why\":\"blocked\"}}\n\
         {{\"ev\":\"on\",\"t\":{back},\"w\":1}}\n\
         {{\"ev\":\"stop\",\"t\":200,\"w\":1,\"stack\":0,\"ticks\":{ticks},\"on\":\"mutex\",\"object\":64,\"by\":0,\"released\":1,\"held\":{held}}}\n\
         {{\"ev\":\"end\",\"t\":1000,\"w\":1,\"task\":1}}\n\
         {{\"ev\":\"wait\",\"t\":1000,\"w\":0,\"task\":0}}\n\
         {{\"ev\":\"resume\",\"t\":1000,\"w\":0,\"task\":0}}\n\
         {{\"ev\":\"end\",\"t\":1000,\"w\":0,\"task\":0}}\n",
        end = joins_at + 200,
        back = release + 10,
        ticks = release - 190,
        held = release - 200,
    )
}

#[test]
fn a_lock_held_across_a_join_is_named_with_the_join() {
    let (dag, report) = measured(&lock_beside_a_join(600, 300));
    let of = |cause| lost(&report, cause);
    assert_eq!((of(Cause::LockAcrossJoin), of(Cause::Lock)), (410, 0));
    let at = blocked_in(&dag, finding(&report, Cause::LockAcrossJoin)).unwrap();
    assert_eq!((at.function.as_str(), at.line), ("work", Some(6)));
    let join = at.join.unwrap();
    assert_eq!(dag.places[join as usize].label, "a.rs:30");
    // The join is before the wait: it is not known that the lock was held then.
    let (_, report) = measured(&lock_beside_a_join(600, 0));
    let of = |cause| lost(&report, cause);
    assert_eq!((of(Cause::LockAcrossJoin), of(Cause::Lock)), (0, 410));
    // The join is after the release.
    let (_, report) = measured(&lock_beside_a_join(600, 700));
    let of = |cause| lost(&report, cause);
    assert_eq!((of(Cause::LockAcrossJoin), of(Cause::Lock)), (0, 410));
}
