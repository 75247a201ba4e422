//! Keeps CPUs busy: children of this very program that spin until their standard input ends, which
//! it does however we end.

use std::io::Read;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

/// Processes that spin as long as this lives.
pub struct Burners(Vec<Child>);

impl Burners {
    /// Starts that many.
    ///
    /// # Errors
    /// One could not be started.
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
            // One that has ended already can't be ended again.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// What such a process does.
pub fn burn() {
    std::thread::spawn(|| {
        loop {
            std::hint::spin_loop();
        }
    });
    // The end of the input, or an error: either way nobody needs us any more.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}
