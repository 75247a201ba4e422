//! What a program states about itself: the lines `truth …` and `used …` of its output.

use std::collections::BTreeMap;

/// The numbers of a line `truth work_us=96000 span_us=3000 tasks=62`, and of
/// `used cpu_us=… spun_us=…`.
#[derive(Debug, Default, PartialEq)]
pub struct Stated {
    numbers: BTreeMap<String, f64>,
}

/// The words that a program may state. Any other word is a mistake in the program.
const WORDS: [&str; 13] = [
    "work_us",
    "work_min_us",
    "outside_us",
    "span_us",
    "span_min_us",
    "span_max_us",
    "ordered_span_max_us",
    "tasks",
    "blocked_us",
    "cpu_us",
    "spun_us",
    "stolen_us",
    "start_us",
];

impl Stated {
    /// Reads both lines from a program's output.
    ///
    /// # Errors
    /// A word is unknown, a value is not a number, or there is no truth at all.
    pub fn read(output: &str) -> Result<Stated, String> {
        let mut stated = Stated::default();
        let mut truths = 0;
        for line in output.lines() {
            let words = match line.split_once(' ') {
                Some(("truth", words)) => {
                    truths += 1;
                    words
                }
                Some(("used", words)) => words,
                _ => continue,
            };
            for word in words.split_whitespace() {
                let (name, number) = word
                    .split_once('=')
                    .ok_or(format!("`{word}` has no number"))?;
                if !WORDS.contains(&name) {
                    return Err(format!("`{name}` is not known"));
                }
                let number = number
                    .parse()
                    .map_err(|_| format!("`{word}` has no number"))?;
                stated.numbers.insert(name.to_string(), number);
            }
        }
        match truths {
            1 => Ok(stated),
            found => Err(format!("{found} lines say what is true, instead of one")),
        }
    }

    /// The number with the given name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.numbers.get(name).copied()
    }
}

/// The output without the parts that differ from run to run.
pub fn comparable(output: &str) -> String {
    let lines = output.lines().filter(|line| !line.starts_with("used "));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_lines_are_read_and_one_is_compared() {
        let output = "5\ntruth work_us=80 tasks=3\nused cpu_us=99 spun_us=81\n";
        let stated = Stated::read(output).unwrap_or_default();
        assert_eq!(stated.get("work_us"), Some(80.0));
        assert_eq!(stated.get("spun_us"), Some(81.0));
        assert_eq!(stated.get("span_us"), None);
        assert_eq!(comparable(output), "5\ntruth work_us=80 tasks=3");
    }

    #[test]
    fn a_program_that_states_nothing_or_nonsense_is_refused() {
        for output in ["", "truth work=3", "truth work_us=many", "truth a\ntruth b"] {
            assert!(Stated::read(output).is_err(), "{output}");
        }
    }
}
