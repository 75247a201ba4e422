//! Finds the user's code in the name of a task's class.
//!
//! oneTBB's classes are templates over the user's body: `start_for<blocked_range<long>,
//! app::Tree::walk(int)::{lambda(…)#1}, auto_partitioner const>`. People want the function that
//! contains the body, `app::Tree::walk`, which comes last in a name of some hundred characters.

use cpp_demangle::DemangleOptions;

use crate::cplusplus::{after_bracket, demangled, leading, plain};

/// A class, or the function in which its body was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClassName {
    /// The readable form, without template arguments and parameters.
    pub short: String,
    /// The name with all of its arguments; `None` if that adds nothing.
    pub whole: Option<String>,
}

/// Maximum depth of nested templates that are searched.
const MAX_TEMPLATE_DEPTH: usize = 32;

/// Namespaces of standard libraries, which hide the user's own names.
const STANDARD: [&str; 4] = ["std", "pstl", "__pstl", "__gnu_cxx"];

/// oneTBB's namespaces, which carry no information.
const NAMESPACES: [&str; 4] = [
    "tbb::detail::d0::",
    "tbb::detail::d1::",
    "tbb::detail::d2::",
    "tbb::detail::r1::",
];

/// Parses the symbol of a type's name (`_ZTS…`); any other text is taken as it is. `None` for an
/// empty text.
pub(crate) fn from_symbol(symbol: &str) -> Option<ClassName> {
    if symbol.is_empty() {
        return None;
    }
    let itself = |text: &str| ClassName {
        short: text.to_owned(),
        whole: None,
    };
    let Some(encoding) = symbol.strip_prefix("_ZTS") else {
        return Some(itself(symbol));
    };
    let text = demangled(symbol, DemangleOptions::new());
    let Some(text) = text
        .as_deref()
        .and_then(|text| text.strip_prefix("typeinfo name for "))
    else {
        // A lambda's name contains that of its function, after a `Z`.
        let inner = encoding
            .match_indices('Z')
            .find_map(|(at, _)| leading(&encoding[at..]));
        let name = inner.or_else(|| leading(encoding));
        return Some(itself(&name.unwrap_or_else(|| symbol.to_owned())));
    };
    let users = users_part(text);
    let short = if of_runtime(users) {
        runtimes_own(users)
    } else {
        plain(users)
    };
    let mut whole = users.to_owned();
    for space in NAMESPACES {
        whole = whole.replace(space, "");
    }
    if short.is_empty() {
        return Some(itself(&whole));
    }
    Some(ClassName {
        whole: (whole != short).then_some(whole),
        short,
    })
}

/// The outermost part of a type that is not a template of a runtime: the body, if there is one.
fn users_part(name: &str) -> &str {
    let mut part = name;
    for _ in 0..MAX_TEMPLATE_DEPTH {
        if !of_runtime(part) {
            return part;
        }
        let arguments = arguments(part);
        // The first argument of a loop's task is its range.
        let ranged = last_name(part).starts_with("start_") && arguments.len() > 1;
        let bodies = &arguments[usize::from(ranged)..];
        let body = bodies
            .iter()
            .find(|argument| argument.contains("{lambda") || argument.contains("'lambda"))
            .or_else(|| bodies.iter().find(|argument| is_class(argument)));
        match body {
            Some(body) => part = body,
            None => break,
        }
    }
    // Without a body, a range of the user's is better than nothing.
    let inner = arguments(name);
    let range = inner.first().copied().filter(|range| is_class(range));
    match range {
        Some(range) if of_runtime(part) => range,
        _ if of_runtime(part) => name,
        _ => part,
    }
}

/// Whether a type belongs to a runtime or to the standard library.
fn of_runtime(name: &str) -> bool {
    let first = name.split("::").next().unwrap_or(name);
    name.contains("::") && (STANDARD.contains(&first) || workspan_runtimes::is_namespace(first))
}

/// Whether a template's argument is a class of the user's, or one of a runtime that may contain
/// one.
fn is_class(argument: &str) -> bool {
    const FUNDAMENTAL: [&str; 11] = [
        "bool", "char", "double", "float", "int", "long", "short", "signed", "unsigned", "void",
        "wchar_t",
    ];
    let word = argument
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .next()
        .unwrap_or_default();
    let named = word.starts_with(|c: char| c.is_alphabetic() || c == '_');
    if of_runtime(argument) {
        return arguments(argument).iter().any(|inner| is_class(inner));
    }
    named && !FUNDAMENTAL.contains(&word)
}

