//! Runs written as DAG Recorder's `.dag` and read again: every measure is the same, on one worker
//! and on several.

use std::fmt::Write;
use std::path::Path;

use proptest::prelude::*;
use workspan_analysis::simulate::{Policy, Setup, Simulation};
use workspan_analysis::statistics::statistics;
use workspan_analysis::{Options, report};
use workspan_dag::{Dag, EdgeKind};
use workspan_export::dag_recorder;
use workspan_reader::OpenOptions;
use workspan_reader::open::read;
use workspan_reader::text::read_str;

/// A task whose lines are being written.
struct Open {
    task: u64,
    scopes: Vec<u64>,
}

/// A program made from a list of steps and run on one worker: work, spawns, ends of tasks, scopes,
/// waits.
pub(crate) struct Program {
    text: String,
    t: u64,
    tasks: u64,
    scopes: u64,
    open: Vec<Open>,
}

impl Program {
    /// The program of these steps, run by one worker and, simulated, by three.
    pub(crate) fn runs(steps: &[u8]) -> [Dag; 2] {
        let dag = read_str(&Program::of(steps)).unwrap();
        let setup = Setup {
            workers: 3,
            policy: Policy::HelpFirst,
            steal_cost: 3,
            attempt_cost: 0,
            seed: 1,
        };
        let simulation = Simulation::new(&dag, &Options::default(), 0, &[]).unwrap();
        let on_three = simulation.trace(&setup).unwrap().1;
        drop(simulation);
        [dag, on_three]
    }

    pub(crate) fn of(steps: &[u8]) -> String {
        let header = r#"{"workspan_trace":1,"workers":1,"time_unit":"ns","steals":"child"}"#;
        let mut program = Program {
            text: format!("{header}\n"),
            t: 0,
            tasks: 0,
            scopes: 0,
            open: Vec::new(),
        };
        program.begin();
        for &step in steps {
            program.step(step);
        }
        while !program.open.is_empty() {
            program.end();
        }
        program.text
    }

