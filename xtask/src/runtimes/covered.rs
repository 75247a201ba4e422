//! The outcomes of the tests with each toolchain, by name: the tally only has the tests.

use std::process::Command;

use anyhow::Result;

use crate::test::Tally;

/// One line for each toolchain.
#[derive(Default)]
pub struct CoverageRow {
    lines: Vec<String>,
}

impl CoverageRow {
    /// Runs tests, counts them, prints their outcomes and keeps them under this name.
    ///
    /// # Errors
    /// The tests could not be started.
    pub fn count(&mut self, tally: &mut Tally, name: String, tests: &mut Command) -> Result<()> {
        let before = (tally.passed, tally.all_failed(), tally.skipped.len());
        tally.count(&name, tests, false)?;
        let line = format!(
            "{name}: {} passed, {} failed, {} skipped",
            tally.passed - before.0,
            tally.all_failed() - before.1,
            tally.skipped.len() - before.2
        );
        println!("   {line}");
        self.lines.push(line);
        Ok(())
    }

    /// Prints all lines, so that the end of a log shows what was covered.
    pub fn print(&self) {
        println!("== covered");
        for line in &self.lines {
            println!("   {line}");
        }
    }
}
