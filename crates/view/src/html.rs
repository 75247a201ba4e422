//! The single-file report: the page with answers inside.
//!
//! It carries what [`answer()`](crate::answer()) says to chosen requests ([`choose`]), byte for byte what the server would say, packed
//! as `ui/src/data/embedded.ts` unpacks it: base64 of gzip of a count (u32), then each answer: length of its key (u32), key, kind (u8: 0
//! JSON, 1 planes), length (u32), bytes; little-endian. Base64 has no `<`, so nothing of a trace can end the script it stands in.

mod choose;
mod pack;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::failure::Failure;
use crate::page;
use crate::session::Session;

/// What a report is to carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Carry {
    /// Most bytes of the file. What a report can't do without is carried in any case.
    pub budget: u64,
    /// Whole source files, not only the lines around what is hot or a position.
    pub whole_sources: bool,
}

/// A report that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// The file's text.
    pub html: String,
    /// What it carries and what not, a sentence each.
    pub notes: Vec<String>,
}

/// What every report has in its head.
const MARK: &str = "<meta name=\"generator\" content=\"workspan html\">";

/// Nothing is requested from anywhere: a report can be opened by whoever gets it.
const POLICY: &str = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; \
     style-src 'unsafe-inline'; img-src data: blob:; font-src data:; worker-src blob:; connect-src 'none'; base-uri 'none'; \
     form-action 'none'\">";

/// Whether a file is such a report.
pub fn is_report(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(4096)];
    head.windows(MARK.len())
        .any(|window| window == MARK.as_bytes())
}

/// Makes the report of a loaded session.
///
/// # Errors
/// A run could not be loaded, or this build has no page.
pub fn report(session: &mut Session, carry: &Carry) -> Result<Made, Failure> {
    if !page::is_built() {
        let why = "This build of workspan has no viewer page to put the run into";
        let how = "`cargo xtask ui` in workspan's sources builds it; then build workspan again";
        return Err(Failure::new(500, why).remedy(how));
    }
    with_page(session, carry, page::page())
}

/// The same in any page.
fn with_page(session: &mut Session, carry: &Carry, page: &str) -> Result<Made, Failure> {
    for run in &session.runs {
        run.rest()?;
    }
    let room = carry.budget.saturating_sub(page.len() as u64) / 4 * 3;
    let chosen = choose::choose(session, room, carry.whole_sources)?;
    let packed = chosen.pack.finish();
    let data = STANDARD.encode(&packed);
    let mut notes = chosen.notes;
    let html = inject(page, &data);
    if html.len() as u64 > carry.budget {
        notes.push(
            "It is larger than its budget: what every report carries takes more by itself.".into(),
        );
    }
    Ok(Made { html, notes })
}

/// Policy and mark come first in the head, the data last in the body.
fn inject(page: &str, data: &str) -> String {
    let script =
        format!("<script type=\"application/octet-stream\" id=\"workspan-data\">{data}</script>\n");
    let head = page.find("<head>").map_or(0, |at| at + "<head>".len());
    let mut html = String::with_capacity(page.len() + script.len() + 1024);
    html.push_str(&page[..head]);
    html.push_str(MARK);
    html.push_str(POLICY);
    // Before anything else of the page, whose own script finds it however it is written.
    let body = page[head..].find("<body>").map(|at| head + at + 6);
    match body {
        Some(body) => {
            html.push_str(&page[head..body]);
            html.push_str(&script);
            html.push_str(&page[body..]);
        }
        None => {
            html.push_str(&page[head..]);
            html.push_str(&script);
        }
    }
    html
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    #[test]
    fn a_report_is_known_by_its_head_and_other_files_are_not() {
        let html = inject("<!doctype html><html><head></head><body><p></body>", "QUJD");
        assert!(is_report(html.as_bytes()));
        assert!(!is_report(b"<!doctype html><html><head></head>"));
        assert!(!is_report(b""));
        let data = html.find(">QUJD</script>").unwrap();
        assert!(html.find("<body>").unwrap() < data && data < html.find("<p>").unwrap());
        assert!(html.find("Content-Security-Policy").unwrap() < data);
    }
}
