//! What is asked first in What-if.

use super::{Choice, escape};

/// Share of the room that may be used once it is in.
const SHARE: f64 = 0.15;
/// Codes, and spawn sites, whose what-if is carried: those that weigh most on the critical path.
const MOST: usize = 6;
/// Of these so many are also taken together.
const TOGETHER: usize = 3;
/// In longer runs fewer, since each takes as long as measuring the run some ten times.
const LONG_RUN: usize = 1_000_000;
/// What the page asks for (`FACTORS` of ui/src/whatif/choice.ts), all together and, for the path, each alone.
const FACTORS: [u32; 8] = [2, 4, 8, 16, 50, 100, 200, 400];

impl Choice<'_> {
    /// What is asked first in What-if: the code and the spawn sites of the critical path, each alone.
    pub(super) fn what_if(&mut self) {
        for run in &self.session.runs {
            let (Ok(picture), Ok(rest)) = (run.picture(), run.rest()) else {
                continue;
            };
            let most = if picture.dag.strands.len() > LONG_RUN {
                1
            } else {
                MOST
            };
            let mut critical = vec![0u128; picture.codes.all.len()];
            for &s in &rest.report.work_span.critical_path {
                critical[usize::from(picture.codes.of(s))] += u128::from(picture.weight(s));
            }
            let mut codes: Vec<usize> = (0..critical.len()).filter(|&c| critical[c] > 0).collect();
            codes.sort_by_key(|&c| (std::cmp::Reverse(critical[c]), c));
            let codes = codes.into_iter().map(|code| format!("code:{code}"));
            let sites = rest.report.sites.iter().filter(|row| row.critical_work > 0);
            let sites = sites.map(|row| format!("site:{}", row.site));
            let all = FACTORS.map(|factor| factor.to_string());
            let (codes, sites): (Vec<String>, Vec<String>) =
                (codes.take(most).collect(), sites.take(most).collect());
            for what in codes.iter().chain(&sites) {
                let alone = all.iter().skip(1).cloned();
                let keys = std::iter::once(all.join(",")).chain(alone).map(|factors| {
                    let (what, factors) = (escape(what), escape(&factors));
                    format!("api/v1/whatif?run={}&what={what}&factors={factors}", run.id)
                });
                let group = self.group(keys);
                if !self.pack.may(group, SHARE) {
                    break;
                }
            }
            // Of the heaviest together, what all factors give.
            for what in together(&codes).into_iter().chain(together(&sites)) {
                let (what, factors) = (escape(&what), escape(&all.join(",")));
                let key = format!("api/v1/whatif?run={}&what={what}&factors={factors}", run.id);
                let group = self.group([key]);
                if !self.pack.may(group, SHARE) {
                    break;
                }
            }
        }
    }
}

/// The first few of `list` in twos and threes, each in the order in which the page asks: ascending as text.
fn together(list: &[String]) -> Vec<String> {
    let few = &list[..list.len().min(TOGETHER)];
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
