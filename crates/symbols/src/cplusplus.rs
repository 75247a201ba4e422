//! Names of C++ functions.

use std::fmt::{self, Write};

use cpp_demangle::{BorrowedSymbol, DemangleOptions, DemangleWrite, ParseOptions};

/// Maximum number of bytes of a demangled name that are read: a mangled name of some lines can
/// stand for gigabytes.
const MAX_NAME_BYTES: usize = 64 << 10;
/// Maximum nesting that is followed in names beyond the library's own limits: lambdas passed from
/// one template to the next. Each level takes about a kilobyte of a stack that is made for it.
const MAX_NESTING: u32 = 10_000;
const DEEP_STACK: usize = 64 << 20;

/// Function, class and namespaces of a mangled name (`_Z…`), without parameters, template arguments
/// and return type; a lambda gets the name of the function that contains it. `None` if it is not
/// such a name.
pub(crate) fn readable(mangled: &str) -> Option<String> {
    // A name without this prefix is read as a type.
    if !mangled.starts_with("_Z") {
        return None;
    }
    let options = DemangleOptions::new().no_params().no_return_type();
    let name = demangled(mangled, options).map(|text| plain(&text));
    name.filter(|name| !name.is_empty())
        .or_else(|| leading(&mangled[2..]))
}

/// The demangled text, cut at the maximum length: the name comes first. `None` if it can't be read.
pub(crate) fn demangled(mangled: &str, options: DemangleOptions) -> Option<String> {
    if let Some(text) = within(mangled, ParseOptions::default(), options) {
        return Some(text);
    }
    std::thread::scope(|scope| {
        let reading = ParseOptions::default().recursion_limit(MAX_NESTING);
        let options = options.recursion_limit(MAX_NESTING);
        let deep = std::thread::Builder::new()
            .stack_size(DEEP_STACK)
            .spawn_scoped(scope, move || within(mangled, reading, options));
        deep.ok()?.join().ok()?
    })
}

fn within(mangled: &str, reading: ParseOptions, options: DemangleOptions) -> Option<String> {
    let (symbol, _) = BorrowedSymbol::with_tail_and_options(mangled.as_bytes(), &reading).ok()?;
    let mut text = BoundedWriter {
        text: String::new(),
        full: false,
    };
    let whole = symbol.structured_demangle(&mut text, &options).is_ok();
    (whole || text.full).then_some(text.text)
}

/// The names at the start of an encoding, for one that can't be read completely: `N3app4TreeIlE…`
/// is `app::Tree`.
pub(crate) fn leading(encoding: &str) -> Option<String> {
    let mut rest = encoding.trim_start_matches(['Z', 'N', 'K', 'V', 'R', 'O', 'L']);
    rest = rest.strip_prefix("St").unwrap_or(rest);
    let mut parts: Vec<&str> = Vec::new();
    loop {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let Some(end) = rest[..digits]
            .parse::<usize>()
            .ok()
            .and_then(|length| digits.checked_add(length))
        else {
            break;
        };
        let Some(part) = rest.get(digits..end) else {
            break;
        };
        // GCC's name for an anonymous namespace.
        if part != "_GLOBAL__N_1" {
            parts.push(part);
        }
        rest = &rest[end..];
    }
    (!parts.is_empty()).then(|| parts.join("::"))
}

struct BoundedWriter {
    text: String,
    full: bool,
}

impl DemangleWrite for BoundedWriter {
    fn write_string(&mut self, text: &str) -> fmt::Result {
        if self.text.len() + text.len() > MAX_NAME_BYTES {
            self.full = true;
            return Err(fmt::Error);
        }
        self.text.write_str(text)
    }
}

/// `long (anonymous namespace)::Tree<int>::walk(int)::{lambda()#1}::operator()()
/// const` becomes `Tree::walk`.
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
            // An unnamed type or a lambda: the text before it is its name. Clang's own names for
            // lambdas begin with `$`.
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
                // The text before was a return type.
                parts = vec![String::new()];
            }
            _ => parts[last].push(c),
        }
        rest = &rest[c.len_utf8()..];
    }
    parts.retain(|part| !part.is_empty());
    parts.join("::")
}

/// The sign of an operator, or ` new` and similar ones.
fn operator(after: &str) -> &str {
    if after.starts_with("()") || after.starts_with("[]") {
        return &after[..2];
    }
    let end = match after.strip_prefix(' ') {
        Some(word) => 1 + word.find(['(', '<']).unwrap_or(word.len()),
        // A `(` begins the parameters. A `<` after a sign belongs to the sign or begins template
        // arguments, which makes no difference to people.
        None => after
            .find(|c: char| !"+-*/%^&|~!=<>,".contains(c))
            .unwrap_or(after.len()),
    };
    &after[..end]
}

/// The text after the bracket that it begins with; all of it if that is never closed.
pub(crate) fn after_bracket(text: &str) -> &str {
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
    use super::{leading, plain, readable};

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
        // Each argument is the pair of the previous one: 2^60 names.
        let mut mangled = String::from("_Z1fI1AIiiE");
        for _ in 0..60 {
            mangled.push_str("1BIS_S_E");
        }
        mangled.push_str("EvT_");
        let _ = readable(&mangled);
        let deep = format!("_Z1f{}i", "P".repeat(100_000));
        let _ = readable(&deep);
    }

    #[test]
    fn names_that_are_nested_deeply_are_read() {
        let nested = |depth: usize| {
            let (open, close) = ("1AI".repeat(depth), "E".repeat(depth));
            format!("_ZN3app4TreeI{open}i{close}E4walkEl")
        };
        assert_eq!(readable(&nested(60)).as_deref(), Some("app::Tree::walk"));
        assert_eq!(readable(&nested(130)).as_deref(), Some("app::Tree::walk"));
        // Beyond the limits, the mangled name is still not shown.
        assert_eq!(readable(&nested(5000)).as_deref(), Some("app::Tree"));
        assert_eq!(readable("_ZN3app4walkIXquux").as_deref(), Some("app::walk"));
        assert_eq!(leading("N99app"), None);
        assert_eq!(leading("N12_GLOBAL__N_12goEi").as_deref(), Some("go"));
    }
}
