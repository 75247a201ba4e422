//! A page stops loading in the middle of a stage, over HTTP as a browser does.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use workspan_view::Session;
use workspan_view::session::Settings;

use crate::served::Served;
use crate::two_workers;

fn session(path: PathBuf) -> Session {
    let settings = Settings {
        overview_from: 0,
        ..Settings::default()
    };
    Session::new(&[path], settings).unwrap()
}

/// Waits until `come` is true, however busy the machine is.
fn until(what: &str, come: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(120);
    while !come() {
        assert!(Instant::now() < end, "{what} did not come");
        std::thread::yield_now();
    }
}

/// The stages, by their names in [`workspan_view::run::Stage`].
const STAGES: [&str; 5] = [
    "looking over the trace",
    "reading the trace",
    "measuring the strands",
    "drawing the timeline",
    "making the report",
];

/// True if the server was told to stop during this stage, and stopped before the stage was
/// complete.
fn stops_in(stage: usize, path: PathBuf) -> bool {
    let served = Served::loading(session(path));
    let run = &served.session.runs[0];
    let through = || run.analyses().is_ok();
    let is_past = || run.stage().done as usize > stage;
    until(STAGES[stage], || {
        run.stage().name == STAGES[stage] || is_past()
    });
    let within = !is_past();
    assert_eq!(served.post("api/v1/stop").state, 204);
    until("the end", || run.stage().stopped || through());
    let stopped = run.stage().stopped;
    if stopped {
        let failure = served.get("api/v1/report?run=a");
        assert_eq!(failure.state, 202, "{:?}", failure.json());
    }
    assert_eq!(served.post("api/v1/go").state, 204);
    served.get("api/v1/status");
    let report = served.get("api/v1/report?run=a").json();
    assert!(report["tasks"].as_u64().unwrap() > 1000);
    stopped && within
}

/// On a machine that is fast, or busy with something else, only a larger run is stopped in the
/// middle of a stage.
#[test]
fn every_stage_ends_where_it_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.wspan");
    for (stage, name) in STAGES.iter().enumerate() {
        let mut joins = 10_000;
        loop {
            std::fs::write(&path, two_workers::trace(joins)).unwrap();
            if stops_in(stage, path.clone()) {
                break;
            }
            joins *= 2;
            assert!(joins < 1_000_000, "it goes on {name} to its end");
        }
    }
}
