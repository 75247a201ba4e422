//! SARIF 2.1.0: a result for each broken limit, for code scanning and editors.

use serde_json::{Value, json};
use workspan_analysis::compare::LimitResult;

use super::{file_line, limit_text, message};
use crate::json::document;

/// A description of each limit, by its name.
const RULES: [(&str, &str); 9] = [
    (
        "min-parallelism",
        "Work divided by span is at least the limit.",
    ),
    (
        "min-burdened-parallelism",
        "Work divided by the burdened span is at least the limit.",
    ),
    (
        "min-speedup-bound",
        "The lower bound of the speedup is at least the limit.",
    ),
    ("max-elapsed", "The run takes no longer than the limit."),
    (
        "max-delay",
        "Workers are free while strands are ready for no longer than the limit.",
    ),
    (
        "max-no-work",
        "Workers are free with nothing ready for no longer than the limit.",
    ),
    (
        "max-regression",
        "The run takes no longer than the baseline's, within the limit.",
    ),
    (
        "max-work-growth",
        "The work grows by no more than the limit over the baseline.",
    ),
    (
        "max-span-growth",
        "The span grows by no more than the limit over the baseline.",
    ),
];

/// A log with one run, which has one result for each broken limit.
pub fn check_sarif(checked: &[LimitResult]) -> String {
    let rules: Vec<Value> = RULES
        .iter()
        .map(|(id, text)| {
            json!({ "id": id, "shortDescription": { "text": text },
                "defaultConfiguration": { "level": "error" } })
        })
        .collect();
    let results: Vec<Value> = checked.iter().filter(|c| c.broken).map(result).collect();
    document(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "workspan", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "results": results,
            "columnKind": "unicodeCodePoints",
        }],
    }))
}

fn result(one: &LimitResult) -> Value {
    let name = one.limit.name();
    let rule = RULES.iter().position(|rule| rule.0 == name);
    let mut result = json!({
        "ruleId": name, "ruleIndex": rule.map_or(-1, |i| i as i64), "level": "error",
        "message": { "text": message(one) },
    });
    if let Some((file, line)) = one.place.as_ref().and_then(file_line) {
        result["locations"] = json!([{
            "physicalLocation": {
                "artifactLocation": { "uri": uri(file) },
                "region": { "startLine": line.max(1) },
            },
            "message": { "text": limit_text(one) },
        }]);
    }
    result
}

/// A relative reference, or a `file:` URI for an absolute path.
fn uri(path: &str) -> String {
    let mut out = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(byte.into());
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_uris() {
        assert_eq!(uri("src/a b:c#.rs"), "src/a%20b%3Ac%23.rs");
        assert_eq!(uri("/x/größe.rs"), "file:///x/gr%C3%B6%C3%9Fe.rs");
    }
}
