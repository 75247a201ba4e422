//! Flame graphs and hot lines of a run with known samples.

use workspan_analysis::codes::Codes;
use workspan_analysis::{
    FlameOf, FlameOptions, Options, flame, hottest_function, report, sample_profile,
};
use workspan_dag::Dag;
use workspan_reader::text;

/// A root that creates a task that creates one of its own site on the other worker; 1 sample is a
/// millisecond. From 50 on the root runs alone: W = 2, so one worker is idle.
const RUN: &str = r#"{"workspan_trace":1,"workers":2,"time_unit":"ms","steals":"child","sample_hz":1000}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"create","t":10,"w":0,"task":0,"child":1,"site":"a.rs:1"}
{"ev":"resume","t":10,"w":0,"task":0}
{"ev":"wait","t":20,"w":0,"task":0}
{"ev":"begin","t":10,"w":1,"task":1}
{"ev":"create","t":20,"w":1,"task":1,"child":2,"site":"a.rs:1"}
{"ev":"resume","t":20,"w":1,"task":1}
{"ev":"wait","t":50,"w":1,"task":1}
{"ev":"begin","t":20,"w":0,"task":2}
{"ev":"end","t":45,"w":0,"task":2}
{"ev":"resume","t":50,"w":1,"task":1}
{"ev":"end","t":50,"w":1,"task":1}
{"ev":"resume","t":50,"w":0,"task":0}
{"ev":"end","t":60,"w":0,"task":0}
{"ev":"frame","frame":0,"function":"leaf","file":"a.rs","line":9}
{"ev":"frame","frame":1,"function":"sort","file":"library/core/sort.rs","line":70}
{"ev":"frame","frame":2,"function":"join","runtime":true}
{"ev":"frame","frame":3,"function":"main","file":"a.rs","line":30}
{"ev":"stack","stack":0,"frames":[1,0,2,3]}
{"ev":"stack","stack":1,"frames":[3]}
{"ev":"stack","stack":2,"frames":[2,3]}
{"ev":"sample","t":5,"w":0,"stack":1}
{"ev":"sample","t":25,"w":0,"stack":0}
{"ev":"sample","t":26,"w":0,"stack":0}
{"ev":"sample","t":25,"w":1,"stack":0}
{"ev":"sample","t":47,"w":0,"stack":2}
{"ev":"sample","t":55,"w":0,"stack":1}
"#;

fn dag() -> Dag {
    text::read_str(RUN).unwrap()
}

fn folded(of: &FlameOf, recursion: bool) -> Vec<String> {
    let stacks = flame(&dag(), &Options::default(), of, FlameOptions { recursion }).unwrap();
    stacks
        .iter()
        .map(|s| format!("{} {}", s.frames.join(";"), s.ns / 1000))
        .collect()
}

#[test]
fn stacks_are_logical() {
    assert_eq!(
        folded(&FlameOf::All, false),
        [
            "[no task];[runtime] join 1000",
            "root;a.rs:1;leaf;sort 3000",
            "root;main 2000",
        ]
    );
    assert_eq!(
        folded(&FlameOf::All, true)[1..3],
        [
            "root;a.rs:1;a.rs:1;leaf;sort 2000",
            "root;a.rs:1;leaf;sort 1000"
        ]
    );
}

#[test]
fn the_critical_paths_alone() {
    // 10 of the root, 10 + 30 of task 1, 10 of the root.
    assert_eq!(
        folded(&FlameOf::CriticalPath, true),
        ["root;a.rs:1;leaf;sort 1000", "root;main 2000"]
    );
}

#[test]
fn idle_time_falls_on_what_ran_meanwhile() {
    // At 5 and 55 one of two workers was idle, with one strand running.
    assert_eq!(folded(&FlameOf::NoWorkApp, false), ["root;main 2000"]);
}

#[test]
fn a_site_is_what_it_created_too() {
    assert_eq!(
        folded(&FlameOf::Site("a.rs:1".into()), false),
        ["root;a.rs:1;leaf;sort 3000"]
    );
    assert!(folded(&FlameOf::Site("b.rs".into()), false).is_empty());
}

#[test]
fn heat_is_by_the_programs_own_lines() {
    let dag = dag();
    let report = report(&dag, &Options::default()).unwrap();
    let heat = sample_profile(&dag, &report.work_span.critical_path);
    assert_eq!((heat.inside, heat.outside), (5, 1));
    let lines: Vec<_> = heat
        .lines
        .iter()
        .map(|l| {
            (
                l.file.as_str(),
                l.line,
                l.function.as_str(),
                l.samples,
                l.critical,
            )
        })
        .collect();
    assert_eq!(
        lines,
        [("a.rs", 9, "leaf", 3, 1), ("a.rs", 30, "main", 2, 2)]
    );
    let functions: Vec<_> = heat
        .functions
        .iter()
        .map(|f| (f.function.as_str(), f.own, f.total))
        .collect();
    assert_eq!(functions, [("sort", 3, 3), ("main", 2, 2), ("leaf", 0, 3)]);
    assert_eq!(heat.ticks(3, 1000), 3);
}

