//! With the feature `off` the API compiles to nothing: a guard takes no memory, and the program
//! does not look for a recorder.

use workspan_off::{
    Label, Part, Pool, Region, Running, Scope, Signal, Stopped, Task, Thread, Worker,
};

static LABEL: Label = Label::new("label");

/// Makes every call of the API.
fn everything() -> u32 {
    let _part = workspan_off::part(&LABEL);
    let _region = workspan_off::region("region");
    let _tree = workspan_off::tree_region(&LABEL);
    workspan_off::counter("counter", 1);
    workspan_off::keep();
    let pool = Pool::new(2);
    let _worker = pool.worker(0);
    let scope = Scope::group();
    let (a, b) = (scope.create(), Scope::tree().create_inline());
    b.depends_on(a);
    let signal = Signal::new();
    {
        let _running = a.begin();
        signal.set();
    }
    let stopped = b.begin().leave();
    drop(stopped.resume());
    drop(workspan_off::leave());
    let _ = (
        Task::create(),
        Task::create_inline(),
        Task::create_detached(),
    );
    workspan_off::steal(a, workspan_off::thread());
    workspan_off::steal_failed(workspan_off::thread());
    [
        scope.wait(|| 1),
        workspan_off::wait_children(|| 2),
        workspan_off::wait_tasks(&[a, b], || 4),
        workspan_off::wait_signals(&[signal], || 8),
        workspan_off::yield_while(|| 16),
        workspan_off::sleep(|| 32),
    ]
    .iter()
    .sum()
}

#[test]
fn calls_do_what_they_wrap_and_nothing_else() {
    assert_eq!(everything(), 63);
    assert!(!workspan_off::is_recorded());
}

#[test]
fn guards_take_no_memory() {
    assert_eq!(
        [
            size_of::<Region>(),
            size_of::<Part>(),
            size_of::<Task>(),
            size_of::<Running>(),
            size_of::<Stopped>(),
            size_of::<Scope>(),
            size_of::<Signal>(),
            size_of::<Pool>(),
            size_of::<Worker>(),
            size_of::<Thread>(),
        ],
        [0; 10]
    );
}

#[test]
fn the_program_does_not_ask_for_a_recorder() {
    let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let holds = |name: String| program.windows(name.len()).any(|w| w == name.as_bytes());
    // Joined at run time, so that the test does not find its own text.
    assert!(!holds(["workspan", "table", "v1"].join("_")));
    assert!(
        holds("guards_take_no_memory".into()),
        "text in the program is found"
    );
}
