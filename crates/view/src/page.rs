//! The page: a single file with its script and style, built by `cargo xtask ui` and embedded when
//! this crate was compiled.

/// The built page; empty if it was not built.
const BUILT: &str = include_str!(concat!(env!("OUT_DIR"), "/index.html"));

/// The instruction for building the page, for builds without it.
pub const HOW_TO_BUILD: &str = "run `cargo xtask ui` in workspan's sources (it needs Node 20.19 or later with npm), then build or install workspan again";

/// The page that a build without the page serves.
const NONE: &str = "<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<title>workspan: no page</title>
</head>
<body>
<h1>This build of workspan has no viewer page</h1>
<p>The page is built by <code>cargo xtask ui</code> (it needs node and npm), in the folder of workspan's sources; build and install
<code>workspan</code> again after it.</p>
<p>Everything the page would show can be asked for meanwhile: <a href=\"api/v1/meta\">api/v1/meta</a>; in the terminal there are
<code>workspan report</code> and <code>workspan timeline</code>.</p>
</body>
</html>
";

/// True if the page is embedded.
pub fn is_built() -> bool {
    !BUILT.is_empty()
}

/// The page, or one that says how to build it.
pub fn page() -> &'static str {
    if is_built() { BUILT } else { NONE }
}

/// Adds `nonce` to the inline scripts and styles of `page`, so that a policy can allow only those.
/// Tags inside a script are text, and stay as they are.
pub(crate) fn with_nonce(page: &str, nonce: &str) -> String {
    let mut out = String::with_capacity(page.len() + 256);
    let mut rest = page;
    while let Some((at, name)) = next_tag(rest) {
        let after = at + 1 + name.len();
        out.push_str(&rest[..after]);
        out.push_str(" nonce=\"");
        out.push_str(nonce);
        out.push('"');
        rest = &rest[after..];
        // The text inside is not markup.
        let close = format!("</{name}");
        let end = find_ignoring_case(rest, &close).unwrap_or(rest.len());
        out.push_str(&rest[..end]);
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// The position and name of the next `<script` or `<style`.
fn next_tag(text: &str) -> Option<(usize, &'static str)> {
    let find = |name: &'static str| {
        let tag = format!("<{name}");
        find_ignoring_case(text, &tag).map(|at| (at, name))
    };
    [find("script"), find("style")].into_iter().flatten().min()
}

fn find_ignoring_case(text: &str, what: &str) -> Option<usize> {
    let what = what.as_bytes();
    text.as_bytes()
        .windows(what.len())
        .position(|window| window.eq_ignore_ascii_case(what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tags_get_the_nonce() {
        let page = "<style>a{}</style><script type=\"module\">f('<style>', '<script>')</script><p>";
        assert_eq!(
            with_nonce(page, "N"),
            "<style nonce=\"N\">a{}</style><script nonce=\"N\" type=\"module\">f('<style>', '<script>')</script><p>"
        );
        assert_eq!(with_nonce("<p>no script", "N"), "<p>no script");
        assert_eq!(with_nonce("<script", "N"), "<script nonce=\"N\"");
    }
}
