//! Names of functions as traces and reports have them: without generic arguments, and short.

/// A readable Rust or C++ name without generic arguments; a closure gets the name of the function
/// that contains it.
pub fn without_arguments(demangled: &str) -> String {
    let plain = without_generics(demangled);
    let mut name = String::with_capacity(plain.len());
    for part in plain.split("::") {
        if part.is_empty() {
            continue;
        }
        // `{closure#0}`, `{{closure}}`, `{shim:vtable#0}`: the function comes before it.
        if part.starts_with('{') && !name.is_empty() {
            break;
        }
        if !name.is_empty() {
            name.push_str("::");
        }
        name.push_str(part);
    }
    name
}

/// `<a::B<C> as d::E>::f::<G>` becomes `a::B::f`, `a::<impl b::C>::f` becomes `a::C::f`, as far as
/// the text shows it.
fn without_generics(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    // Depth of brackets whose text is left out; a type at the very start is kept, up to its ` as `.
    let mut skipped = 0usize;
    let mut open_types = 0usize;
    let mut previous = ' ';
    let mut rest = name.char_indices();
    while let Some((at, c)) = rest.next() {
        match c {
            '<' if skipped > 0 => skipped += 1,
            '<' if out.is_empty() => open_types += 1,
            '<' => skipped = 1,
            // `->` in a function type closes nothing.
            '>' if previous == '-' => {}
            '>' if skipped > 0 => skipped -= 1,
            '>' if open_types > 0 => open_types -= 1,
            _ if skipped > 0 => {}
            ' ' if open_types > 0 && name[at..].starts_with(" as ") => {
                // Leaves out the trait, as if it were in a bracket to skip that the type's own
                // bracket ends.
                skipped = 1;
                open_types -= 1;
            }
            '&' | '*' if out.is_empty() => {}
            'm' if out.is_empty() && name[at..].starts_with("mut ") => {
                rest.nth(2);
            }
            _ => out.push(c),
        }
        previous = c;
    }
    out
}

/// The last part of a readable name, with the type before it for a method; it is shown with a
/// `file:line`. Line tables have no more of an inlined function, so a longer name would depend on
/// what was inlined.
pub fn short(name: &str) -> &str {
    let Some((before, _)) = name.rsplit_once("::") else {
        return name;
    };
    let owner = before.rsplit_once("::").map_or(before, |(_, owner)| owner);
    let start = if owner.starts_with(char::is_uppercase) {
        before.len() - owner.len()
    } else {
        before.len() + 2
    };
    &name[start..]
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn short_names_keep_the_type() {
        assert_eq!(short("sort::msort"), "msort");
        assert_eq!(short("sort::inner::Sorter::call"), "Sorter::call");
        assert_eq!(short("msort"), "msort");
        assert_eq!(short("Sorter::call"), "Sorter::call");
    }
}
