//! The what-if answers that users look at first.

use std::ops::Range;

use super::super::pack::Group;
use super::{Choice, escape};
use crate::answers::whatif::WhatIfAnswer;
use crate::run::Run;

/// Share of the room that may be used once these answers are added.
const WHAT_IF_SHARE: f64 = 0.15;
/// Number of codes, and of spawn sites, whose what-if is added: those that weigh most on the
/// critical path.
const MAX_CODES: usize = 6;
/// Number of the heaviest ones that are also combined in twos and threes.
const MAX_COMBINED: usize = 3;
/// Number of strands above which a run gets only one code and one spawn site: each takes about ten
/// times as long as measuring the run.
const LONG_RUN_STRANDS: usize = 1_000_000;
/// The factors that the page requests (`FACTORS` of ui/src/whatif/targets.ts): all in one request,
/// and for the path each alone.
const FACTORS: [u32; 8] = [2, 4, 8, 16, 50, 100, 200, 400];

impl Choice<'_> {
    /// Adds the what-if answers for the code and the spawn sites of the critical path, each alone.
    pub(super) fn what_if(&mut self) {
        for run in &self.session.runs {
            let (Ok(model), Ok(rest)) = (run.model(), run.analyses()) else {
                continue;
            };
            let most = if model.dag.strands.len() > LONG_RUN_STRANDS {
                1
            } else {
                MAX_CODES
            };
            let mut critical = vec![0u128; model.codes.all.len()];
            for &s in &rest.report.work_span.critical_path {
                critical[usize::from(model.codes.of(s))] += u128::from(model.weight(s));
            }
            let mut codes: Vec<usize> = (0..critical.len()).filter(|&c| critical[c] > 0).collect();
            codes.sort_by_key(|&c| (std::cmp::Reverse(critical[c]), c));
            let codes = codes.into_iter().map(|code| format!("code:{code}"));
            let sites = rest.report.sites.iter().filter(|row| row.critical_work > 0);
            let sites = sites.map(|row| format!("site:{}", row.site));
            let (codes, sites): (Vec<String>, Vec<String>) =
                (codes.take(most).collect(), sites.take(most).collect());
            let alone = codes.iter().chain(&sites).map(|what| (what.clone(), true));
            // The heaviest ones are also combined, with all factors in one answer.
            let few = together(&codes).into_iter().chain(together(&sites));
            for (what, each) in alone.chain(few.map(|what| (what, false))) {
                let group = answers(run, &what, each);
                if !self.pack.may(group, WHAT_IF_SHARE) {
                    break;
                }
            }
        }
    }
}

/// The answer with all factors and, with `each`, one answer per factor. The critical path at the
/// first factor is in the answer with all of them.
fn answers(run: &Run, what: &str, each: bool) -> Group {
    let Ok(asked) = WhatIfAnswer::new(run, what, &FACTORS.map(f64::from)) else {
        return Group::new();
    };
    let alone = (1..FACTORS.len()).filter(|_| each).map(|i| i..i + 1);
    let answers = std::iter::once(0..FACTORS.len()).chain(alone);
    let answer = |factors: Range<usize>| {
        let reply = asked.reply(factors.clone()).ok()?;
        let factors = FACTORS[factors].iter().map(u32::to_string);
        let factors = escape(&factors.collect::<Vec<_>>().join(","));
        let what = escape(what);
        let key = format!("api/v1/whatif?run={}&what={what}&factors={factors}", run.id);
        Some((key, reply))
    };
    answers.filter_map(answer).collect()
}

/// The first few of `list` in twos and threes. Each combination is in the order in which the page
/// requests it: ascending as text.
fn together(list: &[String]) -> Vec<String> {
    let few = &list[..list.len().min(MAX_COMBINED)];
    let mut all = Vec::new();
    for chosen in 1u32..1 << few.len() {
        let mut some: Vec<&str> = (0..few.len())
            .filter(|i| chosen >> i & 1 == 1)
            .map(|i| few[i].as_str())
            .collect();
        if some.len() > 1 {
            some.sort_unstable();
            all.push(some.join(","));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_are_taken_together_in_the_order_of_the_page() {
        let list = ["code:7", "code:10", "code:2", "code:1"].map(str::to_owned);
        assert_eq!(
            together(&list),
            [
                "code:10,code:7",
                "code:2,code:7",
                "code:10,code:2",
                "code:10,code:2,code:7",
            ]
        );
        assert!(together(&list[..1]).is_empty());
    }
}
