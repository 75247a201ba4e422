//! The page of a report with its style and script compressed: they are most of a small report.
//!
//! A loader of a few lines inflates them and adds them to the document, as the page's own script
//! inflates the data. Both are inline, so the page's policy allows them. They are in the head,
//! before the data: if a report was truncated in transit, the page is still there to say so.

use std::io::Write;
use std::sync::OnceLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::page;

/// JavaScript that inflates `[style, script]` and runs them. It is separate from the page's script,
/// so that it can show a message in a browser that is too old.
const LOADER: &str = r#"(async () => {
  if (document.readyState === "loading")
    await new Promise((ready) => document.addEventListener("DOMContentLoaded", ready));
  const packed = document.getElementById("workspan-page").textContent;
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const [style, script] = JSON.parse(await new Response(inflated).text());
  const put = (name, text, type) => {
    const element = document.createElement(name);
    if (type) element.type = type;
    element.textContent = text;
    document.head.append(element);
  };
  put("style", style);
  put("script", script, "module");
})().catch((e) => {
  document.body.append("This report could not be unpacked: " + e + ". It needs a browser of 2023 or later.");
});"#;

/// The built page, with its style and script packed.
pub(super) fn packed() -> &'static str {
    static PACKED: OnceLock<String> = OnceLock::new();
    PACKED.get_or_init(|| pack(page::page()).unwrap_or_else(|| page::page().to_owned()))
}

/// The page with its style and script packed; `None` if it lacks one of them.
fn pack(page: &str) -> Option<String> {
    let (page, script) = cut(page, "script")?;
    let (page, style) = cut(&page, "style")?;
    let both = serde_json::to_vec(&[style, script]).ok()?;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&both).ok()?;
    let packed = STANDARD.encode(encoder.finish().ok()?);
    let (before, after) = page.split_at(page.find("</head>")?);
    Some(format!(
        "{before}<script type=\"application/octet-stream\" id=\"workspan-page\">{packed}</script>\n<script>{LOADER}</script>\n{after}"
    ))
}

/// Cuts the only element of the given name out of the page; returns the rest and the element's
/// text. The script contains tags as text and stands before the style, so it must be cut first.
fn cut(page: &str, name: &str) -> Option<(String, String)> {
    let start = page.find(&format!("<{name}"))?;
    let inside = start + page[start..].find('>')? + 1;
    let close = format!("</{name}>");
    let end = inside + page[inside..].find(&close)?;
    let rest = format!("{}{}", &page[..start], &page[end + close.len()..]);
    Some((rest, page[inside..end].to_owned()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use std::io::Read;

    #[test]
    fn style_and_script_come_back_as_they_were() {
        let page = "<html><head><script type=\"module\">f('<style>')</script><style>a{}</style></head><body><p></body></html>";
        let packed = pack(page).unwrap();
        assert!(!packed.contains("f('") && !packed.contains("a{}"));
        let start = packed.find("workspan-page\">").unwrap() + "workspan-page\">".len();
        let end = start + packed[start..].find('<').unwrap();
        let bytes = STANDARD.decode(&packed[start..end]).unwrap();
        let mut text = String::new();
        let mut decoder = flate2::read::GzDecoder::new(bytes.as_slice());
        decoder.read_to_string(&mut text).unwrap();
        assert_eq!(text, r#"["a{}","f('<style>')"]"#);
        // The loader comes after the packed elements, and before the data, which is in the body.
        assert!(start < packed.find(LOADER).unwrap());
        assert!(packed.find(LOADER).unwrap() < packed.find("<body>").unwrap());
        assert_eq!(pack("<html><body></body></html>"), None);
    }

    #[test]
    fn the_built_page_is_half_as_large_packed() {
        if !page::is_built() {
            return;
        }
        assert!(
            packed().len() * 2 < page::page().len(),
            "{}",
            packed().len()
        );
    }
}