/// The arguments of the template at the start of the name.
fn arguments(name: &str) -> Vec<&str> {
    let Some(open) = name.find(['<', '(', '{']) else {
        return Vec::new();
    };
    if !name[open..].starts_with('<') {
        return Vec::new();
    }
    let rest = after_bracket(&name[open..]);
    let inner = &name[open + 1..name.len() - rest.len()];
    let inner = inner.strip_suffix('>').unwrap_or(inner);
    let (mut found, mut from, mut depth, mut previous) = (Vec::new(), 0, 0usize, ' ');
    for (at, c) in inner.char_indices() {
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' if previous == '-' => {}
            '>' | ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                found.push(inner[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
        previous = c;
    }
    found.push(inner[from..].trim());
    found.retain(|argument| !argument.is_empty());
    found
}

/// The class itself, without namespaces and arguments.
fn last_name(name: &str) -> &str {
    let head = &name[..name.find(['<', '(', '{']).unwrap_or(name.len())];
    head.rsplit("::").next().unwrap_or(head)
}

/// A runtime's class with the names of its arguments, whose own arguments are left out:
/// `start_for<quick_sort_range, auto_partitioner>`.
fn runtimes_own(name: &str) -> String {
    let arguments: Vec<&str> = arguments(name)
        .into_iter()
        .map(|argument| last_name(argument.strip_suffix(" const").unwrap_or(argument)))
        .collect();
    if arguments.is_empty() {
        return last_name(name).to_owned();
    }
    format!("{}<{}>", last_name(name), arguments.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(symbol: &str) -> String {
        from_symbol(symbol).unwrap().short
    }

    #[test]
    fn a_tasks_class_is_named_after_the_users_function() {
        for (symbol, name) in [
            ("_ZTSN3tbb6detail2d113function_taskIZ3fibiEUlvE_EE", "fib"),
            (
                "_ZTSN3tbb6detail2d19start_forINS1_13blocked_rangeIlEEZN6Slic3r11PrintObject6infillEvEUlRKT_E_\
                 KNS1_16auto_partitionerEEE",
                "Slic3r::PrintObject::infill",
            ),
            // A body that is a class, after the runtime's wrapper, over a range of the user's.
            (
                "_ZTSN3tbb6detail2d19start_forIN3app5RangeENS1_25parallel_for_body_wrapperIN3app4BodyIiEEiEEKNS1_\
                 16auto_partitionerEEE",
                "app::Body",
            ),
            (
                "_ZTSN3tbb6detail2d19start_forINS1_16quick_sort_rangeIPiSt4lessIiEEENS1_15quick_sort_bodyIS4_S6_EE\
                 KNS1_16auto_partitionerEEE",
                "start_for<quick_sort_range, quick_sort_body, auto_partitioner>",
            ),
            ("_ZTS6MyTask", "MyTask"),
            ("_ZTSN3tbb6detail2r110stage_taskE", "stage_task"),
            ("plain text", "plain text"),
            ("_ZTSN3", "_ZTSN3"),
        ] {
            assert_eq!(short(symbol), name, "{symbol}");
        }
        assert_eq!(from_symbol(""), None);
    }

    #[test]
    fn long_names_are_whole() {
        let argument = "x".repeat(500);
        let symbol =
            format!("_ZTSN3tbb6detail2d113function_taskIZN3app4TreeI500{argument}E4walkEvEUlvE_EE");
        let name = from_symbol(&symbol).unwrap();
        assert_eq!(name.short, "app::Tree::walk");
        let whole = format!("app::Tree<{argument}>::walk()::{{lambda()#1}}");
        assert_eq!(name.whole, Some(whole));
        let deep = format!(
            "_ZTSN3tbb6detail2d113function_taskIZN3app4walkI{}i{}EEvvEUlvE_EE",
            "1AI".repeat(5000),
            "E".repeat(5000)
        );
        assert_eq!(short(&deep), "app::walk");
    }
}
