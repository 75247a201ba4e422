//! The single-file report: the page with the answers embedded.
//!
//! It contains the replies of [`answer()`](crate::answer()) to chosen requests (`choose`), byte for
//! byte the same as the server's. They are packed as `ui/src/data/embedded.ts` unpacks them: base64
//! of gzip of a count (u32), then for each answer the length of its key (u32), key, kind (u8: 0
//! JSON, 1 planes), length (u32) and bytes; little-endian. Base64 has no `<`, so no text of a trace
//! can end the script that contains it.

mod choose;
mod pack;
mod packed_page;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::api_error::ApiError;
use crate::page;
use crate::session::Session;

/// Options for the contents of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Carry {
    /// Maximum size of the file, in bytes. The answers that every report needs are included in any
    /// case.
    pub budget: u64,
    /// Include whole source files, instead of only the lines around hot lines and positions.
    pub whole_sources: bool,
}

impl Carry {
    /// The default budget of a report, for traces of `trace_bytes` bytes together. Small files are
    /// easier to send, so the report of a short run stays small; a longer run has more to show.
    pub fn usual_budget(trace_bytes: u64) -> u64 {
        trace_bytes
            .saturating_mul(BUDGET_PER_TRACE_BYTE)
            .clamp(MIN_USUAL_BUDGET, MAX_USUAL_BUDGET)
    }
}

/// The budget of a report in bytes, per byte of its traces.
const BUDGET_PER_TRACE_BYTE: u64 = 10;
const MIN_USUAL_BUDGET: u64 = 500_000;
const MAX_USUAL_BUDGET: u64 = 5_000_000;

/// A finished report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HtmlReport {
    /// The file's text.
    pub html: String,
    /// What the report contains and what it lacks, one sentence each.
    pub notes: Vec<String>,
}

/// The mark of a report, in the head of the page.
const MARK: &str = "<meta name=\"generator\" content=\"workspan html\">";

/// The page may not request anything: a report can be opened by whoever receives it.
const POLICY: &str = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; \
     style-src 'unsafe-inline'; img-src data: blob:; font-src data:; worker-src blob:; connect-src 'none'; base-uri 'none'; \
     form-action 'none'\">";

/// Whether a file is a report of this kind.
pub fn is_report(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(4096)];
    head.windows(MARK.len())
        .any(|window| window == MARK.as_bytes())
}

/// Makes the report of a loaded session.
///
/// # Errors
/// A run could not be loaded, or this build has no page.
pub fn report(session: &mut Session, carry: &Carry) -> Result<HtmlReport, ApiError> {
    if !page::is_built() {
        let why = "This build of workspan has no viewer page to put the run into";
        let how = page::HOW_TO_BUILD;
        return Err(ApiError::new(500, why).remedy(how));
    }
    with_page(session, carry, packed_page::packed())
}

/// Makes the report with a given page.
fn with_page(session: &mut Session, carry: &Carry, page: &str) -> Result<HtmlReport, ApiError> {
    for run in &session.runs {
        run.analyses()?;
    }
    let around = inject(page, "").len() as u64;
    let mut room = carry.budget.saturating_sub(around) / 4 * 3;
    loop {
        let chosen = choose::choose(session, room, carry.whole_sources)?;
        let least = chosen.pack.is_least();
        let html = inject(page, &STANDARD.encode(chosen.pack.finish()));
        let over = (html.len() as u64).saturating_sub(carry.budget);
        let mut notes = chosen.notes;
        if over > 0 && !least {
            // Answers compressed together may take a little more than each group by itself.
            room = room.saturating_sub(over.max(room / 16 + 1));
            continue;
        }
        if over > 0 {
            notes.push(
                "It is larger than its budget: what every report carries takes more by itself."
                    .into(),
            );
        }
        return Ok(HtmlReport { html, notes });
    }
}

