//! Records programs with known work, span and number of tasks, and compares these with the report:
//! `tests/truth`.

use std::process::Command;

use anyhow::Result;

use crate::test::Tally;
use crate::workspace::{cargo, root, succeed, target};

/// Number of recordings of each program on each number of threads when the corpus runs alone.
const TIMES: &str = "3";
/// Number of recordings with `--long`.
const TIMES_LONG: &str = "20";

/// How much of the corpus runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CorpusAmount {
    /// Each program once, on two threads; some on sixteen.
    Quick,
    /// All numbers of threads, idle and with both CPUs kept busy.
    All,
    /// Like `All`, many times.
    Long,
}

/// Runs the corpus with the debug build of the tool, which is built already.
///
/// # Errors
/// The harness could not be built or started.
pub fn run(tally: &mut Tally, amount: CorpusAmount) -> Result<()> {
    // For the whole workspace, so that dependencies have the features that the tests were built
    // with; for this package alone cargo would compile some of them once more.
    succeed(cargo().args(["build", "--quiet", "--workspace", "--bin", "truth"]))?;
    let times = if amount == CorpusAmount::Long {
        TIMES_LONG
    } else {
        TIMES
    };
    match amount {
        CorpusAmount::Quick => {
            tally.count("programs of known truth", truth().arg("--quick"), false)
        }
        CorpusAmount::All | CorpusAmount::Long => {
            let mut idle = truth();
            idle.args(["--repeat", times]);
            tally.count("programs of known truth", &mut idle, false)?;
            let mut busy = truth();
            busy.args(["--repeat", times, "--load", "2"]);
            tally.count("programs of known truth on busy CPUs", &mut busy, false)
        }
    }
}

/// The harness, which prints one line per recording.
fn truth() -> Command {
    let mut truth = Command::new(target().join("debug/truth"));
    truth.current_dir(root()).arg("--lines");
    truth.arg("--tool").arg(target().join("debug/workspan"));
    truth.arg("--folder").arg(target().join("workspan/truth"));
    truth
}