#[test]
fn the_hottest_place_of_a_time() {
    let dag = dag();
    let found = hottest_function(&dag, (20, 50), |_| true).unwrap();
    assert_eq!((found.function.as_str(), found.line), ("leaf", Some(9)));
    assert_eq!((found.samples, found.of), (3, 3));
    assert_eq!(
        hottest_function(&dag, (27, 50), |_| true),
        None,
        "the runtime's own is no strand's"
    );
}

/// Code that spins on the clock without frame pointers: most samples have nothing but an address in
/// the kernel's own page.
#[test]
fn an_address_is_no_place_where_a_name_is_known() {
    let run = RUN.replace(
        r#"{"ev":"sample","t":5,"w":0,"stack":1}"#,
        r#"{"ev":"frame","frame":4,"function":"linux-vdso.so.1+0x0"}
{"ev":"stack","stack":3,"frames":[4]}
{"ev":"sample","t":5,"w":0,"stack":3}
{"ev":"sample","t":6,"w":0,"stack":1}
{"ev":"sample","t":7,"w":0,"stack":3}
{"ev":"sample","t":8,"w":0,"stack":3}"#,
    );
    let dag = text::read_str(&run).unwrap();
    let found = hottest_function(&dag, (0, 10), |_| true).unwrap();
    assert_eq!((found.function.as_str(), found.line), ("main", Some(30)));
    assert_eq!((found.samples, found.of), (1, 4));
    let only = hottest_function(&dag, (5, 6), |_| true).unwrap();
    assert_eq!(only.function, "linux-vdso.so.1+0x0");
}

#[test]
fn stretch_is_what_took_longer_than_in_the_serial_run() {
    use workspan_analysis::stretch::{StretchOptions, stretch};
    use workspan_analysis::stretched;
    let parallel = dag();
    // On one worker task 2 takes 5 ms, not 25.
    let serial = RUN
        .lines()
        .filter(|l| !l.contains("sample\"") && !l.contains("stack\"") && !l.contains("frame\""))
        .map(|l| match l {
            l if l.contains("\"ev\":\"end\",\"t\":45,") => l.replace(":45,", ":25,") + "\n",
            l => l.to_owned() + "\n",
        })
        .collect::<String>();
    let serial = text::read_str(&serial).unwrap();
    let report = report(&parallel, &Options::default()).unwrap();
    let found = stretch(&serial, &parallel, &report, &StretchOptions::default()).unwrap();
    let of = FlameOf::Stretch(stretched(&found, &parallel));
    // Two samples of a block of which 20 of 25 ms are new.
    assert_eq!(folded(&of, false), ["root;a.rs:1;leaf;sort 1600"]);
}

#[test]
fn deep_stacks_take_no_quadratic_time() {
    // Recursion through as many functions as a stack may have frames, and through one function: a
    // function counts once for each sample. An implementation that compared every pair of frames of
    // a stack took minutes.
    const DEPTH: usize = 9999;
    const STACKS: usize = 60;
    let mut run = String::from(
        "{\"workspan_trace\":1,\"workers\":1,\"time_unit\":\"ms\",\"steals\":\"child\",\"sample_hz\":1000}\n\
         {\"ev\":\"begin\",\"t\":0,\"w\":0,\"task\":0}\n{\"ev\":\"end\",\"t\":99,\"w\":0,\"task\":0}\n",
    );
    for frame in 0..DEPTH {
        run += &format!("{{\"ev\":\"frame\",\"frame\":{frame},\"function\":\"f{frame}\"}}\n");
    }
    for stack in 0..STACKS {
        // Each stack begins elsewhere, so that no two are equal; the last one contains one function
        // only.
        let frame = |at: usize| match stack {
            59 => 0,
            _ => (at + 7 * stack) % DEPTH,
        };
        let frames: Vec<String> = (0..DEPTH).map(|at| frame(at).to_string()).collect();
        let frames = frames.join(",");
        run += &format!("{{\"ev\":\"stack\",\"stack\":{stack},\"frames\":[{frames}]}}\n");
        run += &format!("{{\"ev\":\"sample\",\"t\":{stack},\"w\":0,\"stack\":{stack}}}\n");
    }
    let dag = text::read_str(&run).unwrap();
    let profile = sample_profile(&dag, &[]);
    assert_eq!(profile.functions.len(), DEPTH);
    let first = &profile.functions[0];
    assert_eq!(
        (first.function.as_str(), first.own, first.total),
        ("f0", 2, 60)
    );
    let others = &profile.functions[1..];
    assert!(others.iter().all(|f| f.own <= 1 && f.total == 59));
}

