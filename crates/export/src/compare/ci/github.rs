//! Workflow commands of GitHub Actions: an annotation at the line of each broken limit.

use workspan_analysis::compare::{LimitResult, Noise};

use super::{file_line, headline, limit_text, message};

/// One `::error` command for each broken limit, a `::warning` for a growth that may be noise, and a
/// `::notice` with the result.
pub fn check_github(checked: &[LimitResult]) -> String {
    let mut out = String::new();
    for one in checked {
        let level = match one.noise {
            _ if one.broken => "error",
            Some(Noise::Within) => "warning",
            _ => continue,
        };
        let title = property(&format!("workspan: {}", limit_text(one)));
        let place = one.place.as_ref().and_then(file_line);
        let at = place.map_or_else(String::new, |(file, line)| {
            format!("file={},line={line},", property(file))
        });
        out.push_str(&format!(
            "::{level} {at}title={title}::{}\n",
            data(&message(one))
        ));
    }
    let result = data(&headline(checked));
    out.push_str(&format!("::notice title=workspan::workspan: {result}\n"));
    out
}

/// Text after the second `::`.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// The value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_end_a_command() {
        let evil = property("a,b:c%\n::error::");
        assert_eq!(evil, "a%2Cb%3Ac%25%0A%3A%3Aerror%3A%3A");
        assert_eq!(data("50 %\nnext"), "50 %25%0Anext");
    }
}
