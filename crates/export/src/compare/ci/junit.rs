//! JUnit XML: a test case for each limit.

use workspan_analysis::compare::LimitResult;

use super::{file_line, limit_text, message};
use crate::plot::xml_text;

/// One test suite; a broken limit is a failure.
pub fn check_junit(checked: &[LimitResult]) -> String {
    let failures = checked.iter().filter(|c| c.broken).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{failures}\" errors=\"0\"",
        checked.len()
    );
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out.push_str(&format!("<testsuites name=\"workspan\" {counts}>\n"));
    out.push_str(&format!(
        "  <testsuite name=\"workspan check\" {counts} skipped=\"0\">\n"
    ));
    for one in checked {
        let place = one.place.as_ref().and_then(file_line);
        let at = place.map_or_else(String::new, |(file, line)| {
            format!(" file=\"{}\" line=\"{line}\"", xml_text(file))
        });
        out.push_str(&format!(
            "    <testcase classname=\"workspan.check\" name=\"{}\"{at}",
            xml_text(one.limit.name())
        ));
        let text = xml_text(&message(one));
        out.push_str(&if one.broken {
            format!(
                ">\n      <failure type=\"limit\" message=\"{}\">{text}</failure>\n    </testcase>\n",
                xml_text(&limit_text(one))
            )
        } else {
            format!(">\n      <system-out>{text}</system-out>\n    </testcase>\n")
        });
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}
