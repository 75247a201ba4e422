//! Names on the command line.

use anyhow::bail;
use workspan_analysis::named_code::closest;

/// The names of a list that are not empty.
///
/// # Errors
/// A name is not in `known`; the message has the closest one, and all names.
pub fn known<'a>(what: &str, given: &'a [String], known: &[&str]) -> anyhow::Result<Vec<&'a str>> {
    let names = given.iter().map(|name| name.trim());
    let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    let unknown = names.iter().find(|name| !known.contains(name));
    if let Some(unknown) = unknown {
        let near = closest(unknown, known);
        bail!(
            "no {what} `{unknown}`; did you mean {}? There are {}",
            near.first().unwrap_or(&""),
            known.join(", ")
        );
    }
    Ok(names)
}
