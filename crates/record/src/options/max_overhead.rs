//! The time that recording may add to the program (`--max-overhead`, docs/budget.md).

use std::str::FromStr;

use workspan_runtimes::Runtime;

use crate::units::{self, ParseError};

/// A share of the program's time, in millionths; 0 = no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxOverhead(u32);

/// The number of tasks that each thread records in full before any is skipped, if a budget was
/// requested: about a millisecond of recording.
const HELD_TASKS: u32 = 1 << 13;
/// The same number if no budget was requested: about 2 ms of recording, so that a run of 20 ms and
/// more on two threads takes about 1.3 times its unrecorded CPU time.
const DEFAULT_HELD_TASKS: u32 = 1 << 14;

impl MaxOverhead {
    /// No limit.
    pub const OFF: MaxOverhead = MaxOverhead(0);
    /// The limit if no flag is given.
    const DEFAULT: MaxOverhead = MaxOverhead(100_000);

    /// A message to the user if some of these runtimes, as `runtime` notes name them, are not in
    /// our table: none of their tasks can be skipped.
    pub fn unheeded(self, runtimes: &[String]) -> Option<String> {
        let mut others = runtimes
            .iter()
            .filter(|note| Runtime::from_note(note).is_none());
        let first = others.next().filter(|_| self != Self::OFF)?;
        let others = others.fold(first.clone(), |all, name| format!("{all} and {name}"));
        Some(format!(
            "{others}: recorded in full, as --max-overhead is for Rayon's joins and tasks of OpenMP and oneTBB alone"
        ))
    }

    /// The flag's value in the preloaded library's format, or the default.
    pub fn describe(given: Option<MaxOverhead>) -> String {
        match given {
            Some(MaxOverhead(per_million)) => format!("{per_million}:{HELD_TASKS}"),
            None => format!("{}:{DEFAULT_HELD_TASKS}", Self::DEFAULT.0),
        }
    }
}

impl FromStr for MaxOverhead {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        if text == "off" {
            return Ok(MaxOverhead::OFF);
        }
        // The percent sign is optional.
        let percent = units::number(text).or_else(|_| units::percent(text).map(|p| p * 100.0));
        match percent {
            Ok(percent) if (0.01..=1000.0).contains(&percent) => {
                Ok(MaxOverhead((percent * 10_000.0).round() as u32))
            }
            _ => Err(ParseError::new(
                text,
                "an overhead",
                "off, or a percentage of the program's time from 0.01% to 1000%, such as 5%",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::MaxOverhead;

    #[test]
    fn shares() {
        let parts_per_million = |text: &str| text.parse::<MaxOverhead>().map(|most| most.0);
        assert_eq!(parts_per_million("off"), Ok(0));
        assert_eq!(parts_per_million("5%"), Ok(50_000));
        assert_eq!(parts_per_million("0.5"), Ok(5_000));
        assert_eq!(parts_per_million("30 %"), Ok(300_000));
        for odd in ["0", "-1%", "much", "nan", "1e9", ""] {
            assert!(parts_per_million(odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn runtimes_without_a_budget_are_named() {
        let most = MaxOverhead(50_000);
        let said = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            most.unheeded(&names)
        };
        assert_eq!(said(&[]), None);
        assert_eq!(said(&["Rayon 1.13.0"]), None);
        assert_eq!(said(&["GNU OpenMP (libgomp)"]), None);
        assert_eq!(said(&["Intel OpenMP (OMPT)"]), None);
        assert_eq!(said(&["oneTBB 2021.11"]), None);
        let two = ["pool 2.5", "LLVM OpenMP (OMPT)", "fibers"];
        let text = said(&two).expect("a text");
        assert!(text.starts_with("pool 2.5 and fibers: "), "{text}");
        assert_eq!(MaxOverhead::OFF.unheeded(&["fibers".into()]), None);
    }

    #[test]
    fn what_was_asked_for_holds_sooner() {
        assert_eq!(MaxOverhead::describe(Some(MaxOverhead(7))), "7:8192");
        assert_eq!(MaxOverhead::describe(None), "100000:16384");
    }
}
