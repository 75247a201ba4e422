//! Short names of functions for runs that were not recorded by workspan: other tools write whole
//! C++ and Rust names. Recorded traces have short ones already, made by the same rules.

use std::collections::HashMap;

use workspan_dag::Dag;
use workspan_trace::function_name::{short, without_arguments};

/// Shortens the names of functions. The label of a place stays if another one would be equal to it.
pub(crate) fn shorten(dag: &mut Dag) {
    if dag.meta.recorded {
        return;
    }
    for frame in &mut dag.samples.frames {
        replace(&mut frame.function);
    }
    for place in &mut dag.places {
        place.function.as_mut().map(replace);
    }
    let labels = dag.places.iter().map(|place| place.label.as_str());
    let shorter: Vec<String> = labels
        .map(|label| short_name(label).unwrap_or_else(|| label.to_owned()))
        .collect();
    let mut count: HashMap<&str, u32> = HashMap::new();
    for label in &shorter {
        *count.entry(label).or_default() += 1;
    }
    for (place, label) in dag.places.iter_mut().zip(&shorter) {
        if count[label.as_str()] == 1 {
            place.label.clone_from(label);
        }
    }
}

fn replace(name: &mut String) {
    if let Some(shorter) = short_name(name) {
        *name = shorter;
    }
}

/// `after a::B<C>::f(int):7` becomes `after B::f:7`; `None` for texts that are short already or are
/// not a name with arguments.
fn short_name(text: &str) -> Option<String> {
    let (before, text) = match text.strip_prefix("after ") {
        Some(rest) => ("after ", rest),
        None => ("", text),
    };
    let (whole, line) = match text.rsplit_once(':') {
        Some((name, line)) if !name.ends_with(':') && is_number(line) => (name, Some(line)),
        _ => (text, None),
    };
    // A lambda's `operator()` is a part of the function before it.
    let lambda = whole.find("::{lambda");
    let whole = match lambda {
        Some(at) if !whole[..at].contains('<') => &whole[..at],
        _ => whole,
    };
    let has_arguments = whole.contains('<') && !whole.starts_with("<unknown");
    let is_name = whole.contains("::") || lambda.is_some() || has_arguments;
    if !is_name || !text.contains(['<', '(', '{']) || whole.contains("operator") {
        return None;
    }
    let plain = without_arguments(whole);
    let name = short(without_parameters(&plain));
    let line = line.map_or_else(String::new, |line| format!(":{line}"));
    (!name.is_empty()).then(|| format!("{before}{name}{line}"))
}

/// The name before a list of parameters.
fn without_parameters(name: &str) -> &str {
    let list = name.match_indices('(').find(|&(at, _)| {
        let before = name[..at].chars().next_back();
        before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '}')
    });
    list.map_or(name, |(at, _)| &name[..at])
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_arguments_and_keep_their_end() {
        for (whole, name) in [
            (
                "tbb::detail::d1::start_for<tbb::blocked_range<unsigned long>, \
                 Solver<double>::run(int)::{lambda(int)#1}>::execute(tbb::detail::d1::execution_data&)",
                "execute",
            ),
            (
                "sort::merge_sort::<alloc::vec::Vec<(u64, u64)>, core::cmp::Reverse<u64>>",
                "merge_sort",
            ),
            (
                "<rayon::iter::map::Map<A, B> as rayon::iter::ParallelIterator>::drive",
                "Map::drive",
            ),
            (
                "after matrix::Block<double, 4>::multiply(int const&):9",
                "after Block::multiply:9",
            ),
            ("my_crate::main::{{closure}}::{{closure}}", "main"),
            ("fn_of::<impl Fn() -> u8>", "fn_of"),
            (
                "app::Solver::run(int)::{lambda(int)#1}::operator()(int) const",
                "Solver::run",
            ),
            ("f(std::vector<int>&)", "f"),
        ] {
            assert_eq!(short_name(whole).as_deref(), Some(name), "{whole}");
            assert_eq!(short_name(name), None);
        }
    }

    #[test]
    fn other_texts_stay() {
        for text in [
            "msort",
            "Village::day",
            "after msort:55",
            "src/a.rs:10",
            "<unknown>",
            "a (b)",
            "List::operator<",
            "recording (workspan)",
            "?",
        ] {
            assert_eq!(short_name(text), None, "{text}");
        }
    }

    #[test]
    fn labels_stay_apart() {
        let text = r#"{"workspan_trace":1,"workers":1,"time_unit":"ns","steals":"child"}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"create","t":10,"w":0,"task":0,"child":1,"site":"a::f<int>"}
{"ev":"begin","t":10,"w":0,"task":1}
{"ev":"end","t":20,"w":0,"task":1}
{"ev":"resume","t":20,"w":0,"task":0}
{"ev":"create","t":30,"w":0,"task":0,"child":2,"site":"a::f<char>"}
{"ev":"begin","t":30,"w":0,"task":2}
{"ev":"end","t":40,"w":0,"task":2}
{"ev":"resume","t":40,"w":0,"task":0}
{"ev":"create","t":50,"w":0,"task":0,"child":3,"site":"a::G<char>::g(int)"}
{"ev":"begin","t":50,"w":0,"task":3}
{"ev":"end","t":60,"w":0,"task":3}
{"ev":"resume","t":60,"w":0,"task":0}
{"ev":"end","t":70,"w":0,"task":0}
"#;
        let mut dag = crate::text::read_str(text).unwrap();
        shorten(&mut dag);
        let labels: Vec<&str> = dag.places.iter().map(|place| &*place.label).collect();
        assert_eq!(labels, ["root", "G::g", "a::f<char>", "a::f<int>"]);
    }
}
