//! Names of C++ functions.

use std::fmt::{self, Write};

use cpp_demangle::{BorrowedSymbol, DemangleOptions, DemangleWrite};

/// Demangled names are read as far as this: a mangled name of some lines can stand for gigabytes.
const LONGEST: usize = 16 << 10;

/// Function, class and namespaces of a mangled name (`_Z…`), without parameters, template arguments and return type; a
/// lambda is named as the function it stands in. `None` when it is no such name.
pub(crate) fn readable(mangled: &str) -> Option<String> {
    // What has no such start is read as a type.
    if !mangled.starts_with("_Z") {
        return None;
    }
    let (symbol, _) = BorrowedSymbol::with_tail(mangled.as_bytes()).ok()?;
    let options = DemangleOptions::new().no_params().no_return_type();
    let mut text = Bounded(String::new());
    // What fits is enough: the name comes first.
    let _ = symbol.structured_demangle(&mut text, &options);
    let name = plain(&text.0);
    (!name.is_empty()).then_some(name)
}

/// Longer names of types are cut.
const LONGEST_TYPE: usize = 120;

/// A type by the symbol of its name (`_ZTS…`), with its template arguments but without oneTBB's own namespaces; a text that
/// is no such symbol as it is. `None` for an empty one.
pub(crate) fn type_name(symbol: &str) -> Option<String> {
    if symbol.is_empty() {
        return None;
    }
    let mut text = Bounded(String::new());
    if symbol.starts_with("_Z")
        && let Ok((symbol, _)) = BorrowedSymbol::with_tail(symbol.as_bytes())
    {
        let _ = symbol.structured_demangle(&mut text, &DemangleOptions::new());
    }
    let mut name = match text.0.strip_prefix("typeinfo name for ") {
        Some(name) => name.to_owned(),
        None => symbol.to_owned(),
    };
    for own in [
        "tbb::detail::d0::",
        "tbb::detail::d1::",
        "tbb::detail::d2::",
        "tbb::detail::r1::",
    ] {
        name = name.replace(own, "");
    }
    if name.chars().count() > LONGEST_TYPE {
        name = name.chars().take(LONGEST_TYPE).chain(['…']).collect();
    }
    Some(name)
}

struct Bounded(String);

impl DemangleWrite for Bounded {
    fn write_string(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.write_str(text)
    }
}

/// `long (anonymous namespace)::Tree<int>::walk(int)::{lambda()#1}::operator()() const` becomes `Tree::walk`.
pub(crate) fn plain(demangled: &str) -> String {
    let mut parts: Vec<String> = vec![String::new()];
    let mut rest = demangled;
    while let Some(c) = rest.chars().next() {
        let last = parts.len() - 1;
        if parts[last].is_empty()
            && let Some(after) = rest.strip_prefix("operator")
            && !after.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        {
            let sign = operator(after);
            parts[last] = format!("operator{sign}");
            rest = &after[sign.len()..];
            continue;
        }
        match c {
            '<' | '(' | '[' => {
                rest = after_bracket(rest);
                continue;
            }
            // An unnamed type, a lambda: what stands before names it. Clang's own names for lambdas begin with `$`.
            '{' | '$' | '\'' if parts[last].is_empty() => {
                if parts.iter().any(|part| !part.is_empty()) {
                    break;
                }
                rest = after_bracket(rest);
                continue;
            }
            ':' if rest.starts_with("::") => {
                parts.push(String::new());
                rest = &rest[2..];
                continue;
            }
            ' ' => {
                let after = rest.trim_start();
                if ["const", "volatile", "&", "["]
                    .iter()
                    .any(|q| after.starts_with(q))
                {
                    break;
                }
                // What came before was a return type.
                parts = vec![String::new()];
            }
            _ => parts[last].push(c),
        }
        rest = &rest[c.len_utf8()..];
    }
    parts.retain(|part| !part.is_empty());
    parts.join("::")
}

/// The sign of an operator, or ` new` and the like.
fn operator(after: &str) -> &str {
    if after.starts_with("()") || after.starts_with("[]") {
        return &after[..2];
    }
    let end = match after.strip_prefix(' ') {
        Some(word) => 1 + word.find(['(', '<']).unwrap_or(word.len()),
        // A `(` begins the parameters; a `<` after a sign is one of its own or begins template arguments, which comes to
        // the same for people.
        None => after
            .find(|c: char| !"+-*/%^&|~!=<>,".contains(c))
            .unwrap_or(after.len()),
    };
    &after[..end]
}

/// The text after the bracket that it begins with; all of it when that is never closed.
fn after_bracket(text: &str) -> &str {
    let mut depth = 0usize;
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' if previous == '-' => {}
            '>' | ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        previous = c;
        if depth == 0 {
            return &text[at + c.len_utf8()..];
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::{plain, readable, type_name};

    #[test]
    fn types_keep_their_arguments_but_not_the_runtimes_namespaces() {
        assert_eq!(
            type_name("_ZTSN3tbb6detail2d113function_taskIZ3fibiEUlvE_EE").as_deref(),
            Some("function_task<fib(int)::{lambda()#1}>")
        );
        assert_eq!(type_name("_ZTS6MyTask").as_deref(), Some("MyTask"));
        assert_eq!(type_name("plain text").as_deref(), Some("plain text"));
        assert_eq!(type_name("_ZTSN3").as_deref(), Some("_ZTSN3"));
        assert_eq!(type_name(""), None);
        let long = format!("_ZTS{}{}", 500, "x".repeat(500));
        assert_eq!(type_name(&long).map(|n| n.chars().count()), Some(121));
    }

    #[test]
    fn parameters_arguments_and_lambdas_go() {
        for (mangled, name) in [
            ("_Z3fibi", "fib"),
            ("_ZN3app4TreeIlE4walkEl", "app::Tree::walk"),
            ("_ZZN12_GLOBAL__N_12goEiENKUlvE_clEv", "go"),
            ("_ZZN12_GLOBAL__N_12goEiENK3$_0clEv", "go"),
            (
                "_ZN3tbb6detail2d110task_group3runIZ3fibiEUlvE_EEvOT_",
                "tbb::detail::d1::task_group::run",
            ),
            ("_ZlsRSoRK3Box", "operator<<"),
            ("_ZNK3BoxclEi", "Box::operator()"),
            ("_ZNK3BoxcvbEv", "Box::operator bool"),
            ("_ZN3BoxD2Ev", "Box::~Box"),
            ("_Z3maxIiET_S0_S0_", "max"),
        ] {
            assert_eq!(readable(mangled).as_deref(), Some(name), "{mangled}");
        }
        assert_eq!(readable("main"), None);
        assert_eq!(readable("_Z"), None);
    }

    #[test]
    fn text_that_is_no_name_ends() {
        assert_eq!(plain("((((<"), "");
        assert_eq!(plain("a<b"), "a");
        assert_eq!(plain("long f<int>(char) const"), "f");
        assert_eq!(plain("void (*f())(int)"), "");
    }

    #[test]
    fn names_that_grow_without_end_are_cut() {
        // Each argument is the pair of the one before: 2^60 names.
        let mut mangled = String::from("_Z1fI1AIiiE");
        for _ in 0..60 {
            mangled.push_str("1BIS_S_E");
        }
        mangled.push_str("EvT_");
        let _ = readable(&mangled);
        let deep = format!("_Z1f{}i", "P".repeat(100_000));
        let _ = readable(&deep);
    }
}
