//! What the tests came to with each toolchain, by name: the tally has the tests alone.

use std::process::Command;

use anyhow::Result;

use crate::test::Tally;

/// A line for each toolchain.
#[derive(Default)]
pub struct Covered {
    lines: Vec<String>,
}

impl Covered {
    /// Runs tests, counts them, prints what they came to and keeps it under this name.
    ///
    /// # Errors
    /// They could not be started.
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

    /// Prints them all: whoever sees the end of a log sees what was covered.
    pub fn print(&self) {
        println!("== covered");
        for line in &self.lines {
            println!("   {line}");
        }
    }
}