#[test]
fn code_is_not_named_by_the_few_samples_that_have_a_name() {
    let codes = |samples: [u32; 5]| {
        let mut run = String::from(concat!(
            r#"{"workspan_trace":1,"workers":1,"time_unit":"ms","steals":"child","sample_hz":1000}"#,
            "\n",
            r#"{"ev":"begin","t":0,"w":0,"task":0}"#,
            "\n",
            r#"{"ev":"end","t":60,"w":0,"task":0}"#,
            "\n",
            r#"{"ev":"frame","frame":0,"function":"liblzma.so.5+0x15000"}"#,
            "\n",
            r#"{"ev":"frame","frame":1,"function":"pthread_mutex_lock"}"#,
            "\n",
            r#"{"ev":"stack","stack":0,"frames":[0]}"#,
            "\n",
            r#"{"ev":"stack","stack":1,"frames":[1]}"#,
            "\n",
        ));
        for (t, stack) in (1..).zip(samples) {
            run += &format!("{{\"ev\":\"sample\",\"t\":{t},\"w\":0,\"stack\":{stack}}}\n");
        }
        let dag = text::read_str(&run).unwrap();
        let codes = Codes::new(&dag, |_| 60);
        codes.all[0].label.clone()
    };
    assert_eq!(codes([0, 0, 1, 0, 0]), "root");
    assert_eq!(codes([1, 1, 1, 0, 0]), "pthread_mutex_lock");
}

/// A system call that the runtime makes in a strand is not what the strand runs.
#[test]
fn code_is_not_named_by_what_the_runtime_calls() {
    let code = |stack: &str| {
        let mut run = String::from(
            r#"{"workspan_trace":1,"workers":1,"time_unit":"ms","steals":"child","sample_hz":1000}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"end","t":60,"w":0,"task":0}
{"ev":"frame","frame":0,"function":"syscall"}
{"ev":"frame","frame":1,"function":"rayon_core_real::sleep::Sleep::wake_any","runtime":true}
{"ev":"frame","frame":2,"function":"send","file":"src/a.rs","line":3}
"#,
        );
        run += &format!("{{\"ev\":\"stack\",\"stack\":0,\"frames\":{stack}}}\n");
        run += "{\"ev\":\"sample\",\"t\":5,\"w\":0,\"stack\":0}\n";
        let dag = text::read_str(&run).unwrap();
        Codes::new(&dag, |_| 60).all[0].label.clone()
    };
    assert_eq!(code("[0,1,2]"), "root");
    assert_eq!(code("[0,2]"), "send");
    assert_eq!(code("[0]"), "syscall");
}

/// Which samples count as the runtime's own: its functions, and memory management and system calls
/// for it, but neither the program's code that it calls nor an algorithm of the runtime.
#[test]
fn the_runtimes_part_of_the_work() {
    let frames = [
        ("GOMP_task", true, false),
        ("malloc", false, false),
        ("sched_yield", false, false),
        ("work", false, true),
        ("tbb::detail::d1::quick_sort", true, false),
        ("tbb::detail::r1::spawn", true, false),
        ("rayon_core_real::join::join", true, false),
        ("library_code", false, false),
    ];
    let in_runtime = |stack: &[usize]| {
        let mut text = RUN.lines().take(15).collect::<Vec<_>>().join("\n");
        for (frame, (function, runtime, of_program)) in frames.into_iter().enumerate() {
            let file = if of_program {
                ",\"file\":\"a.c\",\"line\":9"
            } else {
                ""
            };
            text += &format!(
                "\n{{\"ev\":\"frame\",\"frame\":{frame},\"function\":\"{function}\",\"runtime\":{runtime}{file}}}"
            );
        }
        text += &format!("\n{{\"ev\":\"stack\",\"stack\":0,\"frames\":{stack:?}}}");
        text += "\n{\"ev\":\"sample\",\"t\":5,\"w\":0,\"stack\":0}";
        let profile = sample_profile(&text::read_str(&text).unwrap(), &[]);
        assert_eq!((profile.inside, profile.outside), (1, 0));
        profile.in_runtime == 1
    };
    for stack in [&[0, 3][..], &[0], &[1, 0, 3], &[2, 0], &[5, 3], &[6, 3]] {
        assert!(in_runtime(stack), "{stack:?}");
    }
    for stack in [&[3, 0][..], &[1, 3, 0], &[4, 3], &[1], &[7, 0], &[1, 7, 0]] {
        assert!(!in_runtime(stack), "{stack:?}");
    }
}