/// Puts the policy and the mark first in the head, and the data last in the body.
fn inject(page: &str, data: &str) -> String {
    let script =
        format!("<script type=\"application/octet-stream\" id=\"workspan-data\">{data}</script>\n");
    let head = page.find("<head>").map_or(0, |at| at + "<head>".len());
    let mut html = String::with_capacity(page.len() + script.len() + 1024);
    html.push_str(&page[..head]);
    html.push_str(MARK);
    html.push_str(POLICY);
    // The data comes before anything else in the body. The page's own script finds it wherever it
    // is.
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

    use std::collections::BTreeMap;
    use std::io::Read;
    use std::path::PathBuf;

    use crate::answer::answer;
    use crate::session::Settings;

    const PAGE: &str = "<!doctype html><html><head></head><body><p>page</p></body></html>";

    fn loaded(name: &str) -> Session {
        let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let file = here.join("../export/tests/golden").join(name);
        let session = Session::new(&[file], Settings::default()).unwrap();
        session.load();
        session
    }

    /// Decodes the data in the same way as embedded.ts.
    fn carried(html: &str) -> BTreeMap<String, (u8, Vec<u8>)> {
        let start = html.find("id=\"workspan-data\">").unwrap() + "id=\"workspan-data\">".len();
        let end = start + html[start..].find("</script>").unwrap();
        let packed = STANDARD.decode(&html[start..end]).unwrap();
        let mut raw = Vec::new();
        let mut decoder = flate2::read::GzDecoder::new(packed.as_slice());
        decoder.read_to_end(&mut raw).unwrap();
        let mut rest = raw.as_slice();
        let mut take = |n: usize| {
            let (now, later) = rest.split_at(n);
            rest = later;
            now.to_vec()
        };
        let mut all = BTreeMap::new();
        let number = |bytes: Vec<u8>| u32::from_le_bytes(bytes.try_into().unwrap()) as usize;
        for _ in 0..number(take(4)) {
            let length = number(take(4));
            let key = String::from_utf8(take(length)).unwrap();
            let kind = take(1)[0];
            let length = number(take(4));
            assert!(all.insert(key, (kind, take(length))).is_none());
        }
        assert!(rest.is_empty());
        all
    }

    fn made(name: &str, budget: u64) -> (Session, HtmlReport) {
        let mut session = loaded(name);
        let carry = Carry {
            budget,
            whole_sources: false,
        };
        let made = with_page(&mut session, &carry, PAGE).unwrap();
        (session, made)
    }

    /// The answers are the server's byte for byte, except `meta`, which says whether a server
    /// answers.
    #[test]
    fn a_report_carries_the_servers_answers() {
        let (session, made) = made("serial_merge.jsonl", 5_000_000);
        let all = carried(&made.html);
        for key in [
            "api/v1/meta",
            "api/v1/report?run=a",
            "api/v1/summary?run=a",
            "api/v1/sites?run=a",
            "api/v1/flame?run=a&of=free&recursion=1",
            "api/v1/scalability",
            "api/v1/whatif?run=a&what=site%3A0&factors=2%2C4%2C8%2C16%2C50%2C100%2C200%2C400",
            "api/v1/whatif?run=a&what=site%3A0&factors=400",
        ] {
            assert!(all.contains_key(key), "{key}");
        }
        for (key, (kind, bytes)) in &all {
            let reply = answer(&session, key).unwrap();
            assert_eq!(
                *kind == 1,
                matches!(reply, crate::Reply::Planes(_)),
                "{key}"
            );
            if key == "api/v1/meta" {
                let meta: serde_json::Value = serde_json::from_slice(bytes).unwrap();
                assert_eq!(meta["mode"], "report");
            } else {
                assert_eq!(reply.bytes(), bytes, "{key}");
            }
        }
        let top = session.runs[0].model().unwrap().top_level();
        let rows = format!("api/v1/rows?run=a&level={top}&index=0");
        assert!(all.contains_key(&rows), "{rows}");
    }

    /// A larger budget gives a larger report. A report is within its budget unless the answers that
    /// every report needs exceed it.
    #[test]
    fn the_budget_is_kept() {
        let (session, least) = made("balanced.jsonl", 0);
        let top = session.runs[0].model().unwrap().top_level();
        let whole = format!("api/v1/rows?run=a&level={top}&index=0");
        assert!(carried(&least.html).contains_key(&whole), "{whole}");
        let mut last = carried(&least.html).len();
        for budget in [60_000u64, 150_000, 2_000_000] {
            let (_, made) = made("balanced.jsonl", budget);
            let most = budget.max(least.html.len() as u64);
            assert!(
                made.html.len() as u64 <= most,
                "{} of {budget}",
                made.html.len()
            );
            let now = carried(&made.html).len();
            assert!(
                now >= last,
                "{budget}: {now} answers, {last} with less room"
            );
            last = now;
        }
        assert!(last > carried(&least.html).len());
    }

    /// Names in a trace can't end the script: the data is base64, and the page around it is
    /// unchanged.
    #[test]
    fn no_name_ends_the_script() {
        let (_, made) = made("hostile_names.jsonl", 1_000_000);
        assert_eq!(made.html.matches("</script>").count(), 1);
        assert_eq!(made.html.matches("<script").count(), 1);
        assert!(made.html.contains("<p>page</p>"));
        assert!(!carried(&made.html).is_empty());
    }

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
