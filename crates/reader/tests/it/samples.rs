//! Samples are assigned to their strands, and text traces preserve them.

use workspan_dag::{Dag, NONE};
use workspan_reader::{OpenOptions, text};

const RUN: &str = r#"{"workspan_trace":1,"workers":2,"time_unit":"ns","steals":"child","sample_hz":997,"on_cpus":[{"w":1,"cpu":7,"ns":20},{"w":0,"cpu":2,"ns":9},{"w":1,"cpu":7,"ns":3}]}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"create","t":10,"w":0,"task":0,"child":1,"site":"a.rs:1"}
{"ev":"resume","t":10,"w":0,"task":0}
{"ev":"wait","t":30,"w":0,"task":0}
{"ev":"begin","t":12,"w":1,"task":1}
{"ev":"end","t":40,"w":1,"task":1}
{"ev":"resume","t":45,"w":0,"task":0}
{"ev":"end","t":50,"w":0,"task":0}
{"ev":"frame","frame":7,"function":"leaf","file":"a.rs","line":9}
{"ev":"frame","frame":2,"function":"join","runtime":true}
{"ev":"frame","frame":3,"function":"main"}
{"ev":"stack","stack":0,"frames":[7,2,3]}
{"ev":"stack","stack":5,"frames":[2,3]}
{"ev":"sample","t":39,"w":1,"stack":0}
{"ev":"sample","t":10,"w":0,"stack":0}
{"ev":"sample","t":9,"w":0,"stack":5}
{"ev":"sample","t":30,"w":0,"stack":5}
{"ev":"sample","t":40,"w":1,"stack":5}
"#;

fn read(text: &str) -> Result<Dag, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    std::fs::write(&path, text).unwrap();
    workspan_reader::open(&path, &OpenOptions::default()).map_err(|e| e.to_string())
}

#[test]
fn a_sample_belongs_to_the_strand_that_ran_then() {
    let dag = read(RUN).unwrap();
    let samples = &dag.samples;
    assert_eq!(samples.hertz, 997);
    assert_eq!(samples.t, [9, 10, 30, 39, 40]);
    let task = |i: usize| match samples.strand[i] {
        NONE => None,
        strand => Some((
            dag.strands.task[strand as usize],
            dag.strands.start[strand as usize],
        )),
    };
    // A strand does not include its end; between strands the thread runs none.
    assert_eq!(
        (0..5).map(task).collect::<Vec<_>>(),
        [Some((0, 0)), Some((0, 10)), None, Some((1, 12)), None]
    );
}

#[test]
fn own_frames_end_where_the_runtime_called_the_task() {
    let dag = read(RUN).unwrap();
    let own = |stack| {
        let frames = dag.samples.own_frames(stack);
        frames.map(|f| f.function.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(own(0), ["leaf"]);
    assert_eq!(own(1), ["join"], "what the runtime does itself");
}

#[test]
fn the_recorders_samples_are_no_strands() {
    let recording = "\"frame\":2,\"function\":\"recording (workspan)\"";
    let of_both = RUN.replace("\"frame\":2,\"function\":\"join\"", recording);
    let dag = read(&of_both).unwrap();
    assert_eq!(dag.samples.in_recording(), [false, true]);
    // The samples at 9 and 10 are in the same task's strands: one in the recorder, the other in
    // code that the recorder called.
    let strands = &dag.samples.strand;
    assert_eq!(strands[0], NONE);
    assert_eq!(dag.strands.start[strands[1] as usize], 10);
    // The program may have a function of that name.
    let own = of_both.replace(",\"runtime\":true", "");
    assert_ne!(read(&own).unwrap().samples.strand[0], NONE);
}

#[test]
fn they_survive_writing() {
    let dag = read(RUN).unwrap();
    let mut bytes = Vec::new();
    text::write(&dag, &mut bytes).unwrap();
    let again = read(&String::from_utf8(bytes).unwrap()).unwrap();
    assert_eq!(dag, again);
    let cpus = again.meta.topology.on_cpus.iter();
    let cpus: Vec<(u32, u32, u64)> = cpus.map(|on| (on.thread, on.cpu, on.ns)).collect();
    assert_eq!(cpus, [(0, 2, 9), (1, 7, 23)]);
}

#[test]
fn what_is_not_explained_is_named() {
    for (from, to, what) in [
        (
            "\"stack\":5,\"frames\":[2,3]",
            "\"stack\":5,\"frames\":[2,8]",
            "no frame 8",
        ),
        ("\"w\":1,\"stack\":0", "\"w\":1,\"stack\":9", "no stack 9"),
        ("\"frame\":2,", "\"frame\":7,", "frame 7 is there already"),
        ("\"w\":1,\"stack\":5", "\"w\":9,\"stack\":5", "out of range"),
    ] {
        let error = read(&RUN.replacen(from, to, 1)).unwrap_err();
        assert!(error.contains(what), "{error}");
        assert!(error.contains("line "), "{error}");
    }
}
