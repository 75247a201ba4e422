//! Programs whose work, span and number of tasks are known, recorded and compared with what the
//! report says: `tests/truth`.

use std::process::Command;

use anyhow::Result;

use crate::test::Tally;
use crate::workspace::{cargo, root, succeed, target};

/// How often each program is recorded on each number of threads when the corpus runs alone.
const TIMES: &str = "3";
/// The same with `--long`.
const TIMES_LONG: &str = "20";

/// How much of the corpus runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Each program once, on two threads, some on sixteen.
    Quick,
    /// All numbers of threads, idle and with both CPUs kept busy.
    All,
    /// The same, many times.
    Long,
}

/// Runs it with the debug build of the tool, which is built already.
///
/// # Errors
/// The harness could not be built or started.
pub fn run(tally: &mut Tally, amount: Amount) -> Result<()> {
    // For the whole workspace, as dependencies then have the features that the tests were built
    // with; for this package alone cargo would compile some of them once more.
    succeed(cargo().args(["build", "--quiet", "--workspace", "--bin", "truth"]))?;
    let times = if amount == Amount::Long {
        TIMES_LONG
    } else {
        TIMES
    };
    match amount {
        Amount::Quick => tally.count("programs of known truth", truth().arg("--quick"), false),
        Amount::All | Amount::Long => {
            let mut idle = truth();
            idle.args(["--repeat", times]);
            tally.count("programs of known truth", &mut idle, false)?;
            let mut busy = truth();
            busy.args(["--repeat", times, "--load", "2"]);
            tally.count("programs of known truth on busy CPUs", &mut busy, false)
        }
    }
}

/// The harness, printing a line a recording.
fn truth() -> Command {
    let mut truth = Command::new(target().join("debug/truth"));
    truth.current_dir(root()).arg("--lines");
    truth.arg("--tool").arg(target().join("debug/workspan"));
    truth.arg("--folder").arg(target().join("workspan/truth"));
    truth
}
