//! Triggers that keep a part of a run while the run goes on (`--ring` with `--on-…`).

use std::str::FromStr;

use workspan_analysis::Breakdown;

use crate::options::keep_windows::{Length, positive};
use crate::units::ParseError;

/// Triggers: `--on-signal`, `--on-call` and the like.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct TriggerArgs {
    /// With --ring: on SIGUSR2 to `workspan record`, keep the ring as a trace and continue
    /// recording
    #[arg(long, requires = "ring")]
    pub on_signal: bool,
    /// With --ring: keep the ring as a trace when the program calls workspan_keep()
    #[arg(long, requires = "ring")]
    pub on_call: bool,
    /// With --ring: keep the ring if the program ends by a signal or with one of these exit codes,
    /// such as 1,3, or `failure` for all but 0
    #[arg(long, value_name = "failure|CODES", requires = "ring")]
    pub on_exit_code: Option<ExitCodes>,
    /// With --ring: keep the ring when the program has used no CPU for this long, once for each
    /// such pause
    #[arg(long, value_name = "TIME", value_parser = positive, requires = "ring")]
    pub on_stall: Option<Length>,
    /// With --ring: keep the ring when a share of the worker time in the last second exceeds a
    /// limit, such as 'delay > 20%': work, delay, no-work or lost (repeatable)
    #[arg(long, value_name = "CONDITION", requires = "ring")]
    pub on: Vec<Condition>,
    /// Maximum number of traces that triggers keep (default 16); later ones are dropped
    #[arg(long, value_name = "N", requires = "ring", value_parser = clap::value_parser!(u32).range(1..))]
    pub most_parts: Option<u32>,
}

impl TriggerArgs {
    /// Whether there is any trigger.
    pub fn is_any(&self) -> bool {
        let TriggerArgs {
            on_signal,
            on_call,
            on_exit_code,
            on_stall,
            on,
            most_parts: _,
        } = self;
        *on_signal || *on_call || on_exit_code.is_some() || on_stall.is_some() || !on.is_empty()
    }

    /// The largest number of traces that are kept.
    pub fn most_parts(&self) -> u32 {
        self.most_parts.unwrap_or(16)
    }
}

/// The ends of the program that are triggers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExitCodes {
    /// All exit codes except 0.
    Failure,
    /// These exit codes.
    Codes(Vec<u8>),
}

impl ExitCodes {
    /// Whether that end is a trigger; `None` stands for an end by a signal.
    pub fn has(&self, code: Option<i32>) -> bool {
        match (self, code) {
            (_, None) => true,
            (ExitCodes::Failure, Some(code)) => code != 0,
            (ExitCodes::Codes(codes), Some(code)) => {
                codes.iter().any(|&known| i32::from(known) == code)
            }
        }
    }
}

impl FromStr for ExitCodes {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        if text == "failure" {
            return Ok(ExitCodes::Failure);
        }
        let codes = text.split(',').map(|code| code.trim().parse());
        let codes: Result<Vec<u8>, _> = codes.collect();
        codes.map(ExitCodes::Codes).map_err(|_| {
            ParseError::new(
                text,
                "a list of exit codes",
                "failure, or codes from 0 to 255 with commas between, such as 1,3",
            )
        })
    }
}

/// A share of the worker time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Share {
    Work,
    Delay,
    NoWork,
    Lost,
}

const SHARES: [(&str, Share); 4] = [
    ("work", Share::Work),
    ("delay", Share::Delay),
    ("no-work", Share::NoWork),
    ("lost", Share::Lost),
];

/// `delay > 20%`
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Condition {
    share: Share,
    is_above: bool,
    percent: f64,
}

impl Condition {
    /// The value of the share, in percent, if the condition holds.
    pub fn holds(&self, breakdown: &Breakdown) -> Option<f64> {
        let ticks = match self.share {
            Share::Work => breakdown.work,
            Share::Delay => breakdown.delay,
            Share::NoWork => breakdown.no_work_sched + breakdown.no_work_app,
            Share::Lost => breakdown.lost(),
        };
        let percent = 100.0 * ticks as f64 / breakdown.total().max(1) as f64;
        let holds = match self.is_above {
            true => percent > self.percent,
            false => percent < self.percent,
        };
        holds.then_some(percent)
    }

    /// The name of the share.
    pub fn name(&self) -> &'static str {
        let known = SHARES.iter().find(|(_, share)| *share == self.share);
        known.map_or("", |(name, _)| name)
    }
}

impl FromStr for Condition {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let parsed = text.split_once(['>', '<']).and_then(|(name, percent)| {
            let known = SHARES.iter().find(|(known, _)| *known == name.trim())?;
            let percent: f64 = percent.trim().strip_suffix('%')?.trim_end().parse().ok()?;
            (0.0..=100.0).contains(&percent).then_some(Condition {
                share: known.1,
                is_above: text.contains('>'),
                percent,
            })
        });
        parsed.ok_or_else(|| {
            ParseError::new(
                text,
                "a condition",
                "work, delay, no-work or lost, then > or <, then a percentage, such as 'delay > 20%'",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_hold_of_shares_of_the_worker_time() {
        let of = Breakdown {
            begin: 0,
            end: 100,
            workers: 2,
            work: 120,
            delay: 50,
            no_work_app: 30,
            ..Breakdown::default()
        };
        let holds = |text: &str| text.parse::<Condition>().ok().map(|c| c.holds(&of));
        assert_eq!(holds("delay > 20%"), Some(Some(25.0)));
        assert_eq!(holds("delay>25 %"), Some(None));
        assert_eq!(holds("work < 61%"), Some(Some(60.0)));
        assert_eq!(holds("no-work > 14.5%"), Some(Some(15.0)));
        for wrong in [
            "",
            "delay",
            "delay > 20",
            "delay = 20%",
            "sleep > 1%",
            "work > 101%",
        ] {
            assert_eq!(holds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn exit_codes() {
        let has = |text: &str, code| text.parse::<ExitCodes>().ok().map(|c| c.has(code));
        assert_eq!(has("failure", Some(0)), Some(false));
        assert_eq!(has("failure", Some(3)), Some(true));
        assert_eq!(has("1,3", Some(3)), Some(true));
        assert_eq!(has("1, 3", Some(2)), Some(false));
        assert_eq!(has("1", None), Some(true));
        assert_eq!(has("bad", Some(1)), None);
    }
}
