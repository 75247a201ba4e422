//! Keeps CPUs busy: child processes of this program spin until their standard input ends. It ends
//! however this process ends.

use std::io::Read;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

/// Processes that spin until this is dropped.
pub struct Burners(Vec<Child>);

impl Burners {
    /// Starts `number` processes.
    ///
    /// # Errors
    /// A process could not be started.
    pub fn start(number: usize) -> Result<Burners> {
        let own = std::env::current_exe().context("the path of this program")?;
        let mut burners = Burners(Vec::new());
        for _ in 0..number {
            let mut command = Command::new(&own);
            command.arg("--burn").stdin(Stdio::piped());
            burners
                .0
                .push(command.spawn().context("a process that keeps a CPU busy")?);
        }
        Ok(burners)
    }
}

impl Drop for Burners {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // A process that has already ended can't be killed.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The main function of such a process.
pub fn burn() {
    std::thread::spawn(|| {
        loop {
            std::hint::spin_loop();
        }
    });
    // Either the end of the input or an error means that the parent has ended.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}
