//! Flame graphs: as folded text, one stack a line, and as SVG.

use std::io::{self, Write};

use workspan_analysis::FlameStack;

/// `frame;frame;… nanoseconds`, a line a stack, as flame graph tools read it.
///
/// # Errors
/// Those of `out`.
pub fn folded(stacks: &[FlameStack], out: &mut impl Write) -> io::Result<()> {
    for line in lines(stacks) {
        writeln!(out, "{line}")?;
    }
    out.flush()
}

/// A page of SVG to zoom and search in. `title` says what is shown, `subtitle` of what.
///
/// # Errors
/// Those of `out`, and no stack at all.
pub fn svg(
    stacks: &[FlameStack],
    title: &str,
    subtitle: &str,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut options = inferno::flamegraph::Options::default();
    options.title = title.to_owned();
    options.subtitle = Some(subtitle.to_owned());
    // Widths are milliseconds for people; the text keeps nanoseconds.
    options.count_name = "ms".to_owned();
    options.factor = 1e-6;
    options.font_type = "ui-sans-serif, system-ui, sans-serif".to_owned();
    options.min_width = 0.05;
    options.deterministic = true;
    let lines = lines(stacks);
    let lines = lines.iter().map(String::as_str);
    inferno::flamegraph::from_lines(&mut options, lines, out)
        .map_err(|error| io::Error::other(error.to_string()))
}

fn lines(stacks: &[FlameStack]) -> Vec<String> {
    let mut lines: Vec<String> = stacks
        .iter()
        .filter(|stack| stack.ns > 0)
        .map(|stack| {
            let frames: Vec<String> = stack.frames.iter().map(|f| plain(f)).collect();
            format!("{} {}", frames.join(";"), stack.ns)
        })
        .collect();
    lines.sort();
    lines
}

/// A frame without what separates frames, lines or a line's number.
fn plain(frame: &str) -> String {
    let text: String = frame
        .chars()
        .map(|c| if c == ';' || c.is_control() { ' ' } else { c })
        .collect();
    if text.trim().is_empty() {
        "?".to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stacks() -> Vec<FlameStack> {
        let stack = |frames: &[&str], ns| FlameStack {
            frames: frames.iter().map(|f| (*f).to_owned()).collect(),
            ns,
        };
        vec![
            stack(&["root", "main"], 2_000_000),
            stack(&["root", "a.rs:1", "odd;name\n"], 1_000_000),
            stack(&["root", "nothing"], 0),
        ]
    }

    #[test]
    fn text_has_a_line_a_stack() {
        let mut out = Vec::new();
        folded(&stacks(), &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "root;a.rs:1;odd name  1000000\nroot;main 2000000\n"
        );
    }

    #[test]
    fn the_picture_names_what_it_shows() {
        let mut out = Vec::new();
        svg(&stacks(), "CPU time <all>", "run", &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("CPU time &lt;all&gt;"), "{text}");
        assert!(
            text.contains("main (2.00 ms, 66.67%)") || text.contains("main (2 ms, 66.67%)"),
            "{text}"
        );
        let mut again = Vec::new();
        svg(&stacks(), "CPU time <all>", "run", &mut again).unwrap();
        assert_eq!(text.as_bytes(), again, "the same run, the same picture");
    }

    #[test]
    fn nothing_is_no_picture() {
        assert!(svg(&[], "t", "s", &mut Vec::new()).is_err());
    }
}
