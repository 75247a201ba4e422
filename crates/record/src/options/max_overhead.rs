//! What recording may add to the program's time (`--max-overhead`, docs/budget.md).

use std::str::FromStr;

use workspan_runtimes::Runtime;

use crate::units::{self, ParseError};

/// Millionths of the program's time; 0 = no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxOverhead(u32);

/// Tasks that each thread records in full before any is left out, where a budget was asked for:
/// about a millisecond of recording.
const HOLD: u32 = 1 << 13;
/// And where nobody asked: some 2 ms of recording, so that a run of 20 ms and more of two threads
/// takes about 1.3 times its bare CPU time.
const HOLD_UNASKED: u32 = 1 << 14;

impl MaxOverhead {
    /// No limit.
    pub const OFF: MaxOverhead = MaxOverhead(0);
    /// What holds where nobody says anything.
    const DEFAULT: MaxOverhead = MaxOverhead(100_000);

    /// What to tell the user if some of these runtimes, as `runtime` notes name them, are not in
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

    /// As the preloaded library takes it: of the flag, if it was given.
    pub fn told(given: Option<MaxOverhead>) -> String {
        match given {
            Some(MaxOverhead(per_million)) => format!("{per_million}:{HOLD}"),
            None => format!("{}:{HOLD_UNASKED}", Self::DEFAULT.0),
        }
    }
}

impl FromStr for MaxOverhead {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        if text == "off" {
            return Ok(MaxOverhead::OFF);
        }
        // The sign may be left out.
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
        let told = |text: &str| text.parse::<MaxOverhead>().map(|most| most.0);
        assert_eq!(told("off"), Ok(0));
        assert_eq!(told("5%"), Ok(50_000));
        assert_eq!(told("0.5"), Ok(5_000));
        assert_eq!(told("30 %"), Ok(300_000));
        for odd in ["0", "-1%", "much", "nan", "1e9", ""] {
            assert!(told(odd).is_err(), "{odd}");
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
        assert_eq!(MaxOverhead::told(Some(MaxOverhead(7))), "7:8192");
        assert_eq!(MaxOverhead::told(None), "100000:16384");
    }
}