    fn line(&mut self, event: &str, more: &str) {
        let (t, task) = (self.t, self.open.last().unwrap().task);
        let line = format!(r#"{{"ev":"{event}","t":{t},"w":0,"task":{task}{more}}}"#);
        let _ = writeln!(self.text, "{line}");
    }

    fn begin(&mut self) {
        let task = self.tasks;
        self.tasks += 1;
        self.open.push(Open {
            task,
            scopes: Vec::new(),
        });
        self.line("begin", "");
    }

    fn step(&mut self, step: u8) {
        self.t += u64::from(step / 8);
        match step % 8 {
            0 | 1 => {
                let child = self.tasks;
                self.line(
                    "create",
                    &format!(r#","child":{child},"site":"a.c:{}""#, child % 5 + 1),
                );
                self.begin();
            }
            2 | 3 if self.open.len() > 1 => self.end(),
            4 => {
                self.scopes += 1;
                let (scope, task) = (self.scopes, self.open.last().unwrap().task);
                let line =
                    format!(r#"{{"ev":"scope","task":{task},"scope":{scope},"kind":"group"}}"#);
                let _ = writeln!(self.text, "{line}");
                self.open.last_mut().unwrap().scopes.push(scope);
            }
            5 => self.wait(),
            6 => {
                self.line("yield", "");
                self.line("resume", "");
            }
            _ => {}
        }
    }

    /// Waits for the innermost scope, or for all children.
    fn wait(&mut self) {
        match self.open.last_mut().unwrap().scopes.pop() {
            Some(scope) => self.line("wait", &format!(r#","scope":{scope}"#)),
            None => self.line("wait", ""),
        }
        self.line("resume", "");
    }

    fn end(&mut self) {
        while !self.open.last().unwrap().scopes.is_empty() {
            self.wait();
        }
        self.wait();
        self.t += 1;
        self.line("end", "");
        self.open.pop();
        if !self.open.is_empty() {
            self.line("resume", "");
        }
    }
}

fn written(dag: &Dag) -> Vec<u8> {
    let mut bytes = Vec::new();
    dag_recorder(dag, &mut bytes).unwrap();
    bytes
}

fn check(dag: &Dag) {
    let again = read(Path::new("a.dag"), &written(dag), &OpenOptions::default()).unwrap();
    assert_eq!(again.meta.warnings, [""; 0]);
    let options = Options::default();
    let measured = |dag: &Dag| {
        let report = report(dag, &options).unwrap();
        let (ws, b) = (report.work_span, report.breakdown);
        let counts = (ws.work, ws.span, ws.tasks, ws.spawns, ws.syncs);
        (
            counts,
            b.work,
            b.delay,
            b.no_work_sched,
            b.no_work_app,
            b.delay_by_edge,
        )
    };
    assert_eq!(measured(&again), measured(dag));
    let summary = |dag: &Dag| statistics(dag, &options).unwrap().dag;
    assert_eq!(summary(&again), summary(dag));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_run_comes_back_with_every_measure(steps in prop::collection::vec(any::<u8>(), 0..120)) {
        for dag in Program::runs(&steps) {
            check(&dag);
        }
    }
}

/// A file that is read, written and read again has the sums of what DAG Recorder folded.
#[test]
fn folded_strands_stay_folded() {
    let text = r#"{"workspan_trace":1,"workers":1,"time_unit":"ns","steals":"child"}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"folded","t":10,"w":0,"task":0,"work":9,"span":5,"ready_integral":3,"envelope":[[5,0]],"tasks":2,"spawns":2,"syncs":1,"strands":6,"levels":1,"between":1,"sites":[],"blocks":[]}
{"ev":"end","t":10,"w":0,"task":0}
"#;
    let dag = read_str(text).unwrap();
    let again = read(Path::new("a.dag"), &written(&dag), &OpenOptions::default()).unwrap();
    let record = again.folded.get(0);
    assert_eq!(
        (record.work, record.span, record.tasks, record.between),
        (9, 5, 2, 1)
    );
    assert_eq!(record.ready_integral, 3);
    let of = report(&again, &Options::default()).unwrap().work_span;
    assert_eq!((of.work, of.span, of.tasks, of.syncs), (9, 5, 3, 1));
}

#[test]
fn what_the_format_has_no_place_for_is_said() {
    let refused = |text: &str| {
        let dag = read_str(text).unwrap();
        let mut bytes = Vec::new();
        dag_recorder(&dag, &mut bytes).unwrap_err().to_string()
    };
    let header = r#"{"workspan_trace":1,"workers":1,"time_unit":"ns","steals":"child"}"#;
    let begin = r#"{"ev":"begin","t":0,"w":0,"task":0}"#;
    let detached = format!(
        "{header}\n{begin}\n{}",
        r#"{"ev":"create","t":1,"w":0,"task":0,"child":1,"detached":true}
{"ev":"resume","t":1,"w":0,"task":0}
{"ev":"end","t":2,"w":0,"task":0}
{"ev":"begin","t":2,"w":0,"task":1}
{"ev":"end","t":3,"w":0,"task":1}
"#
    );
    assert!(
        refused(&detached).contains("task 1 is not waited for by task 0"),
        "{}",
        refused(&detached)
    );
    let roots = format!(
        "{header}\n{begin}\n{}",
        r#"{"ev":"end","t":2,"w":0,"task":0}
{"ev":"begin","t":2,"w":0,"task":1}
{"ev":"end","t":3,"w":0,"task":1}
"#
    );
    assert!(refused(&roots).contains("it has 2 roots"));
    let dag = read_str(&format!(
        "{header}\n{begin}\n{}\n",
        r#"{"ev":"end","t":2,"w":0,"task":0}"#
    ))
    .unwrap();
    let edges = |dag: &Dag| statistics(dag, &Options::default()).unwrap().dag.edges;
    assert_eq!(edges(&dag).of(EdgeKind::Create, 0, 0), 0);
    check(&dag);
}
